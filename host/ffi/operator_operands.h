// The arguments of a native operator in the form of the C ABI, on the C++ stack.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "abi/include/simple_torch/spl_runtime.h"
#include "host/ffi/conversion.h"
#include "host/values/direct_calls.h"
#include "host/vm/thread.h"

namespace spl {

inline constexpr uint32_t kMaxOperands = 12;
inline constexpr size_t kMaxItems = 96;   // of all arrays among the arguments
inline constexpr size_t kMaxArrays = 12;  // that the arguments may contain

/// The handle of an instance whose class is passed to operators by the letter t; 0 without one.
inline int64_t tensor_handle(Value value) {
  if (!value.is(Kind::kInstance)) {
    return 0;
  }
  auto* instance = as_object<Instance>(value);
  const DirectCalls* direct = instance->record->direct;
  const bool has_handle = direct != nullptr && direct->letter == 't' && instance->fields()[0].is_int();
  return has_handle && instance->fields()[0].as_int > 0 ? instance->fields()[0].as_int : 0;
}

inline SplValue integer_value(int64_t integer) {
  SplValue value{};
  value.tag = SPL_INT;
  value.as_int = integer;
  return value;
}

/// Values in native form, borrowed from the caller's registers. Every function returns false where a value
/// has no native form or there are too many.
class Operands {
 public:
  bool add(char letter, const SplValue& value) {
    if (count_ == kMaxOperands) {
      return false;
    }
    letters_[count_] = letter;
    values_[count_] = value;
    letters_[++count_] = 0;
    return true;
  }

  /// An argument of an operator: v plain, t a tensor, l an array of tensors, or the letter of its class.
  bool add_argument(Value value) {
    SplValue packed{};
    if (scalar_to_native(packed, value)) {
      return add('v', packed);
    }
    if (!value.is_object()) {
      return false;
    }
    switch (value.as_object->kind) {
      case Kind::kInstance:
        return add_instance(value);
      case Kind::kText:
        packed.tag = SPL_STRING;
        packed.as_string = const_cast<char*>(text_of(value).c_str());  // the callee does not write to it
        return std::strlen(packed.as_string) == text_of(value).size() && add('v', packed);
      case Kind::kArray:
        return add_array(as_object<Array>(value)->items);
      case Kind::kTuple:
        return add_array(as_object<Tuple>(value)->items);
      default:
        return false;
    }
  }

  /// A subscript: v an integer, bool or nil, s a slice, e an ellipsis, t a tensor.
  bool add_subscript(Value key) {
    SplValue packed{};
    if (key.is_int() || key.is_bool() || key.is_nil()) {
      return scalar_to_native(packed, key) && add('v', packed);
    }
    if (!key.is_object()) {
      return false;
    }
    switch (key.as_object->kind) {
      case Kind::kSlice: {
        const auto* slice = as_object<Slice>(key);
        return add_slice(slice->start, slice->stop, slice->step);
      }
      case Kind::kRange: {
        const auto* range = as_object<Range>(key);
        if (range->from_function || (range->inclusive && !range->end.is_int())) {
          return false;
        }
        const bool to_end = range->inclusive && (range->end.as_int == -1 || range->end.as_int == INT64_MAX);
        const Value stop = to_end             ? Value()
                           : range->inclusive ? Value::integer(range->end.as_int + 1)
                                              : range->end;
        return add_slice(range->start, stop, Value());
      }
      case Kind::kEnumValue:
        return as_object<EnumValue>(key)->type == core_types().ellipsis && add('e', packed);
      case Kind::kInstance:
        return tensor_handle(key) != 0 && add('t', integer_value(tensor_handle(key)));
      default:
        return false;
    }
  }

  bool add_subscripts(Value key) {
    if (!key.is(Kind::kTuple)) {
      return add_subscript(key);
    }
    for (const Value each : as_object<Tuple>(key)->items) {
      if (!add_subscript(each)) {
        return false;
      }
    }
    return true;
  }

  const char* letters() const { return letters_.data(); }
  const SplArray* values() {
    array_ = {values_.data(), static_cast<int64_t>(count_), kMaxOperands};
    return &array_;
  }

 private:
  bool add_instance(Value value) {
    if (const int64_t handle = tensor_handle(value); handle != 0) {
      return add('t', integer_value(handle));
    }
    auto* instance = as_object<Instance>(value);
    const Record& record = *instance->record;
    if (record.packed_field < 0) {
      return false;
    }
    SplValue packed{};
    return scalar_to_native(packed, instance->fields()[record.packed_field]) &&
           add(record.packed_letter, packed);
  }

  // Tensors only, or numbers only.
  bool add_array(const Elements& items) {
    SplValue* at = reserve_items(items.size());
    if (at == nullptr) {
      return false;
    }
    const bool are_tensors = !items.empty() && items.front().is(Kind::kInstance);
    for (const Value item : items) {
      if (are_tensors) {
        const int64_t handle = tensor_handle(item);
        if (handle == 0) {
          return false;
        }
        *at++ = integer_value(handle);
      } else if (!(item.is_int() || item.is_float() || item.is_bool()) || !scalar_to_native(*at++, item)) {
        return false;
      }
    }
    return add(are_tensors ? 'l' : 'v', last_array());
  }

  bool add_slice(Value start, Value stop, Value step) {
    SplValue* at = reserve_items(3);
    if (at == nullptr) {
      return false;
    }
    for (const Value part : {start, stop, step}) {
      if (!(part.is_int() || part.is_nil()) || !scalar_to_native(*at++, part)) {
        return false;
      }
    }
    return add('s', last_array());
  }

  // The items of a new array; null if there are too many.
  SplValue* reserve_items(size_t count) {
    if (used_items_ + count > kMaxItems || used_arrays_ == kMaxArrays) {
      return nullptr;
    }
    SplValue* items = items_.data() + used_items_;
    arrays_[used_arrays_++] = {items, static_cast<int64_t>(count), static_cast<int64_t>(count)};
    used_items_ += count;
    return items;
  }

  SplValue last_array() {
    SplValue value{};
    value.tag = SPL_ARRAY;
    value.as_array = &arrays_[used_arrays_ - 1];
    return value;
  }

  size_t count_ = 0, used_items_ = 0, used_arrays_ = 0;
  std::array<char, kMaxOperands + 1> letters_{};
  std::array<SplValue, kMaxOperands> values_;
  std::array<SplValue, kMaxItems> items_;
  std::array<SplArray, kMaxArrays> arrays_;
  SplArray array_{};
};

/// The names of the named arguments, which come last.
class OperandNames {
 public:
  bool add(const std::string& name) {
    if (count_ == kMaxOperands || std::strlen(name.c_str()) != name.size()) {
      return false;
    }
    for (size_t i = 0; i < count_; ++i) {
      if (name == items_[i].as_string) {
        return false;
      }
    }
    items_[count_] = {};
    items_[count_].tag = SPL_STRING;
    items_[count_++].as_string = const_cast<char*>(name.c_str());  // the callee does not write to it
    return true;
  }
  bool empty() const { return count_ == 0; }
  const SplArray* array() {
    array_ = {items_.data(), static_cast<int64_t>(count_), kMaxOperands};
    return &array_;
  }

 private:
  size_t count_ = 0;
  std::array<SplValue, kMaxOperands> items_;
  SplArray array_{};
};

}  // namespace spl
