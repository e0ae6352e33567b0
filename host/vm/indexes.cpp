// Access to elements and slices.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "host/syntax/utf8.h"
#include "host/values/conversions.h"
#include "host/values/module.h"
#include "host/values/sized.h"
#include "host/vm/machine_hooks.h"
#include "host/vm/protocols.h"
#include "host/vm/thread.h"

namespace spl {

size_t checked_index(Value index, size_t size, const char* what) {
  const Ref integer = index.is(Kind::kInstance) ? current_thread().with_integers(index) : Ref();
  index = plain(index.is(Kind::kInstance) ? integer.get() : index);
  if (index.is_bool()) {
    index = Value::integer(index.as_bool ? 1 : 0);  // [no, yes][a > b], as in Python
  }
  if (!index.is_int()) {
    fail(std::string(what) + " index must be an integer, got " + type_name(index));
  }
  const int64_t at = index.as_int < 0 ? index.as_int + static_cast<int64_t>(size) : index.as_int;
  if (at < 0 || at >= static_cast<int64_t>(size)) {
    SimpleError error("index " + std::to_string(index.as_int) + " is out of range for " + what +
                      " of length " + std::to_string(size));
    error.error_class = ErrorClass::kIndexOutOfRange;
    throw error;
  }
  return static_cast<size_t>(at);
}

namespace {

/// The indices first, first + step, … before last.
struct SliceBounds {
  int64_t first, last, step;
};

SliceBounds bounds_of(Value start, Value stop, Value step, int64_t size) {
  for (Value* part : {&start, &stop, &step}) {
    if (!part->is_nil() && !is_any_integer(*part)) {
      fail("slice indices must be integers, got " + type_name(*part));
    }
    *part = plain(*part);
  }
  const int64_t by = step.is_nil() ? 1 : std::clamp<int64_t>(step.as_int, -size - 1, size + 1);
  if (by == 0) {
    fail("slice step cannot be zero");
  }
  const auto clamp = [&](Value part, int64_t otherwise) {
    if (part.is_nil()) {
      return otherwise;
    }
    const int64_t at = part.as_int < 0 ? part.as_int + size : part.as_int;
    return by > 0 ? std::clamp<int64_t>(at, 0, size) : std::clamp<int64_t>(at, -1, size - 1);
  };
  return {clamp(start, by > 0 ? 0 : size - 1), clamp(stop, by > 0 ? size : -1), by};
}

// Calls pick(i) for every index that start:stop:step selects.
template <class Pick>
void for_slice(Value start, Value stop, Value step, int64_t size, Pick&& pick) {
  const SliceBounds bounds = bounds_of(start, stop, step, size);
  for (int64_t at = bounds.first; bounds.step > 0 ? at < bounds.last : at > bounds.last; at += bounds.step) {
    pick(at);
  }
}

// The end of a range as that of a slice.
Value stop_of(const Range& range) {
  if (!range.inclusive || !range.end.is_int()) {
    return range.end;
  }
  return range.end.as_int == -1 || range.end.as_int == INT64_MAX ? Value()
                                                                 : Value::integer(range.end.as_int + 1);
}

Elements picked_elements(const Elements& items, Value start, Value stop, Value step) {
  const SliceBounds bounds = bounds_of(start, stop, step, std::ssize(items));
  if (bounds.step == 1) {
    return items.slice(static_cast<size_t>(bounds.first),
                       static_cast<size_t>(std::max<int64_t>(0, bounds.last - bounds.first)));
  }
  std::vector<Value> picked;
  for_slice(start, stop, step, std::ssize(items),
            [&](int64_t at) { picked.push_back(retained(items[static_cast<size_t>(at)])); });
  return Elements(std::move(picked));
}

Value sliced(Value object, Value start, Value stop, Value step) {
  if (object.is(Kind::kText)) {
    const std::string& text = text_of(object);
    const auto* characters = as_object<Text>(object);
    const SliceBounds bounds = bounds_of(start, stop, step, static_cast<int64_t>(characters->length()));
    if (bounds.step == 1) {
      const size_t first = characters->byte_of(static_cast<size_t>(bounds.first));
      const size_t last = characters->byte_of(static_cast<size_t>(std::max(bounds.first, bounds.last)));
      return make_text(text.substr(first, last - first));
    }
    std::string part;
    for_slice(start, stop, step, static_cast<int64_t>(characters->length()), [&](int64_t which) {
      const size_t at = characters->byte_of(static_cast<size_t>(which));
      part.append(text, at, utf8_step(text, at));
    });
    return make_text(std::move(part));
  }
  const bool is_array = object.is(Kind::kArray);
  const auto& items = is_array ? as_object<Array>(object)->items : as_object<Tuple>(object)->items;
  Elements picked = picked_elements(items, start, stop, step);
  return Value::object(is_array ? static_cast<Object*>(new Array(std::move(picked)))
                                : new Tuple(std::move(picked)));
}

bool may_hold_instance(Value index) { return index.is(Kind::kInstance) || index.is(Kind::kSlice); }

}  // namespace

Ref Thread::with_integers(Value index) {
  static const Symbol hook = intern("__index__");
  if (index.is(Kind::kSlice)) {
    const auto* slice = as_object<Slice>(index);
    auto* integers = new Slice();
    Ref owner = Ref::owned(Value::object(integers));
    integers->start = with_integers(slice->start).take();
    integers->stop = with_integers(slice->stop).take();
    integers->step = with_integers(slice->step).take();
    return owner;
  }
  const Method* method = index.is(Kind::kInstance) ? find_method(index, hook) : nullptr;
  return method == nullptr ? Ref::shared(index) : Ref::owned(call_method_of(index, *method, nullptr, 0));
}

void Thread::check_key(Value dict, Value key) {
  if (as_object<Dict>(dict)->find(key) != nullptr) {
    return;
  }
  const Ref missing =
      Ref::owned(call(machine_hooks().library_function("std/exceptions", "missing_key"), &key, 1));
}

std::vector<size_t> slice_positions(Value slice, size_t size) {
  const Ref integers = current_thread().with_integers(slice);
  const auto* bounds = as_object<Slice>(integers.get());
  std::vector<size_t> positions;
  for_slice(bounds->start, bounds->stop, bounds->step, static_cast<int64_t>(size),
            [&](int64_t at) { positions.push_back(static_cast<size_t>(at)); });
  return positions;
}

Value Thread::range_of(Value start, Value end, bool inclusive) {
  if (!start.is(Kind::kInstance) && !end.is(Kind::kInstance)) {
    return make_range(start, end, inclusive);
  }
  const Ref first = with_integers(start), last = with_integers(end);
  return make_range(first.get(), last.get(), inclusive);
}

std::string Thread::missing_key_hint() const {
  constexpr std::ptrdiff_t kNear = 6;  // instructions before the failing one, which compute its operands
  if (frame_count_ == 0) {
    return "";
  }
  const Frame& frame = frames_[frame_count_ - 1];
  const Instruction* const begin = frame.proto->code.data();
  const Instruction& current = frame.pc[-1];
  const bool is_update = current.op == Op::kUpdateK;
  const bool is_operator = is_update || (current.op >= Op::kAdd && current.op <= Op::kRemainderK);
  if (!is_operator && current.op != Op::kGetIndex) {
    return "";
  }
  const Value* const registers = stack_ + frame.base;
  for (const Instruction* at = &current - 1; at > begin && frame.pc - at <= kNear; --at) {
    const Instruction& load = at[-1];
    const bool is_operand = is_update ? at->a == current.a : at->a == current.b || at->a == current.c;
    const bool is_of_field = at->op == Op::kFieldElement;
    // The result may have replaced the object or the subscript.
    if ((at->op != Op::kGetIndex && !is_of_field) || !is_operand || !registers[at->a].is_nil()) {
      continue;
    }
    const uint16_t index = is_of_field ? at[1].b : at->c;
    const bool is_constant = load.op == Op::kLoadConstant && load.a == index;
    const Value key = is_constant ? frame.proto->constants[load.b] : registers[index];
    if (!key.is_nil()) {
      return "the value of [" + (key.is(Kind::kText) ? "'" + text_of(key) + "'" : display(key)) +
             "] is nil, as that of a key which a dict does not have";
    }
  }
  return "";
}

Value Thread::get_index(Value object, Value index) {
  if (object.is(Kind::kInstance)) {
    static const Symbol hook = intern("__getitem__");
    const Method* method = find_method(object, hook);
    if (method == nullptr) {
      fail(type_name(object) + " cannot be indexed: it has no __getitem__");
    }
    const Proto& proto = *as_object<Closure>(method->function)->proto;
    if (proto.operator_call != nullptr) {
      if (const Value item = machine_hooks().get_item(proto, object, index); !item.is_missing()) {
        return item;
      }
    }
    return call_method_of(object, *method, &index, 1);
  }
  if (object.is(Kind::kDict)) {
    const Value* found = as_object<Dict>(object)->find(index);
    return found == nullptr ? Value() : retained(*found);
  }
  if (object.is(Kind::kEnum) && index.is(Kind::kText)) {  // `Color["RED"]`
    const Enum& type = *as_object<Enum>(object);
    const int variant = type.index_of(intern(text_of(index)));
    if (variant < 0 || type.variants[static_cast<size_t>(variant)].arity != 0) {
      fail(name_of(type.name) + " has no member " + representation(index));
    }
    return retained(type.variants[static_cast<size_t>(variant)].singleton);
  }
  const Ref integers = may_hold_instance(index) ? with_integers(index) : Ref::shared(index);
  index = integers.get();
  const bool sequence = object.is(Kind::kArray) || object.is(Kind::kTuple) || object.is(Kind::kText);
  if (sequence && index.is(Kind::kSlice)) {
    const auto* slice = as_object<Slice>(index);
    return sliced(object, slice->start, slice->stop, slice->step);
  }
  if (sequence && index.is(Kind::kRange)) {
    const auto* range = as_object<Range>(index);
    return sliced(object, range->start, stop_of(*range), Value());
  }
  if (object.is(Kind::kArray)) {
    const auto& items = as_object<Array>(object)->items;
    return retained(items[checked_index(index, items.size(), "array")]);
  }
  if (object.is(Kind::kTuple)) {
    const auto& items = as_object<Tuple>(object)->items;
    return retained(items[checked_index(index, items.size(), "tuple")]);
  }
  if (object.is(Kind::kText)) {
    const std::string& text = text_of(object);
    const auto* characters = as_object<Text>(object);
    const size_t at = characters->byte_of(checked_index(index, characters->length(), "text"));
    return make_character(text, at, utf8_step(text, at));
  }
  if (object.is(Kind::kRange) && (index.is(Kind::kSlice) || index.is(Kind::kRange))) {
    const auto* range = as_object<Range>(object);
    if (range->end.is_nil()) {
      fail("a range without an end has no slices");
    }
    const Ref all =
        Ref::owned(integers_with_step(to_integer(range->start), to_integer(range->end), 1, range->inclusive));
    return get_index(all.get(), index);
  }
  if (object.is(Kind::kRange) && is_any_integer(index)) {
    const auto* range = as_object<Range>(object);
    return Value::integer(range->start.as_int + static_cast<int64_t>(checked_index(
                                                    index, static_cast<size_t>(length(object)), "range")));
  }
  fail(type_name(object) + " cannot be indexed", object.is_nil() ? missing_key_hint() : "");
}

namespace {

// items[start:stop:step] = values: a slice without a step may change the length.
void set_slice(std::vector<Value>& items, Value start, Value stop, Value step, std::vector<Value> values) {
  const SliceBounds bounds = bounds_of(start, stop, step, std::ssize(items));
  if (bounds.step == 1) {
    const auto first = items.begin() + bounds.first,
               last = items.begin() + std::max(bounds.first, bounds.last);
    std::vector<Value> replaced(first, last);
    items.insert(items.erase(first, last), values.begin(), values.end());
    std::for_each(replaced.begin(), replaced.end(), release);
    return;
  }
  std::vector<int64_t> positions;
  for_slice(start, stop, step, std::ssize(items), [&](int64_t at) { positions.push_back(at); });
  if (positions.size() != values.size()) {
    std::for_each(values.begin(), values.end(), release);
    fail("cannot assign " + std::to_string(values.size()) + " values to a slice of " +
         std::to_string(positions.size()) + " elements with a step");
  }
  for (size_t i = 0; i < values.size(); ++i) {
    assign(items[static_cast<size_t>(positions[i])], values[i]);
  }
}

std::vector<Value> items_to_assign(Thread& thread, Value value) {
  const Ref items = Ref::owned(make_array({}));
  thread.each(value, [&](Value item) {
    as_object<Array>(items.get())->items.push_back(retained(item));
    return true;
  });
  return as_object<Array>(items.get())->items.take_all();
}

}  // namespace

void Thread::set_index(Value& object, Value index, Value owned) {
  Ref value = Ref::owned(owned);
  if (object.is(Kind::kInstance)) {
    static const Symbol hook = intern("__setitem__");
    const Method* method = find_method(object, hook);
    if (method == nullptr) {
      fail("elements of " + type_name(object) + " cannot be assigned to: it has no __setitem__");
    }
    const Proto& proto = *as_object<Closure>(method->function)->proto;
    if (proto.operator_call != nullptr && machine_hooks().set_item(proto, object, index, value.get())) {
      return;
    }
    const Value args[] = {index, value.get()};
    release(call_method_of(object, *method, args, 2));
    return;
  }
  if (object.is(Kind::kDict)) {
    make_unique(object);
    if (has_shape(object)) {
      admit(object, value.slot(), index);
    }
    as_object<Dict>(object)->set(retained(index), value.take());
    return;
  }
  const Ref integer = may_hold_instance(index) ? with_integers(index) : Ref::shared(index);
  index = integer.get();
  if (object.is(Kind::kArray) && (index.is(Kind::kSlice) || index.is(Kind::kRange))) {
    std::vector<Value> values = items_to_assign(*this, value.get());
    make_unique(object);
    for (size_t i = 0; has_shape(object) && i < values.size(); ++i) {
      admit(object, values[i]);
    }
    auto& items = as_object<Array>(object)->items.vector();
    if (index.is(Kind::kSlice)) {
      const auto* slice = as_object<Slice>(index);
      set_slice(items, slice->start, slice->stop, slice->step, std::move(values));
    } else {
      const auto* range = as_object<Range>(index);
      set_slice(items, range->start, stop_of(*range), Value(), std::move(values));
    }
    return;
  }
  if (object.is(Kind::kArray)) {
    make_unique(object);
    auto& items = as_object<Array>(object)->items;
    const size_t at = checked_index(index, items.size(), "array");
    if (has_shape(object)) {
      admit(object, value.slot());
    }
    items.set(at, value.take());
    return;
  }
  if (object.is(Kind::kTuple)) {
    make_unique(object);
    auto& items = as_object<Tuple>(object)->items;
    const size_t at = checked_index(index, items.size(), "tuple");
    if (has_shape(object)) {
      admit(object, value.slot(), Value::integer(static_cast<int64_t>(at)));
    }
    items.set(at, value.take());
    return;
  }
  fail("elements of " + type_name(object) + " cannot be assigned to");
}

}  // namespace spl
