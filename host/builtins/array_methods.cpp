// Methods of arrays, and of what can be walked through: tuples and ranges share those that change nothing.
#include <algorithm>

#include "methods.h"

namespace spl {
namespace {

std::vector<Value>& items_of(Value v) { return as_object<Array>(v)->items; }

std::vector<Value>& own_items(Value& slot) {
  make_unique(slot);
  return items_of(slot);
}

Value call_one(Thread& t, Value f, Value a) { return t.call(f, &a, 1); }

bool holds(Thread& t, Value predicate, Value element) {
  const Ref verdict = Ref::owned(call_one(t, predicate, element));
  return truthy(verdict.get());
}

// ---- Changing an array

Value array_push(Thread&, Value* args, int) {
  own_items(args[0]).push_back(retained(args[1]));
  return Value::nil();
}

Value array_pop(Thread&, Value* args, int) {
  std::vector<Value>& items = own_items(args[0]);
  if (items.empty()) return Value::nil();
  const Value last = items.back();
  items.pop_back();
  return last;
}

size_t position(const std::vector<Value>& items, Value index, const char* method, size_t limit) {
  int64_t at = int_argument(index, method);
  const auto size = static_cast<int64_t>(items.size());
  if (at < 0) at += size;
  if (at < 0 || at >= static_cast<int64_t>(limit)) {
    fail(std::string(method) + ": index " + std::to_string(index.as_int) + " is out of range for " + std::to_string(size) + " elements");
  }
  return static_cast<size_t>(at);
}

Value array_insert(Thread&, Value* args, int) {
  std::vector<Value>& items = own_items(args[0]);
  const size_t at = position(items, args[1], "insert", items.size() + 1);
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), retained(args[2]));
  return Value::nil();
}

Value array_remove(Thread&, Value* args, int) {
  std::vector<Value>& items = own_items(args[0]);
  const size_t at = position(items, args[1], "remove", items.size());
  const Value removed = items[at];
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  return removed;
}

Value array_clear(Thread&, Value* args, int) {
  std::vector<Value> gone;
  gone.swap(own_items(args[0]));
  for (Value item : gone) release(item);
  return Value::nil();
}

Value array_extend(Thread& t, Value* args, int) {
  std::vector<Ref> more = elements_of(t, args[1]);
  std::vector<Value>& items = own_items(args[0]);
  for (Ref& element : more) items.push_back(element.take());
  return Value::nil();
}

// ---- Looking

Value first(Thread& t, Value* args, int) {
  Value found;
  t.each(args[0], [&](Value element) {
    found = retained(element);
    return false;
  });
  return found;
}

Value last(Thread& t, Value* args, int) {
  std::vector<Ref> all = elements_of(t, args[0]);
  return all.empty() ? Value::nil() : all.back().take();
}

Value map(Thread& t, Value* args, int) {
  std::vector<Ref> made;
  t.each(args[0], [&](Value element) {
    made.push_back(Ref::owned(call_one(t, args[1], element)));
    return true;
  });
  return array_of(std::move(made));
}

Value flat_map(Thread& t, Value* args, int) {
  std::vector<Ref> made;
  t.each(args[0], [&](Value element) {
    const Ref part = Ref::owned(call_one(t, args[1], element));
    for (Ref& inner : elements_of(t, part.get())) made.push_back(std::move(inner));
    return true;
  });
  return array_of(std::move(made));
}

Value filter(Thread& t, Value* args, int) {
  std::vector<Ref> kept;
  t.each(args[0], [&](Value element) {
    if (holds(t, args[1], element)) kept.push_back(Ref::shared(element));
    return true;
  });
  return array_of(std::move(kept));
}

Value each_element(Thread& t, Value* args, int) {
  t.each(args[0], [&](Value element) {
    release(call_one(t, args[1], element));
    return true;
  });
  return Value::nil();
}

Value fold(Thread& t, Value* args, int) {
  Ref so_far = Ref::shared(args[1]);
  t.each(args[0], [&](Value element) {
    const Value both[] = {so_far.get(), element};
    so_far = Ref::owned(t.call(args[2], both, 2));
    return true;
  });
  return so_far.take();
}

Value any(Thread& t, Value* args, int count) {
  bool found = false;
  t.each(args[0], [&](Value element) {
    found = count == 1 ? truthy(element) : holds(t, args[1], element);
    return !found;
  });
  return Value::boolean(found);
}

Value all(Thread& t, Value* args, int count) {
  bool every = true;
  t.each(args[0], [&](Value element) {
    every = count == 1 ? truthy(element) : holds(t, args[1], element);
    return every;
  });
  return Value::boolean(every);
}

Value find(Thread& t, Value* args, int) {
  Value found = Value::missing();
  t.each(args[0], [&](Value element) {
    if (!holds(t, args[1], element)) return true;
    found = retained(element);
    return false;
  });
  return found.is_missing() ? make_none() : make_some(found);
}

Value index_of(Thread& t, Value* args, int) {
  int64_t at = 0;
  bool found = false;
  t.each(args[0], [&](Value element) {
    found = equals(element, args[1]);
    at += found ? 0 : 1;
    return !found;
  });
  return found ? make_some(Value::integer(at)) : make_none();
}

Value contains(Thread& t, Value* args, int) { return Value::boolean(t.contains(args[0], args[1])); }

Value take(Thread& t, Value* args, int) {
  int64_t left = int_argument(args[1], "take");
  std::vector<Ref> taken;
  if (left <= 0) return make_array({});
  t.each(args[0], [&](Value element) {
    taken.push_back(Ref::shared(element));
    return --left > 0;
  });
  return array_of(std::move(taken));
}

Value skip(Thread& t, Value* args, int) {
  int64_t left = int_argument(args[1], "skip");
  std::vector<Ref> rest;
  t.each(args[0], [&](Value element) {
    if (left-- <= 0) rest.push_back(Ref::shared(element));
    return true;
  });
  return array_of(std::move(rest));
}

Value pair_of(Value a, Value b) { return make_tuple({retained(a), retained(b)}); }

Value zip(Thread& t, Value* args, int) {
  const std::vector<Ref> left = elements_of(t, args[0]);
  const std::vector<Ref> right = elements_of(t, args[1]);
  std::vector<Value> pairs;
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) pairs.push_back(pair_of(left[i].get(), right[i].get()));
  return make_array(std::move(pairs));
}

Value enumerate(Thread& t, Value* args, int) {
  std::vector<Value> pairs;
  t.each(args[0], [&](Value element) {
    pairs.push_back(pair_of(Value::integer(static_cast<int64_t>(pairs.size())), element));
    return true;
  });
  return make_array(std::move(pairs));
}

Value reversed(Thread& t, Value* args, int) {
  std::vector<Ref> elements = elements_of(t, args[0]);
  std::reverse(elements.begin(), elements.end());
  return array_of(std::move(elements));
}

/// Ascending and stable; with a function of one argument by its keys, of two by "the first comes earlier".
/// A merge by hand, because a function that contradicts itself must not lead std::sort astray.
void merge_sort(std::vector<Ref>& elements, const std::function<bool(Value, Value)>& before) {
  std::vector<Ref> spare(elements.size());
  for (size_t width = 1; width < elements.size(); width *= 2) {
    for (size_t from = 0; from < elements.size(); from += 2 * width) {
      const size_t middle = std::min(from + width, elements.size());
      const size_t end = std::min(from + 2 * width, elements.size());
      size_t left = from, right = middle, out = from;
      while (left < middle && right < end) {
        const bool take_right = before(elements[right].get(), elements[left].get());
        spare[out++] = std::move(elements[take_right ? right++ : left++]);
      }
      while (left < middle) spare[out++] = std::move(elements[left++]);
      while (right < end) spare[out++] = std::move(elements[right++]);
    }
    elements.swap(spare);
  }
}

int parameter_count(Value f) {
  return f.is(Kind::kClosure) ? static_cast<int>(as_object<Closure>(f)->proto->parameters.size()) : 1;
}

Value sorted_by_keys(Thread& t, std::vector<Ref> elements, Value key) {
  std::vector<Ref> pairs;
  for (const Ref& element : elements) {
    const Ref made = Ref::owned(call_one(t, key, element.get()));
    pairs.push_back(Ref::owned(pair_of(made.get(), element.get())));
  }
  merge_sort(pairs, [](Value a, Value b) { return compare(as_object<Tuple>(a)->items[0], as_object<Tuple>(b)->items[0]) < 0; });
  std::vector<Value> items;
  for (const Ref& pair : pairs) items.push_back(retained(as_object<Tuple>(pair.get())->items[1]));
  return make_array(std::move(items));
}

Value sorted(Thread& t, Value* args, int count) {
  std::vector<Ref> elements = elements_of(t, args[0]);
  if (count == 2 && parameter_count(args[1]) < 2) return sorted_by_keys(t, std::move(elements), args[1]);
  merge_sort(elements, [&](Value a, Value b) {
    if (count == 1) return compare(a, b) < 0;
    const Value both[] = {a, b};
    const Ref verdict = Ref::owned(t.call(args[1], both, 2));
    return verdict.get().is_int() ? verdict.get().as_int < 0 : truthy(verdict.get());
  });
  return array_of(std::move(elements));
}

Value join(Thread& t, Value* args, int count) {
  const std::string separator = count == 1 ? "" : text_argument(args[1], "join");
  std::string result;
  bool is_first = true;
  t.each(args[0], [&](Value element) {
    if (!is_first) result += separator;
    is_first = false;
    result += display(element);
    return true;
  });
  return make_text(std::move(result));
}

Value sum(Thread& t, Value* args, int) {
  Ref total = Ref::owned(Value::integer(0));
  t.each(args[0], [&](Value element) {
    total = Ref::owned(t.arithmetic(BinaryOp::kAdd, total.get(), element));
    return true;
  });
  return total.take();
}

Value extreme(Thread& t, Value iterable, int wanted) {
  Ref best;
  bool is_first = true;
  t.each(iterable, [&](Value element) {
    if (is_first || compare(element, best.get()) == wanted) best = Ref::shared(element);
    is_first = false;
    return true;
  });
  return best.take();
}

Value unique(Thread& t, Value* args, int) {
  auto* seen = new Dict;
  const Ref owner = Ref::owned(Value::object(seen));
  std::vector<Ref> kept;
  t.each(args[0], [&](Value element) {
    if (seen->find(element) == nullptr) {
      seen->set(retained(element), Value::nil());
      kept.push_back(Ref::shared(element));
    }
    return true;
  });
  return array_of(std::move(kept));
}

}  // namespace

const MethodTable& array_methods() {
  static const MethodTable table = {
      {"push", array_push, 1, 1, true},
      {"append", array_push, 1, 1, true},
      {"pop", array_pop, 0, 0, true},
      {"insert", array_insert, 2, 2, true},
      {"remove", array_remove, 1, 1, true},
      {"clear", array_clear, 0, 0, true},
      {"extend", array_extend, 1, 1, true},
  };
  return table;
}

const MethodTable& sequence_methods() {
  static const MethodTable table = {
      {"len", [](Thread& t, Value* a, int) { return Value::integer(t.length(a[0])); }, 0, 0, false},
      {"is_empty", [](Thread& t, Value* a, int) { return Value::boolean(t.length(a[0]) == 0); }, 0, 0, false},
      {"first", first, 0, 0, false},
      {"last", last, 0, 0, false},
      {"map", map, 1, 1, false},
      {"flat_map", flat_map, 1, 1, false},
      {"filter", filter, 1, 1, false},
      {"each", each_element, 1, 1, false},
      {"for_each", each_element, 1, 1, false},
      {"reduce", fold, 2, 2, false},
      {"fold", fold, 2, 2, false},
      {"any", any, 0, 1, false},
      {"all", all, 0, 1, false},
      {"find", find, 1, 1, false},
      {"index_of", index_of, 1, 1, false},
      {"contains", contains, 1, 1, false},
      {"take", take, 1, 1, false},
      {"skip", skip, 1, 1, false},
      {"zip", zip, 1, 1, false},
      {"enumerate", enumerate, 0, 0, false},
      {"reverse", reversed, 0, 0, false},
      {"reversed", reversed, 0, 0, false},
      {"sort", sorted, 0, 1, false},
      {"sorted", sorted, 0, 1, false},
      {"join", join, 0, 1, false},
      {"sum", sum, 0, 0, false},
      {"min", [](Thread& t, Value* a, int) { return extreme(t, a[0], -1); }, 0, 0, false},
      {"max", [](Thread& t, Value* a, int) { return extreme(t, a[0], 1); }, 0, 0, false},
      {"unique", unique, 0, 0, false},
      {"to_array", [](Thread& t, Value* a, int) { return array_of(elements_of(t, a[0])); }, 0, 0, false},
      {"to_string", [](Thread&, Value* a, int) { return make_text(display(a[0])); }, 0, 0, false},
  };
  return table;
}

const MethodTable& range_methods() {
  static const MethodTable table = {
      {"start", [](Thread&, Value* a, int) { return as_object<Range>(a[0])->start; }, 0, 0, false},
      {"end", [](Thread&, Value* a, int) { return as_object<Range>(a[0])->end; }, 0, 0, false},
  };
  return table;
}

}  // namespace spl
