// Methods of arrays, tuples and ranges, and those that dicts share. Mutating methods hold the only reference
// to their receiver.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "host/builtins/builtins.h"
#include "host/builtins/collection_elements.h"
#include "host/builtins/named_arguments.h"
#include "host/modules/loader.h"
#include "host/values/module.h"
#include "host/vm/failure.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

// ---- Reading: arrays, tuples and other iterables ---------------------------------------------------------

Value len(Thread& thread, Value* args, int) { return Value::integer(thread.length(args[0])); }
Value is_empty(Thread& thread, Value* args, int) { return Value::boolean(thread.length(args[0]) == 0); }
Value contains(Thread& thread, Value* args, int) { return Value::boolean(thread.contains(args[0], args[1])); }

Value first(Thread&, Value* args, int) {
  const auto& items = elements_of(args[0]);
  return items.empty() ? Value() : retained(items.front());
}
Value last(Thread&, Value* args, int) {
  const auto& items = elements_of(args[0]);
  return items.empty() ? Value() : retained(items.back());
}
Value get(Thread&, Value* args, int count) {
  const auto& items = elements_of(args[0]);
  const int64_t index = to_integer(args[1]);
  const int64_t at = index < 0 ? index + static_cast<int64_t>(items.size()) : index;
  if (at >= 0 && at < static_cast<int64_t>(items.size())) {
    return retained(items[static_cast<size_t>(at)]);
  }
  return count > 2 ? retained(args[2]) : Value();
}
Value index_of(Thread&, Value* args, int) {
  const auto& items = elements_of(args[0]);
  for (size_t i = 0; i < items.size(); ++i) {
    if (are_one_key(items[i], args[1])) {
      return Value::integer(static_cast<int64_t>(i));
    }
  }
  return Value();
}
Value last_index_of(Thread&, Value* args, int) {
  const auto& items = elements_of(args[0]);
  for (size_t i = items.size(); i-- > 0;) {
    if (are_one_key(items[i], args[1])) {
      return Value::integer(static_cast<int64_t>(i));
    }
  }
  return Value();
}
// The elements from one index up to another, or to the end.
Value slice(Thread& thread, Value* args, int count) {
  const Ref range = Ref::owned(make_range(args[1], count > 2 ? args[2] : Value(), false));
  return thread.get_index(args[0], range.get());
}
Value concat(Thread& thread, Value* args, int) {
  if (!args[1].is(Kind::kArray) && !args[1].is(Kind::kTuple)) {
    fail("concat(): expected an array, got " + type_name(args[1]));
  }
  return thread.arithmetic(BinaryOp::kAdd, args[0], args[1]);
}
// A value is copied when one of its holders changes it.
// Another array, so that a program that comes from Python is warned only about changes that no copy explains.
Value array_clone(Thread&, Value* args, int) {
  if (args[0].is(Kind::kTuple)) {
    return retained(args[0]);
  }
  const Elements& items = as_object<Array>(args[0])->items;
  return Value::object(new Array(items.slice(0, items.size())));
}
// index(x), index(x, start, stop): an error without a match.
Value index_or_fail(Thread& thread, Value* args, int count) {
  Value found;
  if (count == 2) {
    found = index_of(thread, args, count);
  } else {
    const auto size = thread.length(args[0]);
    const auto bound = [&](int at, int64_t otherwise) {
      const int64_t index = count > at ? to_integer(args[at]) : otherwise;
      return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
    };
    for (int64_t at = bound(2, 0), end = bound(3, size); at < end && found.is_nil(); ++at) {
      const Ref element = Ref::owned(thread.get_index(args[0], Value::integer(at)));
      found = equals(element.get(), args[1]) ? Value::integer(at) : found;
    }
  }
  if (found.is_nil()) {
    fail_value("index(): " + display(args[1]) + " is not in the " + type_name(args[0]),
               "index_of() returns nil for a missing element");
  }
  return found;
}
Value count_of(Thread& thread, Value* args, int count) {
  if (count == 1) {
    return Value::integer(thread.length(args[0]));
  }
  int64_t found = 0;
  const bool function = args[1].is(Kind::kClosure) || args[1].is(Kind::kNative);
  each_to_end(thread, args[0], [&](Value v) {
    found += function ? holds_for(thread, args[1], v) : are_one_key(v, args[1]);
    return true;
  });
  return Value::integer(found);
}

Value map(Thread& thread, Value* args, int) {
  Collected result;
  result.reserve_for(args[0]);
  each_to_end(thread, args[0], [&](Value v) {
    result.add(call_with_element(thread, args[1], v));
    return true;
  });
  return result.array();
}
Value filter(Thread& thread, Value* args, int) {
  Collected result;
  each_to_end(thread, args[0], [&](Value v) {
    if (holds_for(thread, args[1], v)) {
      result.add(retained(v));
    }
    return true;
  });
  return result.array();
}
// reduce(init, f); also reduce(f, init), an older order, and reduce(f).
Value reduce(Thread& thread, Value* args, int count) {
  const bool function_first =
      args[1].is(Kind::kClosure) || args[1].is(Kind::kNative) || args[1].is(Kind::kBoundMethod);
  const Value function = count == 2 || function_first ? args[1] : args[2];
  Ref total = count == 2 ? Ref::owned(Value::missing()) : Ref::shared(function_first ? args[2] : args[1]);
  each_to_end(thread, args[0], [&](Value v) {
    if (total.get().is_missing()) {
      total = Ref::shared(v);
      return true;
    }
    const Value pair[] = {total.get(), v};
    total = Ref::owned(thread.call(function, pair, 2));
    return true;
  });
  if (total.get().is_missing()) {
    fail("reduce() of empty iterable with no initial value");
  }
  return total.take();
}
Value each_fn(Thread& thread, Value* args, int) {
  each_to_end(thread, args[0], [&](Value v) {
    release(call_with_element(thread, args[1], v));
    return true;
  });
  return Value();
}
Value any_fn(Thread& thread, Value* args, int count) {
  bool found = false;
  thread.each(args[0], [&](Value v) {
    found = count > 1 ? holds_for(thread, args[1], v) : truthy(v);
    return !found;
  });
  return Value::boolean(found);
}
Value all_fn(Thread& thread, Value* args, int count) {
  bool every = true;
  thread.each(args[0], [&](Value v) {
    every = count > 1 ? holds_for(thread, args[1], v) : truthy(v);
    return every;
  });
  return Value::boolean(every);
}
Value find(Thread& thread, Value* args, int) {
  Value found;
  thread.each(args[0], [&](Value v) {
    if (!holds_for(thread, args[1], v)) {
      return true;
    }
    found = retained(v);
    return false;
  });
  return found;
}
Value find_index(Thread& thread, Value* args, int) {
  int64_t at = 0;
  bool found = false;
  thread.each(args[0], [&](Value v) {
    found = holds_for(thread, args[1], v);
    at += !found;
    return !found;
  });
  return found ? Value::integer(at) : Value();
}
Value take(Thread& thread, Value* args, int) {
  Collected result;
  int64_t left = to_integer(args[1]);
  if (left <= 0) {
    return make_array({});
  }
  thread.each(args[0], [&](Value v) {
    result.add(retained(v));
    return --left > 0;
  });
  return result.array();
}
Value skip(Thread& thread, Value* args, int) {
  Collected result;
  int64_t left = to_integer(args[1]);
  each_to_end(thread, args[0], [&](Value v) {
    if (left-- <= 0) {
      result.add(retained(v));
    }
    return true;
  });
  return result.array();
}
Value take_while(Thread& thread, Value* args, int) {
  Collected result;
  thread.each(args[0], [&](Value v) {
    const bool taken = holds_for(thread, args[1], v);
    if (taken) {
      result.add(retained(v));
    }
    return taken;
  });
  return result.array();
}
Value skip_while(Thread& thread, Value* args, int) {
  Collected result;
  bool skipping = true;
  each_to_end(thread, args[0], [&](Value v) {
    skipping = skipping && holds_for(thread, args[1], v);
    if (!skipping) {
      result.add(retained(v));
    }
    return true;
  });
  return result.array();
}
// One operand may be a range without an end, so the other one is collected first.
Value zip(Thread& thread, Value* args, int) {
  const bool endless = args[1].is(Kind::kRange) && as_object<Range>(args[1])->end.is_nil();
  Collected gathered = collected_elements(thread, args[endless ? 0 : 1]);
  Collected result;
  size_t at = 0;
  thread.each(args[endless ? 1 : 0], [&](Value v) {
    if (at == gathered.items().size()) {
      return false;
    }
    const Value other = gathered.items()[at++];
    result.add(endless ? make_tuple({retained(other), retained(v)})
                       : make_tuple({retained(v), retained(other)}));
    return true;
  });
  return result.array();
}
Value enumerate(Thread& thread, Value* args, int) {
  Collected result;
  int64_t at = 0;
  each_to_end(thread, args[0], [&](Value v) {
    result.add(make_tuple({Value::integer(at++), retained(v)}));
    return true;
  });
  return result.array();
}
Value flatten_into(Thread& thread, Value iterable, Value function) {
  Collected result;
  each_to_end(thread, iterable, [&](Value v) {
    const Ref inner = function.is_nil() ? Ref::shared(v) : Ref::owned(call_with_element(thread, function, v));
    if (!inner.get().is(Kind::kArray) && !inner.get().is(Kind::kTuple)) {
      result.add(retained(inner.get()));
      return true;
    }
    for (const Value item : elements_of(inner.get())) {
      result.add(retained(item));
    }
    return true;
  });
  return result.array();
}
Value flat_map(Thread& thread, Value* args, int) { return flatten_into(thread, args[0], args[1]); }
Value flatten(Thread& thread, Value* args, int) { return flatten_into(thread, args[0], Value()); }

// The length of the texts in an array, with a separator for each.
size_t least_length(Value array, size_t separator) {
  size_t length = 0;
  if (array.is(Kind::kArray)) {
    for (const Value v : as_object<Array>(array)->items) {
      length += separator + (v.is(Kind::kText) ? text_of(v).size() : 0);
    }
  }
  return length;
}
Value join(Thread& thread, Value* args, int count) {
  const std::string separator = count > 1 ? expect_text(args[1], "the separator of join()") : "";
  std::string text;
  text.reserve(least_length(args[0], separator.size()));
  bool first_one = true;
  each_to_end(thread, args[0], [&](Value v) {
    if (!first_one) {
      text += separator;
    }
    first_one = false;
    if (v.is(Kind::kText)) {
      text += text_of(v);
    } else {
      text += display(v);
    }
    return true;
  });
  return make_text(std::move(text));
}
Value to_array(Thread& thread, Value* args, int) { return collected_elements(thread, args[0]).array(); }
Value reversed(Thread& thread, Value* args, int) {
  Collected result = collected_elements(thread, args[0]);
  std::reverse(result.items().begin(), result.items().end());
  return result.array();
}
Value unique(Thread& thread, Value* args, int) {
  Collected result;
  const Ref seen = Ref::owned(Value::object(new Dict()));
  each_to_end(thread, args[0], [&](Value v) {
    auto* dict = as_object<Dict>(seen.get());
    if (dict->find(v) != nullptr) {
      return true;
    }
    dict->set(retained(v), Value());
    result.add(retained(v));
    return true;
  });
  return result.array();
}
Value sum(Thread& thread, Value* args, int) {
  if (int64_t of_range = 0; sum_of_range(args[0], of_range)) {
    return Value::integer(of_range);
  }
  Ref total = Ref::owned(Value::integer(0));
  each_to_end(thread, args[0], [&](Value v) {
    total = Ref::owned(thread.arithmetic(BinaryOp::kAdd, total.get(), v));
    return true;
  });
  return total.take();
}
Value product(Thread& thread, Value* args, int) {
  Ref total = Ref::owned(Value::integer(1));
  each_to_end(thread, args[0], [&](Value v) {
    total = Ref::owned(thread.arithmetic(BinaryOp::kMultiply, total.get(), v));
    return true;
  });
  return total.take();
}
Value extreme(Thread& thread, Value iterable, int wanted) {
  Ref best = Ref::owned(Value::missing());
  each_to_end(thread, iterable, [&](Value v) {
    if (best.get().is_missing() || compare(v, best.get()) * wanted > 0) {
      best = Ref::shared(v);
    }
    return true;
  });
  return best.get().is_missing() ? Value() : best.take();
}
Value min(Thread& thread, Value* args, int) { return extreme(thread, args[0], -1); }
Value max(Thread& thread, Value* args, int) { return extreme(thread, args[0], 1); }
// Groups by the result of a function.
Value extreme_by(Thread& thread, Value* args, int wanted) {
  Ref best, best_key = Ref::owned(Value::missing());
  each_to_end(thread, args[0], [&](Value v) {
    Ref key = Ref::owned(call_with_element(thread, args[1], v));
    if (best_key.get().is_missing() || compare(key.get(), best_key.get()) * wanted > 0) {
      best = Ref::shared(v);
      best_key = std::move(key);
    }
    return true;
  });
  return best.take();
}
Value min_by(Thread& thread, Value* args, int) { return extreme_by(thread, args, -1); }
Value max_by(Thread& thread, Value* args, int) { return extreme_by(thread, args, 1); }

// Without nil and None; the value of each Some.
Value compact(Thread& thread, Value* args, int) {
  Collected result;
  each_to_end(thread, args[0], [&](Value v) {
    const bool is_some = v.is(Kind::kEnumValue) && as_object<EnumValue>(v)->type == core_types().option;
    if (!is_none(v)) {
      result.add(retained(is_some ? as_object<EnumValue>(v)->payload()[0] : v));
    }
    return true;
  });
  return result.array();
}
// The elements from index `by` on, then those before it; from the end for a negative number.
Value rotated(Thread& thread, Value* args, int count) {
  Collected result = collected_elements(thread, args[0]);
  const auto size = static_cast<int64_t>(result.items().size());
  if (size > 0) {
    const int64_t by = count > 1 ? to_integer(args[1]) % size : 1 % size;
    std::rotate(result.items().begin(), result.items().begin() + (by + size) % size, result.items().end());
  }
  return result.array();
}
// The columns of an array of rows. A shorter row leaves its place to the next ones.
Value transposed(Thread& thread, Value* args, int) {
  std::vector<Collected> columns;
  each_to_end(thread, args[0], [&](Value row) {
    if (!row.is(Kind::kArray) && !row.is(Kind::kTuple)) {
      fail("transpose: expected an array of arrays, got an element of type " + type_name(row));
    }
    const Elements& cells = elements_of(row);
    columns.resize(std::max(columns.size(), cells.size()));
    for (size_t i = 0; i < cells.size(); ++i) {
      columns[i].add(retained(cells[i]));
    }
    return true;
  });
  Collected result;
  for (Collected& column : columns) {
    result.add(column.array());
  }
  return result.array();
}

// ---- Reading in groups -----------------------------------------------------------------------------------

Value group_by(Thread& thread, Value* args, int) {
  const Ref groups = Ref::owned(Value::object(new Dict()));
  auto* dict = as_object<Dict>(groups.get());
  each_to_end(thread, args[0], [&](Value v) {
    const Ref key = Ref::owned(call_with_element(thread, args[1], v));
    if (dict->find(key.get()) == nullptr) {
      dict->set(retained(key.get()), make_array({}));
    }
    as_object<Array>(*dict->find(key.get()))->items.push_back(retained(v));
    return true;
  });
  return retained(groups.get());
}
// Two arrays: the elements that satisfy the predicate, and the others.
Value partition(Thread& thread, Value* args, int) {
  Collected yes, no;
  each_to_end(thread, args[0], [&](Value v) {
    (holds_for(thread, args[1], v) ? yes : no).add(retained(v));
    return true;
  });
  return make_tuple({yes.array(), no.array()});
}
size_t group_size(Value v, const char* what) {
  const int64_t size = to_integer(v);
  if (size < 1) {
    fail(std::string(what) + "(): size must be at least 1");
  }
  return static_cast<size_t>(size);
}
Value part_of(const std::vector<Value>& items, size_t first, size_t last) {
  Collected part;
  for (size_t i = first; i < last; ++i) {
    part.add(retained(items[i]));
  }
  return part.array();
}
Value chunks(Thread& thread, Value* args, int) {
  const size_t size = group_size(args[1], "chunks");
  Collected all = collected_elements(thread, args[0]), result;
  for (size_t at = 0; at < all.items().size(); at += size) {
    result.add(part_of(all.items(), at, std::min(at + size, all.items().size())));
  }
  return result.array();
}
Value windows(Thread& thread, Value* args, int) {
  const size_t size = group_size(args[1], "windows");
  Collected all = collected_elements(thread, args[0]), result;
  for (size_t at = 0; at + size <= all.items().size(); ++at) {
    result.add(part_of(all.items(), at, at + size));
  }
  return result.array();
}

// ---- Ranges ----------------------------------------------------------------------------------------------

// Every `by`-th number of a range.
Value step(Thread& thread, Value* args, int) {
  const auto by = static_cast<int64_t>(group_size(args[1], "step"));
  const auto* range = args[0].is(Kind::kRange) ? as_object<Range>(args[0]) : nullptr;
  if (range != nullptr && range->start.is_int() && range->end.is_int()) {  // without the numbers between
    const bool is_inclusive = range->inclusive;
    return integers_with_step(range->start.as_int, range->end.as_int, by, is_inclusive);
  }
  Collected result;
  int64_t at = 0;
  each_to_end(thread, args[0], [&](Value v) {
    if (at++ % by == 0) {
      result.add(v);
    }
    return true;
  });
  return result.array();
}
Value range_start(Thread&, Value* args, int) { return as_object<Range>(args[0])->start; }
Value range_end(Thread&, Value* args, int) { return as_object<Range>(args[0])->end; }

Value to_string(Thread&, Value* args, int) { return make_text(display(args[0])); }

/// An element and what it is sorted by; both borrowed. Most comparisons end at `prefix`, without a read of
/// the objects: the prefixes of two different keys are equal or in the order of the keys.
struct SortEntry {
  uint64_t prefix;
  Value key, item;
};

constexpr uint64_t kSignBit = uint64_t{1} << 63;

uint64_t prefix_of_float(double value) {
  const auto bits = std::bit_cast<uint64_t>(value + 0.0);  // -0.0 equals 0.0
  return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
}
uint64_t prefix_of_text(const std::string& text) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, text.data(), std::min(text.size(), sizeof(bytes)));
  return __builtin_bswap64(bytes);  // the first byte decides first
}
bool has_prefix(Value v) {
  return v.is_int() || (v.is_float() && !std::isnan(v.as_float)) || v.is(Kind::kText);
}
uint64_t prefix_of(Value v) {
  return v.is_int()     ? static_cast<uint64_t>(v.as_int) ^ kSignBit
         : v.is_float() ? prefix_of_float(v.as_float)
                        : prefix_of_text(text_of(v));
}
// The part of a key that decides first: the first element of a tuple or an array.
Value leading_part(Value key) {
  const bool is_sequence = key.is(Kind::kTuple) || key.is(Kind::kArray);
  return is_sequence ? elements_of(key).empty() ? Value() : elements_of(key).front() : key;
}
bool are_of_one_type(Value a, Value b) {
  return a.tag == b.tag && (!a.is_object() || a.as_object->kind == b.as_object->kind);
}

// A merge sort, because std::sort reads out of bounds if the comparison is inconsistent. Its runs are sorted
// by insertion.
template <class Less>
void merge_sort(std::vector<SortEntry>& entries, Less&& less) {
  constexpr size_t kRun = 8;
  for (size_t first = 0; first < entries.size(); first += kRun) {
    const size_t end = std::min(first + kRun, entries.size());
    for (size_t i = first + 1; i < end; ++i) {
      const SortEntry entry = entries[i];
      size_t at = i;
      for (; at > first && less(entry, entries[at - 1]); --at) {
        entries[at] = entries[at - 1];
      }
      entries[at] = entry;
    }
  }
  std::vector<SortEntry> buffer(entries.size());
  for (size_t width = kRun; width < entries.size(); width *= 2) {
    for (size_t left = 0; left < entries.size(); left += 2 * width) {
      const size_t middle = std::min(left + width, entries.size()),
                   right = std::min(left + 2 * width, entries.size());
      size_t a = left, b = middle, at = left;
      const bool is_in_order = b >= right || !less(entries[b], entries[b - 1]);
      while (!is_in_order && a < middle && b < right) {
        buffer[at++] = less(entries[b], entries[a]) ? entries[b++] : entries[a++];
      }
      const auto rest = std::copy(entries.begin() + static_cast<ptrdiff_t>(a),
                                  entries.begin() + static_cast<ptrdiff_t>(middle),
                                  buffer.begin() + static_cast<ptrdiff_t>(at));
      std::copy(entries.begin() + static_cast<ptrdiff_t>(b), entries.begin() + static_cast<ptrdiff_t>(right),
                rest);
    }
    entries.swap(buffer);
  }
}
// Fills the prefixes, if the parts of the keys that decide first are plain and of one type.
bool fill_prefixes(std::vector<SortEntry>& entries) {
  if (entries.empty()) {
    return false;
  }
  const Value first = entries[0].key;
  for (SortEntry& entry : entries) {
    const Value part = leading_part(entry.key);
    if (!are_of_one_type(entry.key, first) || !has_prefix(part) ||
        !are_of_one_type(part, leading_part(first))) {
      return false;
    }
    entry.prefix = prefix_of(part);
  }
  return true;
}
void sort_by_keys(std::vector<SortEntry>& entries) {
  if (!fill_prefixes(entries)) {
    merge_sort(entries, [](const SortEntry& a, const SortEntry& b) { return compare(a.key, b.key) < 0; });
    return;
  }
  if (!entries[0].key.is_object()) {  // the prefixes of numbers are the whole order
    merge_sort(entries, [](const SortEntry& a, const SortEntry& b) { return a.prefix < b.prefix; });
    return;
  }
  merge_sort(entries, [](const SortEntry& a, const SortEntry& b) {
    return a.prefix != b.prefix ? a.prefix < b.prefix : compare(a.key, b.key) < 0;
  });
}
// Without an argument, sorts by <. A function of one parameter returns a key; a function of two parameters
// returns whether a comes before b. An error leaves `items` unchanged.
void sort_items(Thread& thread, std::vector<Value>& items, Value* args, int count) {
  std::vector<SortEntry> entries;
  entries.reserve(items.size());
  std::vector<Ref> keys;
  const Value function = count == 1 ? Value() : args[1];
  const bool compares =
      function.is(Kind::kClosure) && as_object<Closure>(function)->proto->parameters.size() != 1;
  const Proto* const proto = function.is(Kind::kClosure) ? as_object<Closure>(function)->proto : nullptr;
  keys.reserve(count != 1 && !compares ? items.size() : 0);
  for (const Value v : items) {
    if (count != 1 && !compares) {
      thread.native_safepoint(proto);
      keys.push_back(Ref::owned(call_with_element(thread, function, v)));
    }
    entries.push_back({0, keys.empty() ? v : keys.back().get(), v});
  }
  if (compares) {
    merge_sort(entries, [&](const SortEntry& a, const SortEntry& b) {
      thread.native_safepoint(proto);
      const Value pair[] = {a.key, b.key};
      const Ref answer = Ref::owned(thread.call(function, pair, 2));
      return answer.get().is_int() ? answer.get().as_int < 0 : truthy(answer.get());
    });
  } else {
    sort_by_keys(entries);
  }
  std::transform(entries.begin(), entries.end(), items.begin(), [](const SortEntry& e) { return e.item; });
}
// sort(key: f, reverse: true). As in Python, equal elements keep their order when the others are reversed.
void sort_with(Thread& thread, std::vector<Value>& items, const NamedArguments& named) {
  Value args[] = {Value(), named.get("key")};
  const bool reverse = named.is_true("reverse");
  if (reverse) {
    std::reverse(items.begin(), items.end());
  }
  sort_items(thread, items, args, args[1].is_nil() ? 1 : 2);
  if (reverse) {
    std::reverse(items.begin(), items.end());
  }
}
Value sorted(Thread& thread, Value* args, int count) {
  Collected result = collected_elements(thread, args[0]);
  sort_items(thread, result.items(), args, count);
  return result.array();
}
NamedArguments sort_options(const char* function, Value dict, int count) {
  if (count != 2) {
    fail(std::string(function) + "() accepts the names key and reverse only without further arguments");
  }
  return NamedArguments(function, dict, {"key", "reverse"});
}
Value sorted_with(Thread& thread, Value* args, int count) {  // args: the elements, the names
  const NamedArguments named = sort_options("sorted", args[1], count);
  Collected result = collected_elements(thread, args[0]);
  sort_with(thread, result.items(), named);
  return result.array();
}
Value sorted_function_with(Thread& thread, Value* args, int count) {  // args: the names, the elements
  if (count > 1) {
    std::swap(args[0], args[1]);
    const NamedArguments named = sort_options("sorted", args[1], count);
    if (Ref keys = keys_for(args[0], named.get("key")); !keys.get().is_nil()) {
      assign(args[0], keys.take());
    }
  }
  return sorted_with(thread, args, count);
}

// ---- Changing arrays -------------------------------------------------------------------------------------

// A method that changes its receiver returns it, unless it returns the element that it removed.

Value sort(Thread& thread, Value* args, int count) {
  sort_items(thread, own_elements(args[0]).vector(), args, count);
  return retained(args[0]);
}
Value sort_in_place_with(Thread& thread, Value* args, int count) {
  const NamedArguments named = sort_options("sort", args[1], count);
  sort_with(thread, own_elements(args[0]).vector(), named);
  return retained(args[0]);
}
Value push(Thread&, Value* args, int) {
  own_elements(args[0]).push_back(retained(args[1]));
  return retained(args[0]);
}
Value pop(Thread&, Value* args, int count) {
  auto& items = own_elements(args[0]);
  if (items.empty()) {
    return Value();  // nil, for `if let Some(x) = xs.pop()`
  }
  const size_t at = count > 1 ? checked_index(args[1], items.size(), "array") : items.size() - 1;
  return items.take(at);
}
// An index outside the array is its start or end in a program that comes from Python, as there; a negative
// one counts from the end.
Value insertion_index(Thread& thread, Value index, size_t size) {
  if (!index.is_int() || !thread.runs_port()) {
    return index;
  }
  const auto end = static_cast<int64_t>(size);
  return Value::integer(std::clamp<int64_t>(index.as_int < 0 ? index.as_int + end : index.as_int, 0, end));
}
Value insert(Thread& thread, Value* args, int) {
  auto& items = own_elements(args[0]).vector();
  const size_t at = checked_index(insertion_index(thread, args[1], items.size()), items.size() + 1, "array");
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), retained(args[2]));
  return retained(args[0]);
}
Value set_element(Thread&, Value* args, int) {
  auto& items = own_elements(args[0]);
  items.set(checked_index(args[1], items.size(), "array"), retained(args[2]));
  return retained(args[0]);
}
// The index of remove(); its errors have a hint, because in Python the argument is a value.
size_t removal_index(Value index, size_t size) {
  try {
    return checked_index(index, size, "array");
  } catch (SimpleError& error) {
    error.hint = error.hint.empty() ? "remove() removes the element at an index; for a value write "
                                      "xs.remove(xs.index(value))"
                                    : error.hint;
    throw;
  }
}
Value remove(Thread&, Value* args, int) {
  auto& items = own_elements(args[0]);
  return items.take(removal_index(args[1], items.size()));
}
Value pop_front(Thread&, Value* args, int) {
  auto& items = own_elements(args[0]);
  return items.empty() ? Value() : items.take(0);
}
Value push_front(Thread& thread, Value* args, int) {
  Value arguments[] = {args[0], Value::integer(0), args[1]};
  const Value result = insert(thread, arguments, 3);
  args[0] = arguments[0];  // the array, which may have been copied
  return result;
}
Value sort_descending(Thread& thread, Value* args, int count) {
  std::vector<Value>& items = own_elements(args[0]).vector();
  const auto reverse_items = [&] { std::reverse(items.begin(), items.end()); };
  reverse_items();  // so that equal elements keep their order
  try {
    sort_items(thread, items, args, count);
  } catch (...) {
    reverse_items();
    throw;
  }
  reverse_items();
  return retained(args[0]);
}
// `del xs[i]` and `del xs[i:j]`.
Value delete_items(Thread& thread, Value* args, int count) {
  if (!args[1].is(Kind::kSlice)) {
    return remove(thread, args, count);
  }
  const std::vector<size_t> positions = slice_positions(args[1], as_object<Array>(args[0])->items.size());
  auto& items = own_elements(args[0]).vector();
  std::vector<bool> is_deleted(items.size());
  for (const size_t at : positions) {
    is_deleted[at] = true;
  }
  std::vector<Value> remaining, deleted;
  for (size_t at = 0; at < items.size(); ++at) {
    (is_deleted[at] ? deleted : remaining).push_back(items[at]);
  }
  items = std::move(remaining);
  for (const Value v : deleted) {
    release(v);  // after the change: a destructor may read the array
  }
  return retained(args[0]);
}
Value clear(Thread&, Value* args, int) {
  const auto old = own_elements(args[0]).take_all();
  for (const Value v : old) {
    release(v);
  }
  return retained(args[0]);
}
Value reverse(Thread&, Value* args, int) {
  auto& items = own_elements(args[0]).vector();
  std::reverse(items.begin(), items.end());
  return retained(args[0]);
}
Value extend(Thread& thread, Value* args, int) {
  Collected more = collected_elements(thread, args[1]);
  auto& items = own_elements(args[0]);
  for (Value& v : more.items()) {
    items.push_back(std::exchange(v, Value()));
  }
  return retained(args[0]);
}
Value fill(Thread&, Value* args, int) {
  auto& items = own_elements(args[0]);
  for (size_t at = 0; at < items.size(); ++at) {
    items.set(at, retained(args[1]));
  }
  return retained(args[0]);
}
Value swap(Thread&, Value* args, int) {
  auto& items = own_elements(args[0]);
  const size_t a = checked_index(args[1], items.size(), "array"),
               b = checked_index(args[2], items.size(), "array");
  const Value first = retained(items[a]), second = retained(items[b]);
  items.set(a, second);
  items.set(b, first);
  return retained(args[0]);
}
Value truncate(Thread&, Value* args, int) {
  auto& items = own_elements(args[0]);
  const auto length = static_cast<size_t>(std::max<int64_t>(0, to_integer(args[1])));
  while (items.size() > length) {
    release(items.take(items.size() - 1));
  }
  return retained(args[0]);
}

}  // namespace

Ref keys_for(Value iterable, Value key) {
  static const Symbol get = intern("get"), item = intern("__getitem__");
  if (!iterable.is(Kind::kDict) || !key.is(Kind::kBoundMethod)) {
    return {};
  }
  const auto* method = as_object<BoundMethod>(key);
  const bool reads = method->self.is(Kind::kDict) && method->function.is(Kind::kNative) &&
                     (as_object<Native>(method->function)->name == name_of(get) ||
                      as_object<Native>(method->function)->name == name_of(item));
  std::vector<Value> keys;
  for (const auto& entry : as_object<Dict>(iterable)->entries) {
    if (reads && !entry.key.is_missing()) {
      keys.push_back(retained(entry.key));
    }
  }
  return reads ? Ref::owned(make_array(std::move(keys))) : Ref();
}

namespace {

// ---- Functions for any iterable --------------------------------------------------------------------------

Value to_array_function(Thread& thread, Value* args, int count) {
  return count == 0 ? make_array({}) : to_array(thread, args, count);
}
Value to_tuple(Thread& thread, Value* args, int count) {
  if (count == 0) {
    return make_tuple({});
  }
  Collected result = collected_elements(thread, args[0]);
  return make_tuple(std::exchange(result.items(), {}));
}
// enumerate(xs, start): the elements with their numbers; of a value that makes its elements, a generator.
Value enumerate_from(Thread& thread, Value iterable, Value start) {
  if (makes_elements(iterable)) {
    const Value arguments[] = {iterable, start};
    return thread.call(library_function("std/iteration", "enumerate_lazily"), arguments, 2);
  }
  Collected result;
  int64_t at = to_integer(start);
  each_to_end(thread, iterable, [&](Value v) {
    result.add(make_tuple({Value::integer(at++), retained(v)}));
    return true;
  });
  return result.array();
}
Value enumerate_function(Thread& thread, Value* args, int count) {
  return enumerate_from(thread, args[0], count > 1 ? args[1] : Value::integer(0));
}
Value enumerate_with(Thread& thread, Value* args, int) {  // args: the names, the elements
  return enumerate_from(thread, args[1], NamedArguments("enumerate", args[0], {"start"}).get("start"));
}
// zip(a, b, …): tuples of elements at equal places, as many as the shortest has; a generator if one of the
// values makes its elements.
Value zip_all(Thread& thread, Value* args, int count) {
  if (std::any_of(args, args + count, makes_elements)) {
    std::vector<Value> iterables;
    iterables.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      iterables.push_back(retained(args[i]));
    }
    const Ref all = Ref::owned(make_array(std::move(iterables)));
    const Value argument = all.get();
    return thread.call(library_function("std/iteration", "zip_lazily"), &argument, 1);
  }
  std::vector<Collected> columns;
  size_t rows = count == 0 ? 0 : SIZE_MAX;
  for (int i = 0; i < count; ++i) {
    columns.push_back(collected_elements(thread, args[i]));
    rows = std::min(rows, columns.back().items().size());
  }
  Collected result;
  for (size_t row = 0; row < rows; ++row) {
    std::vector<Value> parts;
    parts.reserve(columns.size());
    for (Collected& column : columns) {
      parts.push_back(retained(column.items()[row]));
    }
    result.add(make_tuple(std::move(parts)));
  }
  return result.array();
}

// zip(a, b, strict: true): an error unless all have equally many elements.
Value zip_with(Thread& thread, Value* args, int count) {  // args: the names, the iterables
  if (!NamedArguments("zip", args[0], {"strict"}).is_true("strict")) {
    return zip_all(thread, args + 1, count - 1);
  }
  std::vector<Ref> arrays;
  std::vector<Value> columns;
  for (int i = 1; i < count; ++i) {
    arrays.push_back(Ref::owned(to_array_function(thread, args + i, 1)));
    columns.push_back(arrays.back().get());
    const size_t first = as_object<Array>(columns[0])->items.size(),
                 size = as_object<Array>(columns.back())->items.size();
    if (size != first) {
      fail_value("zip() argument " + std::to_string(i) + " is " + (size < first ? "shorter" : "longer") +
                 " than argument 1");
    }
  }
  return zip_all(thread, columns.data(), count - 1);
}

const NativeEntry kReading[] = {
    {"len", len, 1, 1},
    {"length", len, 1, 1},
    {"is_empty", is_empty, 1, 1},
    {"contains", contains, 2, 2},
    {"map", map, 2, 2},
    {"filter", filter, 2, 2},
    {"reduce", reduce, 2, 3},
    {"fold", reduce, 2, 3},
    {"each", each_fn, 2, 2},
    {"for_each", each_fn, 2, 2},
    {"any", any_fn, 1, 2},
    {"all", all_fn, 1, 2},
    {"find", find, 2, 2},
    {"find_index", find_index, 2, 2},
    {"position", find_index, 2, 2},
    {"take", take, 2, 2},
    {"skip", skip, 2, 2},
    {"drop_first", skip, 2, 2},
    {"take_while", take_while, 2, 2},
    {"skip_while", skip_while, 2, 2},
    {"zip", zip, 2, 2},
    {"enumerate", enumerate, 1, 1},
    {"flat_map", flat_map, 2, 2},
    {"flatten", flatten, 1, 1},
    {"join", join, 1, 2},
    {"to_array", to_array, 1, 1},
    {"to_list", to_array, 1, 1},
    {"collect", to_array, 1, 1},
    {"sorted", sorted, 1, 2, sorted_with},
    {"reversed", reversed, 1, 1},
    {"unique", unique, 1, 1},
    {"sum", sum, 1, 1},
    {"product", product, 1, 1},
    {"min_by", min_by, 2, 2},
    {"max_by", max_by, 2, 2},
    {"group_by", group_by, 2, 2},
    {"partition", partition, 2, 2},
    {"chunks", chunks, 2, 2},
    {"windows", windows, 2, 2},
    {"min", min, 1, 1},
    {"max", max, 1, 1},
    {"count", count_of, 1, 2},
    {"to_string", to_string, 1, 1},
    {"has", contains, 2, 2},
    {"rev", reversed, 1, 1},
    {"drop_while", skip_while, 2, 2},
    {"chunk", chunks, 2, 2},
    {"uniq", unique, 1, 1},
    {"distinct", unique, 1, 1},
    {"count_of", count_of, 2, 2},
    {"min_by_key", min_by, 2, 2},
    {"max_by_key", max_by, 2, 2},
    {"all_truthy", all_fn, 1, 1},
    {"any_truthy", any_fn, 1, 1},
    {"compact", compact, 1, 1},
    {"rotate", rotated, 1, 2},
    {"transpose", transposed, 1, 1},
};
// ---- Tuples with names, as std.collections.namedtuple() makes them ---------------------------------------

const Tuple& named_tuple(Value* args, const char* method) {
  const auto& tuple = *as_object<Tuple>(args[0]);
  if (tuple.names.size() < tuple.items.size() || tuple.names.empty()) {
    fail(std::string("a tuple without names has no method ") + method);
  }
  return tuple;
}
Value names_of_tuple(Thread&, Value* args, int) {
  const Tuple& tuple = named_tuple(args, "_fields");
  std::vector<Value> names;
  for (size_t i = 0; i < tuple.items.size(); ++i) {
    names.push_back(make_text(name_of(tuple.names[i])));
  }
  return make_tuple(std::move(names));
}
Value dict_of_tuple(Thread&, Value* args, int) {
  const Tuple& tuple = named_tuple(args, "_asdict");
  const Ref made = Ref::owned(Value::object(new Dict()));
  for (size_t i = 0; i < tuple.items.size(); ++i) {
    as_object<Dict>(made.get())->set(make_text(name_of(tuple.names[i])), retained(tuple.items[i]));
  }
  return retained(made.get());
}
// _replace(x: 3): the tuple with other values. args: the tuple, the names.
Value replaced_with(Thread&, Value* args, int count) {
  const Tuple& tuple = named_tuple(args, "_replace");
  if (count != 2) {
    fail_arguments("_replace(): the arguments must have names");
  }
  std::vector<Value> items;
  for (const Value item : tuple.items) {
    items.push_back(retained(item));
  }
  Ref made = Ref::owned(make_tuple(std::move(items)));
  as_object<Tuple>(made.get())->names = tuple.names;
  for (const auto& entry : as_object<Dict>(args[1])->entries) {
    const Symbol name = intern(text_of(entry.key));
    const auto found = std::find(tuple.names.begin(), tuple.names.end(), name);
    const auto at = static_cast<size_t>(found - tuple.names.begin());
    if (at >= tuple.items.size()) {
      fail_value("_replace(): the tuple has no field " + name_of(name));
    }
    as_object<Tuple>(made.get())->items.set(at, retained(entry.value));
  }
  return made.take();
}
Value replaced(Thread&, Value* args, int) { return retained(args[0]); }

const NativeEntry kNamedTuples[] = {
    {"_fields", names_of_tuple, 1, 1},
    {"_asdict", dict_of_tuple, 1, 1},
    {"_replace", replaced, 1, 1, replaced_with},
};

const NativeEntry kIndexed[] = {
    {"first", first, 1, 1},       {"last", last, 1, 1},           {"get", get, 2, 3},
    {"index_of", index_of, 2, 2}, {"index", index_or_fail, 2, 4}, {"last_index_of", last_index_of, 2, 2},
    {"slice", slice, 2, 3},       {"concat", concat, 2, 2},       {"clone", array_clone, 1, 1},
    {"copy", array_clone, 1, 1},  {"fetch", get, 3, 3},           {"merge", concat, 2, 2},
};
const NativeEntry kChanging[] = {
    {"push", push, 2, 2},        {"append", push, 2, 2},
    {"pop", pop, 1, 2},          {"insert", insert, 3, 3},
    {"set", set_element, 3, 3},  {"remove", remove, 2, 2},
    {"remove_at", remove, 2, 2}, {"__delitem__", delete_items, 2, 2},
    {"clear", clear, 1, 1},      {"sort", sort, 1, 2, sort_in_place_with},
    {"sort_by", sort, 2, 2},     {"reverse", reverse, 1, 1},
    {"extend", extend, 2, 2},    {"fill", fill, 2, 2},
    {"swap", swap, 3, 3},        {"truncate", truncate, 2, 2},
    {"push_back", push, 2, 2},   {"push_front", push_front, 2, 2},
    {"pop_back", pop, 1, 1},     {"pop_front", pop_front, 1, 1},
    {"sort_by_key", sort, 2, 2}, {"sort_desc", sort_descending, 1, 1},
};
const NativeEntry kRange[] = {
    {"step", step, 2, 2},
    {"step_by", step, 2, 2},
    {"start", range_start, 1, 1},
    {"end", range_end, 1, 1},
};
// Array and List as namespaces, for `Array::from(xs)` of the older dialect.
void install_array_type(const char* name) {
  auto* type = new LoadedModule();
  type->name = name;
  type->state = LoadedModule::State::kReady;
  type->define(intern("from"), Value::object(new Native("from", to_array, 1, 1)));
  type->exports.insert(intern("from"));
  builtins()[intern(name)] = Value::object(type);
}

// Functions whose names are Python's; they are the methods above for any iterable.
const NativeEntry kPythonFunctions[] = {
    {"sorted", sorted, 1, 2, sorted_function_with},
    {"reversed", reversed, 1, 1},
    {"enumerate", enumerate_function, 1, 2, enumerate_with},
    {"zip", zip_all, 0, -1, zip_with},
    {"any", any_fn, 1, 1},
    {"all", all_fn, 1, 1},
    {"list", to_array_function, 0, 1},
    {"tuple", to_tuple, 0, 1},
};

}  // namespace

void install_collection_methods() {
  add_functions(kPythonFunctions);
  for (const Kind kind : {Kind::kArray, Kind::kTuple, Kind::kRange, Kind::kDict}) {
    add_methods(kind, kReading);
  }
  for (const Kind kind : {Kind::kArray, Kind::kTuple}) {
    add_methods(kind, kIndexed);
  }
  add_methods(Kind::kTuple, kNamedTuples);
  add_methods(Kind::kArray, kChanging);
  add_methods(Kind::kRange, kRange);
  install_array_type("Array");
  install_array_type("List");
}

}  // namespace spl
