// Methods of dicts. Whatever walks through a dict does so in the order of its keys.
#include "methods.h"

namespace spl {
namespace {

Dict& dict_of(Value v) { return *as_object<Dict>(v); }

Dict& own_dict(Value& slot) {
  make_unique(slot);
  return dict_of(slot);
}

/// A copy of the entries in order, so that a closure may change the dict meanwhile.
std::vector<std::pair<Ref, Ref>> entries_of(Value v) {
  Dict& dict = dict_of(v);
  dict.sort();
  std::vector<std::pair<Ref, Ref>> entries;
  for (const Dict::Entry& entry : dict.entries) {
    if (!entry.key.is_missing()) entries.emplace_back(Ref::shared(entry.key), Ref::shared(entry.value));
  }
  return entries;
}

Value get(Thread&, Value* args, int count) {
  if (const Value* found = dict_of(args[0]).find(args[1])) return retained(*found);
  return count == 3 ? retained(args[2]) : Value::nil();
}

Value set(Thread&, Value* args, int) {
  own_dict(args[0]).set(retained(args[1]), retained(args[2]));
  return Value::nil();
}

Value remove(Thread&, Value* args, int) {
  Dict& dict = own_dict(args[0]);
  Value* found = dict.find(args[1]);
  if (found == nullptr) return Value::nil();
  const Value removed = retained(*found);
  dict.remove(args[1]);
  return removed;
}

Value keys(Thread&, Value* args, int) {
  std::vector<Value> all;
  for (auto& [key, value] : entries_of(args[0])) all.push_back(key.take());
  return make_array(std::move(all));
}

Value values(Thread&, Value* args, int) {
  std::vector<Value> all;
  for (auto& [key, value] : entries_of(args[0])) all.push_back(value.take());
  return make_array(std::move(all));
}

Value items(Thread&, Value* args, int) {
  std::vector<Value> all;
  for (auto& [key, value] : entries_of(args[0])) all.push_back(make_tuple({key.take(), value.take()}));
  return make_array(std::move(all));
}

/// Functions of one argument are given the value, those of two the key too.
Value apply(Thread& t, Value f, const std::pair<Ref, Ref>& entry) {
  const bool takes_key = f.is(Kind::kClosure) && as_object<Closure>(f)->proto->parameters.size() >= 2;
  const Value both[] = {entry.first.get(), entry.second.get()};
  return takes_key ? t.call(f, both, 2) : t.call(f, both + 1, 1);
}

Value map_values(Thread& t, Value* args, int) {
  auto* made = new Dict;
  Ref owner = Ref::owned(Value::object(made));
  for (const auto& entry : entries_of(args[0])) {
    Ref fresh = Ref::owned(apply(t, args[1], entry));
    made->set(retained(entry.first.get()), fresh.take());
  }
  return owner.take();
}

Value filter(Thread& t, Value* args, int) {
  auto* kept = new Dict;
  Ref owner = Ref::owned(Value::object(kept));
  for (const auto& entry : entries_of(args[0])) {
    const Ref verdict = Ref::owned(apply(t, args[1], entry));
    if (truthy(verdict.get())) kept->set(retained(entry.first.get()), retained(entry.second.get()));
  }
  return owner.take();
}

Value for_each(Thread& t, Value* args, int) {
  for (const auto& entry : entries_of(args[0])) release(apply(t, args[1], entry));
  return Value::nil();
}

}  // namespace

const MethodTable& dict_methods() {
  static const MethodTable table = {
      {"len", [](Thread&, Value* a, int) { return Value::integer(dict_of(a[0]).live); }, 0, 0, false},
      {"is_empty", [](Thread&, Value* a, int) { return Value::boolean(dict_of(a[0]).live == 0); }, 0, 0, false},
      {"get", get, 1, 2, false},
      {"set", set, 2, 2, true},
      {"insert", set, 2, 2, true},
      {"remove", remove, 1, 1, true},
      {"clear", [](Thread&, Value* a, int) { assign(a[0], Value::object(new Dict)); return Value::nil(); }, 0, 0, true},
      {"keys", keys, 0, 0, false},
      {"values", values, 0, 0, false},
      {"items", items, 0, 0, false},
      {"entries", items, 0, 0, false},
      {"contains_key", [](Thread&, Value* a, int) { return Value::boolean(dict_of(a[0]).find(a[1]) != nullptr); }, 1, 1, false},
      {"contains", [](Thread&, Value* a, int) { return Value::boolean(dict_of(a[0]).find(a[1]) != nullptr); }, 1, 1, false},
      {"map_values", map_values, 1, 1, false},
      {"filter", filter, 1, 1, false},
      {"for_each", for_each, 1, 1, false},
      {"to_string", [](Thread&, Value* a, int) { return make_text(display(a[0])); }, 0, 0, false},
  };
  return table;
}

}  // namespace spl
