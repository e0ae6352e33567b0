#include "host/builtins/plain_values.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <iterator>

#include "host/builtins/embedding.h"
#include "host/values/error.h"
#include "host/values/objects.h"
#include "host/values/sized.h"

namespace spl {
namespace {

constexpr int kMaxDepth = 100;  // native code rejects deeper arrays

bool is_scalar(Value v) {
  if (v.tag == Tag::kUint64) {
    return v.as_int >= 0;  // native integers are signed
  }
  if (v.is_object()) {
    return v.is(Kind::kText) && text_of(v).find('\0') == std::string::npos;
  }
  return !v.is_missing();
}

bool is_plain_at(Value v, int depth) {
  if (!v.is(Kind::kArray)) {
    return is_scalar(v);
  }
  const auto& items = as_object<Array>(v)->items;
  if (depth >= kMaxDepth) {
    return false;
  }
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_number() && !is_plain_at(items[i], depth + 1)) {
      return false;
    }
  }
  return true;
}

Value is_plain_value(Thread&, Value* args, int) { return Value::boolean(is_plain(element(args[0]))); }

// The keys and values of a dict with plain ones as one array: key, value, key, value and so on. Otherwise
// nil.
Value plain_pairs(Thread&, Value* args, int) {
  const Value dict = element(args[0]);
  if (!dict.is(Kind::kDict)) {
    fail("rt_plain_pairs: expected a dict");
  }
  std::vector<Value> flat;
  flat.reserve(as_object<Dict>(dict)->live * size_t{2});
  for (const Dict::Entry& entry : as_object<Dict>(dict)->entries) {
    if (entry.key.is_missing()) {
      continue;
    }
    if (!is_scalar(entry.key) || !is_plain_at(entry.value, 1)) {
      return Value();
    }
    flat.push_back(entry.key);
    flat.push_back(entry.value);
  }
  for (const Value item : flat) {
    retained(item);
  }
  return make_array(std::move(flat));
}

// A dict of key, value, key, value and so on.
Value dict_of_pairs(Thread&, Value* args, int) {
  const Value pairs = args[0];
  if (!pairs.is(Kind::kArray)) {
    fail("rt_dict_of_pairs: expected an array");
  }
  const auto& items = as_object<Array>(pairs)->items;
  auto* dict = new Dict();
  const Ref result = Ref::owned(Value::object(dict));
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    dict->set(retained(items[i]), retained(items[i + 1]));
  }
  return retained(result.get());
}

/// Bytes as values, for the vector's constructor from a range, which checks no capacity for each item.
struct ByteIterator {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Value;

  const uint8_t* at;

  Value operator*() const {
    Value item = Value::integer(*at);
    item.tag = Tag::kUint8;
    return item;
  }
  ByteIterator& operator++() {
    ++at;
    return *this;
  }
  difference_type operator-(ByteIterator other) const { return at - other.at; }
  bool operator==(const ByteIterator&) const = default;
};

// Reads memory that native code keeps alive: an array of u8.
Value bytes_at(Thread&, Value* args, int) {
  const auto* data = reinterpret_cast<const uint8_t*>(args[0].as_int);
  return make_array(std::vector<Value>(ByteIterator{data}, ByteIterator{data + args[1].as_int}));
}

// Writes integers from 0 to 255 to memory of native code. False at the first other item.
Value store_bytes(Thread&, Value* args, int) {
  const Value array = args[0];
  if (!array.is(Kind::kArray)) {
    fail("rt_store_bytes: expected an array");
  }
  auto* data = reinterpret_cast<uint8_t*>(args[1].as_int);
  for (const Value item : as_object<Array>(array)->items) {
    if (!is_any_integer(item) || item.as_int < 0 || item.as_int > UCHAR_MAX) {
      return Value::boolean(false);
    }
    *data++ = static_cast<uint8_t>(item.as_int);
  }
  return Value::boolean(true);
}

constexpr NativeEntry kPlainValueExterns[] = {
    {"rt_is_plain", is_plain_value, 1, 1},     {"rt_plain_pairs", plain_pairs, 1, 1},
    {"rt_dict_of_pairs", dict_of_pairs, 1, 1}, {"rt_bytes_at", bytes_at, 2, 2},
    {"rt_store_bytes", store_bytes, 2, 2},
};

}  // namespace

bool is_plain(Value v) { return is_plain_at(v, 0); }

std::span<const NativeEntry> plain_value_externs() { return kPlainValueExterns; }

}  // namespace spl
