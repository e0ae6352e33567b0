#include "host/vm/method_order.h"

#include <algorithm>

#include "host/values/error.h"

namespace spl {

namespace {

using Sequence = std::vector<const Type*>;

bool contains(const Sequence& types, size_t from, const Type* type) {
  return std::find(types.begin() + static_cast<ptrdiff_t>(from), types.end(), type) != types.end();
}

/// Sequences that are merged, and how much of each is done.
struct Merge {
  std::vector<Sequence> sequences;
  std::vector<size_t> done;

  const Type* head(size_t i) const { return done[i] < sequences[i].size() ? sequences[i][done[i]] : nullptr; }
  bool is_in_tail(const Type* type) const {
    for (size_t i = 0; i < sequences.size(); ++i) {
      if (done[i] < sequences[i].size() && contains(sequences[i], done[i] + 1, type)) {
        return true;
      }
    }
    return false;
  }
  void take(const Type* type) {
    for (size_t i = 0; i < sequences.size(); ++i) {
      done[i] += head(i) == type ? 1 : 0;
    }
  }
  /// The first head that no tail contains. If there is none, a trait: traits may be named in any order.
  const Type* next() const {
    const Type* trait = nullptr;
    for (size_t i = 0; i < sequences.size(); ++i) {
      const Type* first = head(i);
      if (first != nullptr && !is_in_tail(first)) {
        return first;
      }
      trait = first != nullptr && first->kind == Kind::kTrait ? first : trait;
    }
    return trait;
  }
  bool is_empty() const {
    for (size_t i = 0; i < sequences.size(); ++i) {
      if (head(i) != nullptr) {
        return false;
      }
    }
    return true;
  }
};

[[noreturn]] void fail_inconsistent(const Type& type, const Sequence& parents) {
  std::string names;
  for (const Type* parent : parents) {
    names += (names.empty() ? "" : ", ") + name_of(parent->name);
  }
  fail(name_of(type.name) + ": there is no consistent order of the methods of its parents " + names,
       "name a class before its own parents");
}

Sequence merged(const Type& type, const Sequence& parents) {
  Merge merge;
  for (const Type* parent : parents) {
    Sequence& sequence = merge.sequences.emplace_back(Sequence{parent});
    sequence.insert(sequence.end(), parent->parents.begin(), parent->parents.end());
  }
  merge.sequences.push_back(parents);
  merge.done.resize(merge.sequences.size());
  Sequence order;
  while (!merge.is_empty()) {
    const Type* next = merge.next();
    if (next == nullptr) {
      fail_inconsistent(type, parents);
    }
    if (!contains(order, 0, next)) {
      order.push_back(next);
    }
    merge.take(next);
  }
  return order;
}

bool is_mixed(const Type* type) {
  return type->kind == Kind::kRecord && static_cast<const Record*>(type)->has_several_parents;
}

// A method of the class itself, without those that it inherits.
bool defines(const Type& type, Symbol name) {
  const Method* method = type.find(name);
  return (method != nullptr && method->origin != Origin::kDefault) || type.declared_statics.contains(name);
}

const Record* class_of(Value self) {
  return self.is(Kind::kInstance) ? as_object<Instance>(self)->record
         : self.is(Kind::kRecord) ? as_object<Record>(self)
                                  : nullptr;
}

}  // namespace

void add_ancestors(Type& type, const std::vector<const Type*>& parents) {
  if (parents.empty()) {
    return;
  }
  Sequence order = merged(type, parents);
  if (type.kind == Kind::kRecord) {
    const auto is_class = [](const Type* parent) { return parent->kind == Kind::kRecord; };
    static_cast<Record&>(type).has_several_parents =
        std::count_if(parents.begin(), parents.end(), is_class) > 1 ||
        std::any_of(parents.begin(), parents.end(), is_mixed);
  }
  for (const Type* other : type.parents) {
    if (!contains(order, 0, other)) {
      order.push_back(other);
    }
  }
  type.parents = std::move(order);
}

Value next_class(Value parent, int64_t key, Value self, Symbol name) {
  static const Symbol initializer = intern("__init__");
  const Record* record = class_of(self);
  if (record != nullptr && record->has_several_parents) {
    const auto is_here = [&](const Type* type) {
      return type->kind == Kind::kRecord && static_cast<const Record*>(type)->key == key;
    };
    auto at = record->parents.begin();
    if (!is_here(record)) {
      at = std::find_if(record->parents.begin(), record->parents.end(), is_here);
      at += at == record->parents.end() ? 0 : 1;
    }
    const auto found =
        std::find_if(at, record->parents.end(), [&](const Type* type) { return defines(*type, name); });
    if (found != record->parents.end()) {
      return Value::object(const_cast<Type*>(*found));
    }
  }
  if (parent.is_nil() && name != initializer) {
    fail("super()." + name_of(name) + ": " + (record == nullptr ? "the class" : name_of(record->name)) +
         " has no parent that defines " + name_of(name));
  }
  return parent;
}

}  // namespace spl
