// Converts between values and C's words: integers with range checks, text without NUL, arrays item by item.
#include "marshal.h"

#include <cstdlib>
#include <limits>

#include "../values/error.h"

namespace spl {
namespace {

[[noreturn]] void refuse(const Extern& function, size_t position, Value value, const char* wanted) {
  fail(function.name + ": argument " + std::to_string(position + 1) + " must be " + wanted + ", got " + type_name(value));
}

const char* c_text(const Extern& function, Value value) {
  const std::string& text = text_of(value);
  if (text.find('\0') != std::string::npos) fail(function.name + ": text with a NUL character cannot be passed to native code");
  return text.c_str();
}

SplArray* array_to_native(const Extern& function, size_t position, Value value);

SplValue item_to_native(const Extern& function, size_t position, Value value) {
  SplValue item{};
  if (value.is_nil()) {
    item.tag = SPL_NIL;
  } else if (value.is_bool()) {
    item.tag = SPL_BOOL;
    item.as_bool = value.as_bool;
  } else if (value.is_int()) {
    item.tag = SPL_INT;
    item.as_int = value.as_int;
  } else if (value.is_float()) {
    item.tag = SPL_FLOAT;
    item.as_float = value.as_float;
  } else if (value.is(Kind::kText)) {
    item.tag = SPL_STRING;
    item.as_string = spl_str_new(c_text(function, value));
  } else if (value.is(Kind::kArray)) {
    item.tag = SPL_ARRAY;
    item.as_array = array_to_native(function, position, value);
  } else {
    refuse(function, position, value, "an array of numbers, bools, text or arrays");
  }
  return item;
}

struct FreeArray {
  void operator()(SplArray* array) const { spl_array_free(array); }
};

SplArray* array_to_native(const Extern& function, size_t position, Value value) {
  std::unique_ptr<SplArray, FreeArray> made(spl_array_new());
  for (Value item : as_object<Array>(value)->items) spl_array_push(made.get(), item_to_native(function, position, item));
  return made.release();
}

Value array_from_native(const SplArray* array);

Value item_from_native(const SplValue& item) {
  switch (item.tag) {
    case SPL_BOOL: return Value::boolean(item.as_bool);
    case SPL_INT: return Value::integer(item.as_int);
    case SPL_FLOAT: return Value::number(item.as_float);
    case SPL_STRING: return make_text(item.as_string);
    case SPL_ARRAY: return array_from_native(item.as_array);
    default: return Value::nil();
  }
}

Value array_from_native(const SplArray* array) {
  std::vector<Value> items;
  for (int64_t i = 0; i < spl_array_len(array); ++i) items.push_back(item_from_native(array->items[i]));
  return make_array(std::move(items));
}

int64_t integer(const Extern& function, size_t position, Value value, NativeType type) {
  if (!value.is_int()) refuse(function, position, value, "an integer");
  const bool fits = value.as_int >= std::numeric_limits<int32_t>::min() && value.as_int <= std::numeric_limits<int32_t>::max();
  if (type == NativeType::kInt32 && !fits) {
    fail(function.name + ": argument " + std::to_string(position + 1) + " is out of the range of i32: " + std::to_string(value.as_int));
  }
  return value.as_int;
}

}  // namespace

NativeWord to_native(const Extern& function, size_t position, Value value) {
  NativeWord word{};
  switch (function.parameters[position]) {
    case NativeType::kVoid: break;
    case NativeType::kInt:
    case NativeType::kInt32: word.integer = integer(function, position, value, function.parameters[position]); break;
    case NativeType::kBool:
      if (!value.is_bool()) refuse(function, position, value, "a bool");
      word.integer = value.as_bool ? 1 : 0;
      break;
    case NativeType::kFloat:
    case NativeType::kFloat32:
      if (!value.is_number()) refuse(function, position, value, "a number");
      if (function.parameters[position] == NativeType::kFloat) {
        word.real = value.to_double();
      } else {
        word.real32 = static_cast<float>(value.to_double());
      }
      break;
    case NativeType::kText:
      if (!value.is(Kind::kText)) refuse(function, position, value, "text");
      word.text = c_text(function, value);
      break;
    case NativeType::kArray:
      if (!value.is(Kind::kArray)) refuse(function, position, value, "an array");
      word.array = array_to_native(function, position, value);
      break;
  }
  return word;
}

Value from_native(const Extern& function, NativeWord result) {
  switch (function.result) {
    case NativeType::kVoid: return Value::nil();
    case NativeType::kInt: return Value::integer(result.integer);
    case NativeType::kInt32: return Value::integer(static_cast<int32_t>(result.integer));
    case NativeType::kBool: return Value::boolean((result.integer & 0xff) != 0);
    case NativeType::kFloat: return Value::number(result.real);
    case NativeType::kFloat32: return Value::number(static_cast<double>(result.real32));
    case NativeType::kText: {
      if (result.text == nullptr) return function.optional_result ? Value::nil() : make_text("");
      Value text = make_text(result.text);
      std::free(const_cast<char*>(result.text));  // C gave it away
      return text;
    }
    case NativeType::kArray: {
      Value array = array_from_native(result.array);
      spl_array_free(result.array);
      return array;
    }
  }
  return Value::nil();
}

}  // namespace spl
