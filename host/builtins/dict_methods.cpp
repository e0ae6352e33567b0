// Methods of dicts, and dict(). Mutating methods hold the only reference to their receiver.
#include "host/builtins/builtins.h"
#include "host/builtins/collection_elements.h"
#include "host/builtins/named_arguments.h"

namespace spl {

namespace {

Dict* dict_of(Value v) { return as_object<Dict>(v); }
Dict* own_dict(Value& v) {
  make_unique(v);
  return dict_of(v);
}
Value dict_get(Thread&, Value* args, int count) {
  const Value* found = dict_of(args[0])->find(args[1]);
  return found != nullptr ? retained(*found) : count > 2 ? retained(args[2]) : Value();
}
template <class Pick>
Value entries(Value v, Pick&& pick) {
  dict_of(v)->compact();
  Collected result;
  for (const auto& entry : dict_of(v)->entries) {
    result.add(pick(entry));
  }
  return result.array();
}
Value keys(Thread&, Value* args, int) {
  return entries(args[0], [](const Dict::Entry& e) { return retained(e.key); });
}
Value values(Thread&, Value* args, int) {
  return entries(args[0], [](const Dict::Entry& e) { return retained(e.value); });
}
Value items(Thread&, Value* args, int) {
  return entries(args[0], [](const Dict::Entry& e) {
    return make_tuple({retained(e.key), retained(e.value)});
  });
}
Value contains_key(Thread&, Value* args, int) {
  return Value::boolean(dict_of(args[0])->find(args[1]) != nullptr);
}
Value dict_set(Thread&, Value* args, int) {
  own_dict(args[0])->set(retained(args[1]), retained(args[2]));
  return retained(args[0]);
}
Value dict_remove(Thread&, Value* args, int) {
  const Value* found = dict_of(args[0])->find(args[1]);
  if (found == nullptr) {
    return Value();
  }
  const Value value = retained(*found);
  own_dict(args[0])->remove(args[1]);
  return value;
}
[[noreturn]] void fail_key(Value key) {
  SimpleError error("key not found: " + display(key));
  error.error_class = ErrorClass::kKey;
  throw error;
}
// pop(key), which fails without the key; pop(key, otherwise).
Value dict_pop(Thread& thread, Value* args, int count) {
  if (dict_of(args[0])->find(args[1]) == nullptr) {
    if (count > 2) {
      return retained(args[2]);
    }
    fail_key(args[1]);
  }
  return dict_remove(thread, args, count);
}
Value dict_clear(Thread&, Value* args, int) {
  assign(args[0], Value::object(new Dict()));
  return retained(args[0]);
}
Ref dict_of_pairs(Thread& thread, Value pairs) {
  Ref made = Ref::owned(Value::object(new Dict()));
  each_to_end(thread, pairs, [&](Value pair) {
    const bool is_pair = (pair.is(Kind::kTuple) || pair.is(Kind::kArray)) && elements_of(pair).size() == 2;
    if (!is_pair) {
      fail("dict(): elements must be pairs of a key and a value, got " + type_name(pair));
    }
    dict_of(made.get())->set(retained(elements_of(pair)[0]), retained(elements_of(pair)[1]));
    return true;
  });
  return made;
}
// The entries of a mapping, or of pairs, as a dict.
Ref dict_from(Thread& thread, Value entries) {
  Ref mapping = thread.as_mapping(entries);
  return mapping.get().is_nil() ? dict_of_pairs(thread, entries) : mapping;
}
// dict(), dict(pairs), dict(mapping): a dict of its own.
Value to_dict(Thread& thread, Value* args, int count) {
  if (count == 0) {
    return Value::object(new Dict());
  }
  Ref dict = dict_from(thread, args[0]);
  make_unique(dict.slot());
  return dict.take();
}
Value update(Thread& thread, Value* args, int count) {
  if (count == 1) {
    return retained(args[0]);
  }
  const Ref other = dict_from(thread, args[1]);
  Dict* dict = own_dict(args[0]);
  for (const auto& entry : dict_of(other.get())->entries) {
    if (!entry.key.is_missing()) {
      dict->set(retained(entry.key), retained(entry.value));
    }
  }
  return retained(args[0]);
}
// setdefault(key, otherwise): the value of the key, which is added if it is absent.
Value set_default(Thread&, Value* args, int count) {
  if (const Value* found = dict_of(args[0])->find(args[1]); found != nullptr) {
    return retained(*found);
  }
  const Value otherwise = count > 2 ? args[2] : Value();
  own_dict(args[0])->set(retained(args[1]), retained(otherwise));
  return retained(otherwise);
}
// update(other, name: value).
Value update_with(Thread& thread, Value* args, int count) {  // args: the dict, the names, then other
  if (count > 2) {
    Value other[] = {args[0], args[2]};
    release(update(thread, other, 2));
    args[0] = other[0];
  }
  return update(thread, args, 2);
}
Value merged(Thread& thread, Value* args, int count) {
  Value copy[] = {retained(args[0]), args[1]};
  release(update(thread, copy, count));
  copy[0].as_object->shape = 0;  // the new entries have not been checked; what holds the dict checks it
  return copy[0];
}
// popitem(): removes the entry that was inserted last, and returns its key and value.
Value pop_item(Thread&, Value* args, int count) {
  Dict* dict = own_dict(args[0]);
  dict->compact();
  if (dict->live == 0) {
    fail("popitem(): dict is empty");
  }
  const bool last = count < 2 || truthy(args[1]);
  const Dict::Entry& entry = last ? dict->entries.back() : dict->entries.front();
  Ref pair = Ref::owned(make_tuple({retained(entry.key), retained(entry.value)}));
  dict->remove(as_object<Tuple>(pair.get())->items[0]);
  return pair.take();
}
Value pop_item_with(Thread& thread, Value* args, int count) {  // args: the dict, the names, the others
  const NamedArguments named("popitem", args[1], {"last"});
  const Value last = count > 2 ? args[2] : named.get("last");
  Value all[] = {args[0], last};
  const Value pair = pop_item(thread, all, last.is_nil() ? 1 : 2);
  args[0] = all[0];
  return pair;
}
// move_to_end(key): as if the key had been inserted last.
Value move_to_end(Thread&, Value* args, int count) {
  const Value* found = dict_of(args[0])->find(args[1]);
  if (found == nullptr) {
    fail_key(args[1]);
  }
  const Ref value = Ref::shared(*found);
  Dict* dict = own_dict(args[0]);
  dict->remove(args[1]);
  if (count < 3 || truthy(args[2])) {
    dict->set(retained(args[1]), retained(value.get()));
    return retained(args[0]);
  }
  Ref front = Ref::owned(Value::object(new Dict()));
  dict_of(front.get())->set(retained(args[1]), retained(value.get()));
  for (const auto& entry : dict->entries) {
    if (!entry.key.is_missing()) {
      dict_of(front.get())->set(retained(entry.key), retained(entry.value));
    }
  }
  assign(args[0], front.take());
  return retained(args[0]);
}
Value move_to_end_with(Thread& thread, Value* args, int count) {  // args: the dict, the names, the key
  const NamedArguments named("move_to_end", args[1], {"key", "last"});
  Value all[] = {args[0], count > 2 ? args[2] : named.get("key"), named.get("last")};
  const Value moved = move_to_end(thread, all, all[2].is_nil() ? 2 : 3);
  args[0] = all[0];
  return moved;
}
// dict.fromkeys(keys, value).
Value from_keys(Thread& thread, Value* args, int count) {
  Ref made = Ref::owned(Value::object(new Dict()));
  each_to_end(thread, args[0], [&](Value key) {
    dict_of(made.get())->set(retained(key), count > 1 ? retained(args[1]) : Value());
    return true;
  });
  return made.take();
}
// dict(other, name: value).
Value dict_with(Thread& thread, Value* args, int count) {  // args: the names, then as for to_dict()
  Value both[] = {to_dict(thread, args + 1, count - 1), args[0]};
  release(update(thread, both, 2));
  return both[0];
}
Value map_values(Thread& thread, Value* args, int) {
  const Ref result = Ref::owned(Value::object(new Dict()));
  dict_of(args[0])->compact();
  for (const auto& entry : dict_of(args[0])->entries) {
    dict_of(result.get())->set(retained(entry.key), call_with_element(thread, args[1], entry.value));
  }
  return retained(result.get());
}
Value dict_filter(Thread& thread, Value* args, int) {
  const Ref result = Ref::owned(Value::object(new Dict()));
  dict_of(args[0])->compact();
  for (const auto& entry : dict_of(args[0])->entries) {
    const Value pair[] = {entry.key, entry.value};
    const Ref answer = Ref::owned(thread.call(args[1], pair, 2));
    if (truthy(answer.get())) {
      dict_of(result.get())->set(retained(entry.key), retained(entry.value));
    }
  }
  return retained(result.get());
}
Value for_each_entry(Thread& thread, Value* args, int) {
  dict_of(args[0])->compact();
  const Ref held = Ref::shared(args[0]);
  for (const auto& entry : dict_of(args[0])->entries) {
    const Value pair[] = {entry.key, entry.value};
    release(thread.call(args[1], pair, 2));
  }
  return Value();
}

// A value is copied when one of its holders changes it.
Value dict_clone(Thread&, Value* args, int) {
  Value copy = retained(args[0]);
  make_unique(copy);
  return copy;
}

const NativeEntry kDict[] = {
    {"get", dict_get, 2, 3},
    {"keys", keys, 1, 1},
    {"values", values, 1, 1},
    {"items", items, 1, 1},
    {"entries", items, 1, 1},
    {"contains_key", contains_key, 2, 2},
    {"has_key", contains_key, 2, 2},
    {"has", contains_key, 2, 2},
    {"set", dict_set, 3, 3},
    {"insert", dict_set, 3, 3},
    {"remove", dict_remove, 2, 2},
    {"pop", dict_pop, 2, 3},
    {"get_or", dict_get, 3, 3},
    {"clone", dict_clone, 1, 1},
    {"__delitem__", dict_pop, 2, 2},
    {"setdefault", set_default, 2, 3},
    {"clear", dict_clear, 1, 1},
    {"update", update, 1, 2, update_with},
    {"merge", merged, 2, 2},
    {"map_values", map_values, 2, 2},
    {"filter", dict_filter, 2, 2},
    {"for_each", for_each_entry, 2, 2},
    {"each", for_each_entry, 2, 2},
    {"fetch", dict_get, 3, 3},
    {"copy", dict_clone, 1, 1},
    {"delete", dict_remove, 2, 2},
    {"popitem", pop_item, 1, 2, pop_item_with},
    {"move_to_end", move_to_end, 2, 3, move_to_end_with},
};

const NativeEntry kDictFunctions[] = {
    {"dict", to_dict, 0, 1, dict_with},
};

}  // namespace

void install_dict_methods() {
  add_functions(kDictFunctions);
  static const NativeEntry functions[] = {{"fromkeys", from_keys, 1, 2}};
  add_methods(Kind::kDict, kDict);
  add_functions_of_type("dict", Kind::kDict, functions);
}

}  // namespace spl
