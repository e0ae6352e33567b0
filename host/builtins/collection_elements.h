// What the methods of collections share: elements, calls of functions with them, and collected results.
#pragma once

#include <utility>
#include <vector>

#include "host/vm/thread.h"

namespace spl {

inline const Elements& elements_of(Value v) {
  return v.is(Kind::kTuple) ? as_object<Tuple>(v)->items : as_object<Array>(v)->items;
}

inline Elements& own_elements(Value& v) {
  make_unique(v);
  return as_object<Array>(v)->items;
}

/// Passes the elements of a tuple as arguments if the function has that many parameters: `d.map(\k, v: …)`.
inline Value call_with_element(Thread& thread, Value f, Value x) {
  if (x.is(Kind::kTuple) && f.is(Kind::kClosure)) {
    const auto& parts = as_object<Tuple>(x)->items;
    if (parts.size() > 1 && as_object<Closure>(f)->proto->parameters.size() == parts.size()) {
      return thread.call(f, parts.data(), static_cast<int>(parts.size()));
    }
  }
  return thread.call(f, &x, 1);
}

inline bool holds_for(Thread& thread, Value f, Value x) {
  const Ref result = Ref::owned(call_with_element(thread, f, x));
  return truthy(result.get());
}

/// Whether the elements are made when they are asked for, as those of a generator or a DataLoader.
inline bool makes_elements(Value v) {
  return v.is(Kind::kGenerator) || v.is(Kind::kIterator) || v.is(Kind::kInstance);
}

/// Iterates over all elements; fails for a range without an end.
template <class Body>
void each_to_end(Thread& thread, Value iterable, Body&& body) {
  if (iterable.is(Kind::kRange) && as_object<Range>(iterable)->end.is_nil()) {
    fail("the range must have an end");
  }
  thread.each(iterable, body);
}

/// Whether the range has an end and a sum of integers, which is then in `total`. Fails if it needs more than
/// 64 bits.
inline bool sum_of_range(Value iterable, int64_t& total) {
  if (!iterable.is(Kind::kRange) || !as_object<Range>(iterable)->start.is_int() ||
      !as_object<Range>(iterable)->end.is_int()) {
    return false;
  }
  const auto* range = as_object<Range>(iterable);
  __extension__ using Wide = __int128;
  const Wide first = range->start.as_int, last = Wide{range->end.as_int} - (range->inclusive ? 0 : 1);
  const Wide count = last < first ? 0 : last - first + 1;
  Wide sum = 0;
  const bool is_lost = count % 2 == 0 ? __builtin_mul_overflow(count / 2, first + last, &sum)
                                      : __builtin_mul_overflow(count, (first + last) / 2, &sum);
  total = static_cast<int64_t>(sum);
  if (is_lost || total != sum) {
    fail("sum: the sum of the range does not fit into an i64");
  }
  return true;
}

/// Collects results, and releases them if a later call fails.
class Collected {
 public:
  Collected() = default;
  Collected(Collected&&) = default;
  ~Collected() {
    for (const Value v : items_) {
      release(v);
    }
  }
  void add(Value owned) { items_.push_back(owned); }
  /// Reserves memory for one result for each element, where their number is known.
  void reserve_for(Value iterable) {
    if (iterable.is(Kind::kArray) || iterable.is(Kind::kTuple)) {
      items_.reserve(elements_of(iterable).size());
    }
  }
  Value array() { return make_array(std::exchange(items_, {})); }
  std::vector<Value>& items() { return items_; }

 private:
  std::vector<Value> items_;
};

inline Collected collected_elements(Thread& thread, Value iterable) {
  Collected collected;
  collected.reserve_for(iterable);
  each_to_end(thread, iterable, [&](Value v) {
    collected.add(retained(v));
    return true;
  });
  return collected;
}

/// The keys of a dict for a key function that is a dict's get() or __getitem__(), as in max(d, key: d.get);
/// nil for other values, whose elements count.
Ref keys_for(Value iterable, Value key);

}  // namespace spl
