// Dict: open addressing over an entry list.
#include <cstddef>
#include <utility>

#include "host/values/objects.h"

namespace spl {

namespace {

bool is_identical(Value a, Value b) { return a.tag == b.tag && a.as_int == b.as_int; }

// Comparisons of objects run code that may change the dict; those of numbers and texts do not.
bool may_run_code(Value v) { return v.is_object() && !v.is(Kind::kText); }

}  // namespace

void Dict::rebuild(size_t capacity) {
  size_t kept = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].key.is_missing()) {
      entries[kept++] = entries[i];
    }
  }
  entries.resize(kept);
  size_t size = 8;
  while (size < capacity * 2) {
    size *= 2;
  }
  index.assign(size, -1);
  for (size_t i = 0; i < entries.size(); ++i) {
    size_t at = entries[i].hash & (size - 1);
    while (index[at] != -1) {
      at = (at + 1) & (size - 1);
    }
    index[at] = static_cast<int32_t>(i);
  }
}

uint64_t Dict::hash_of_key(Value key) { return hash_of(key); }

Value* Dict::find(Value key, uint64_t hash) {
  if (index.empty()) {
    return nullptr;
  }
  const size_t mask = index.size() - 1;
  for (size_t at = hash & mask; index[at] != -1; at = (at + 1) & mask) {
    const auto position = static_cast<size_t>(index[at]);
    if (entries[position].hash != hash || entries[position].key.is_missing()) {
      continue;
    }
    if (!may_run_code(key) && !may_run_code(entries[position].key)) {
      if (equals(entries[position].key, key)) {
        return &entries[position].value;
      }
      continue;
    }
    const Ref candidate = Ref::shared(entries[position].key);
    const bool is_found = are_one_key(candidate.get(), key);
    if (index.size() != mask + 1 || position >= entries.size() || entries[position].hash != hash ||
        !is_identical(entries[position].key, candidate.get())) {
      return find(key, hash);
    }
    if (is_found) {
      return &entries[position].value;
    }
  }
  return nullptr;
}

void Dict::set(Value owned_key, Value owned_value) {
  const uint64_t hash = hash_of(owned_key);
  if (Value* found = find(owned_key, hash)) {
    release(owned_key);
    assign(*found, owned_value);
    return;
  }
  if ((entries.size() + 1) * 2 > index.size()) {
    rebuild(live + 1 + live / 2);
  }
  size_t at = hash & (index.size() - 1);
  while (index[at] != -1) {
    at = (at + 1) & (index.size() - 1);
  }
  index[at] = static_cast<int32_t>(entries.size());
  entries.push_back({owned_key, owned_value, hash});
  ++live;
}

bool Dict::remove(Value key) {
  Value* found = find(key);
  if (found == nullptr) {
    return false;
  }
  Entry& entry = *reinterpret_cast<Entry*>(reinterpret_cast<char*>(found) - offsetof(Entry, value));
  const Value old_key = std::exchange(entry.key, Value::missing());
  const Value old_value = std::exchange(entry.value, Value());
  --live;
  release(old_key);
  release(old_value);
  return true;
}

void Dict::compact() {
  if (live != entries.size()) {
    rebuild(live + 1);
  }
}

}  // namespace spl
