// Conversion of values between Simple and C.
#include "host/ffi/conversion.h"

#include <climits>
#include <cstdlib>
#include <cstring>

#include "host/ffi/callback.h"
#include "host/values/error.h"
#include "host/values/object_hooks.h"
#include "host/values/sized.h"

namespace spl {

namespace {

ffi_type* ffi_type_of(NativeType type) {
  switch (type) {
    case NativeType::kVoid:
      return &ffi_type_void;
    case NativeType::kInt:
      return &ffi_type_sint64;
    case NativeType::kInt32:
      return &ffi_type_sint32;
    case NativeType::kFloat:
      return &ffi_type_double;
    case NativeType::kFloat32:
      return &ffi_type_float;
    case NativeType::kBool:
      return &ffi_type_uint8;
    case NativeType::kText:
    case NativeType::kArray:
    case NativeType::kFunction:
      break;
  }
  return &ffi_type_pointer;
}

}  // namespace

bool scalar_to_native(SplValue& out, Value v) {
  switch (v.tag) {
    case Tag::kNil:
    case Tag::kMissing:
      out.tag = SPL_NIL;
      return true;
    case Tag::kBool:
      out.tag = SPL_BOOL;
      out.as_bool = v.as_bool;
      return true;
    case Tag::kInt:
      out.tag = SPL_INT;
      out.as_int = v.as_int;
      return true;
    case Tag::kFloat:
      out.tag = SPL_FLOAT;
      out.as_float = v.as_float;
      return true;
    default:
      if (!is_none(v)) {
        return false;
      }
      out.tag = SPL_NIL;
      return true;
  }
}

const std::string& text_for_native(Value v) {
  const std::string& text = text_of(v);
  if (text.find('\0') != std::string::npos) {
    fail("a text with a NUL character cannot be passed to native code");
  }
  return text;
}

ffi_cif* call_interface(const Signature& signature) {
  auto interface = std::make_unique<ffi_cif>();
  auto types = std::make_unique<std::vector<ffi_type*>>();
  for (const NativeType type : signature.parameters) {
    types->push_back(ffi_type_of(type));
  }
  if (ffi_prep_cif(interface.get(), FFI_DEFAULT_ABI, static_cast<unsigned>(types->size()),
                   ffi_type_of(signature.result), types->data()) != FFI_OK) {
    return nullptr;
  }
  static_cast<void>(types.release());  // owned by the interface
  return interface.release();
}

Ref native_form_of(Value v) {
  return Ref::owned(object_hooks().call_method(v, *as_object<Instance>(v)->record->native_form, nullptr, 0));
}

namespace {

SplValue to_native(Value v);

// The arrays are those of spl_runtime.cpp, which frees them.
void reserve(SplArray& array, size_t count) {
  array.items = static_cast<SplValue*>(std::malloc((count + 1) * sizeof(SplValue)));
  if (array.items == nullptr) {
    throw std::bad_alloc();
  }
  array.cap = static_cast<int64_t>(count) + 1;
}

SplArray* array_to_native(const Elements& items) {
  SplArray* array = spl_array_new();
  try {
    reserve(*array, items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      SplValue& out = array->items[i];
      out = SplValue{};
      if (!scalar_to_native(out, items[i])) [[unlikely]] {
        out = to_native(items[i]);
      }
      ++array->len;
    }
  } catch (...) {
    spl_array_free(array);
    throw;
  }
  return array;
}

SplValue to_native(Value v) {
  v = plain(v);
  SplValue out{};
  if (scalar_to_native(out, v)) {
    return out;
  }
  if (v.is(Kind::kText)) {
    out.tag = SPL_STRING;
    out.as_string = spl_str_new(text_for_native(v).c_str());
    return out;
  }
  if (v.is(Kind::kArray) || v.is(Kind::kTuple)) {
    out.tag = SPL_ARRAY;
    out.as_array =
        array_to_native(v.is(Kind::kArray) ? as_object<Array>(v)->items : as_object<Tuple>(v)->items);
    return out;
  }
  if (has_native_form(v)) {
    const Ref form = native_form_of(v);
    if (!form.get().is(Kind::kInstance)) {  // a handle would be released before the call
      return to_native(form.get());
    }
  }
  fail("a value of type " + type_name(v) + " cannot be passed to native code");
}

Value array_from_native(const SplArray* array) {
  const int64_t count = spl_array_len(array);
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const SplValue item = spl_array_get(array, i);
    switch (item.tag) {
      case SPL_BOOL:
        items.push_back(Value::boolean(item.as_bool));
        break;
      case SPL_INT:
        items.push_back(Value::integer(item.as_int));
        break;
      case SPL_FLOAT:
        items.push_back(Value::number(item.as_float));
        break;
      case SPL_STRING:
        items.push_back(make_text(item.as_string == nullptr ? "" : item.as_string));
        break;
      case SPL_ARRAY:
        items.push_back(array_from_native(item.as_array));
        break;
      default:
        items.push_back(Value());
        break;
    }
  }
  return make_array(std::move(items));
}

bool is_function(Value v) {
  return v.is(Kind::kClosure) || v.is(Kind::kNative) || v.is(Kind::kExtern) || v.is(Kind::kBoundMethod);
}

[[noreturn]] void reject(const std::string& function, size_t i, Value v, const char* expected) {
  fail(function + ": argument " + std::to_string(i + 1) + " must be " + expected + ", got " +
       (is_any_integer(v) ? display(v) : type_name(v)));
}

const Elements& array_items(Value v) {
  return v.is(Kind::kArray) ? as_object<Array>(v)->items : as_object<Tuple>(v)->items;
}

}  // namespace

Arguments::Arguments(const std::string& function, const Signature& signature, const Value* args)
    : signature_(signature) {
  try {
    for (; filled_ < signature.parameters.size(); ++filled_) {
      convert(function, filled_, args[filled_]);
    }
  } catch (...) {
    free_arrays();
    throw;
  }
}

void Arguments::free_arrays() {
  for (size_t i = 0; i < filled_; ++i) {
    if (signature_.parameters[i] == NativeType::kArray) {
      spl_array_free(slots_[i].array);
    }
  }
}

void Arguments::convert(const std::string& function, size_t i, Value v) {
  Slot& slot = slots_[i];
  pointers_[i] = &slot;
  const auto require = [&](bool holds, const char* expected) {
    if (!holds) {
      reject(function, i, v, expected);
    }
  };
  switch (signature_.parameters[i]) {
    case NativeType::kInt:
      require(is_any_integer(v) || v.is_bool(), "an integer");
      slot.i64 = v.is_bool() ? v.as_bool : v.as_int;
      break;
    case NativeType::kInt32:
      require(is_any_integer(v), "an integer");
      require(v.as_int >= INT32_MIN && v.as_int <= INT32_MAX, "within the range of i32");
      slot.i32 = static_cast<int32_t>(v.as_int);
      break;
    case NativeType::kFloat:
      require(is_any_number(v), "a number");
      slot.f64 = number_as_double(v);
      break;
    case NativeType::kFloat32:
      require(is_any_number(v), "a number");
      slot.f32 = static_cast<float>(number_as_double(v));
      break;
    case NativeType::kBool:
      require(v.is_bool(), "a bool");
      slot.b8 = v.as_bool;
      break;
    case NativeType::kText:
      require(v.is_nil() || v.is(Kind::kText), "text");
      if (!v.is_nil() && text_of(v).find('\0') != std::string::npos) {
        fail(function + ": argument " + std::to_string(i + 1) + " must not contain a NUL character");
      }
      slot.text = v.is_nil() ? nullptr : text_for_native(v).c_str();
      break;
    case NativeType::kArray:
      require(v.is(Kind::kArray) || v.is(Kind::kTuple), "an array");
      slot.array = array_to_native(array_items(v));
      break;
    case NativeType::kFunction:
      require(v.is_nil() || is_function(v), "a function");
      slot.function = v.is_nil() ? nullptr : callback_of(v, signature_.functions[i]);
      break;
    case NativeType::kVoid:
      break;
  }
}

Value from_native(NativeType type, const NativeResult& result) {
  switch (type) {
    case NativeType::kVoid:
      return Value();
    case NativeType::kInt:
      return Value::integer(result.i64);
    case NativeType::kInt32:
      return Value::integer(static_cast<int32_t>(result.word));
    case NativeType::kFloat:
      return Value::number(result.f64);
    case NativeType::kFloat32:
      return Value::number(result.f32);
    case NativeType::kBool:
      return Value::boolean((result.word & 0xFF) != 0);
    case NativeType::kText: {
      if (result.pointer == nullptr) {
        return Value();
      }
      const Value text = make_text(static_cast<const char*>(result.pointer));
      std::free(result.pointer);
      return text;
    }
    case NativeType::kFunction:
      return Value::integer(result.i64);
    case NativeType::kArray: {
      auto* array = static_cast<SplArray*>(result.pointer);
      const Value made = array_from_native(array);
      spl_array_free(array);
      return made;
    }
  }
  return Value();
}

Value borrowed_from_native(NativeType type, const void* slot_address) {
  Slot slot{};
  switch (type) {
    case NativeType::kInt32:
      std::memcpy(&slot.i32, slot_address, sizeof slot.i32);
      return Value::integer(slot.i32);
    case NativeType::kFloat32:
      std::memcpy(&slot.f32, slot_address, sizeof slot.f32);
      return Value::number(slot.f32);
    case NativeType::kBool:
      std::memcpy(&slot.b8, slot_address, sizeof slot.b8);
      return Value::boolean(slot.b8 != 0);
    default:
      std::memcpy(&slot.i64, slot_address, sizeof slot.i64);
      break;
  }
  if (type == NativeType::kFloat) {
    return Value::number(slot.f64);
  }
  if (type == NativeType::kText) {
    return slot.text == nullptr ? Value() : make_text(slot.text);
  }
  return type == NativeType::kArray ? array_from_native(slot.array) : Value::integer(slot.i64);
}

void to_native_result(NativeType type, Value v, NativeResult& result) {
  const auto require = [&](bool holds, const char* expected) {
    if (!holds) {
      fail(std::string("a callback must return ") + expected + ", got " + type_name(v));
    }
  };
  switch (type) {
    case NativeType::kVoid:
      break;
    case NativeType::kInt:
    case NativeType::kInt32:
      require(
          is_any_integer(v) && (type == NativeType::kInt || (v.as_int >= INT32_MIN && v.as_int <= INT32_MAX)),
          type == NativeType::kInt ? "an integer" : "an integer within the range of i32");
      result.i64 = v.as_int;
      break;
    case NativeType::kFloat:
      require(is_any_number(v), "a number");
      result.f64 = number_as_double(v);
      break;
    case NativeType::kFloat32:
      require(is_any_number(v), "a number");
      result.f32 = static_cast<float>(number_as_double(v));
      break;
    case NativeType::kBool:
      require(v.is_bool(), "a bool");
      result.word = v.as_bool;
      break;
    case NativeType::kText:
      require(v.is_nil() || v.is(Kind::kText), "text");
      result.pointer = v.is_nil() ? nullptr : spl_str_new(text_for_native(v).c_str());
      break;
    case NativeType::kArray:
      require(v.is(Kind::kArray) || v.is(Kind::kTuple), "an array");
      result.pointer = array_to_native(array_items(v));
      break;
    case NativeType::kFunction:
      break;
  }
}

}  // namespace spl
