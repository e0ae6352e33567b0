#include "host/values/conversions.h"

#include <cmath>
#include <cstdlib>
#include <initializer_list>

#include "host/values/error.h"
#include "host/values/object_hooks.h"
#include "host/values/objects.h"
#include "host/values/sized.h"

namespace spl {

namespace {

const Method* method_of(Value v, Symbol name) {
  if (v.is(Kind::kInstance)) {
    return as_object<Instance>(v)->record->find(name);
  }
  return v.is(Kind::kEnumValue) ? as_object<EnumValue>(v)->type->find(name) : nullptr;
}

// The first number that one of these methods of the value returns; nil if there is none.
Ref number_from_hooks(Value v, std::initializer_list<Symbol> hooks) {
  for (const Symbol hook : hooks) {
    const Method* method = method_of(v, hook);
    if (method == nullptr) {
      continue;
    }
    Ref result = Ref::owned(object_hooks().call_method(v, *method, nullptr, 0));
    if (result.get().is_number()) {
      return result;
    }
  }
  return Ref();
}

// `Name = 3`, else one more than the variant before it; the first is 0.
int64_t number_of_variant(const EnumValue& value) {
  int64_t further = 0;
  for (uint32_t i = value.variant;; --i, ++further) {
    if (const Value declared = value.type->variants[i].value; declared.is_int()) {
      return declared.as_int + further;
    }
    if (i == 0) {
      return further;
    }
  }
}

// A variant without values of an enum that the program declares.
bool has_number(Value v) {
  return v.is(Kind::kEnumValue) && as_object<EnumValue>(v)->info().arity == 0 &&
         as_object<EnumValue>(v)->type->module != nullptr;
}

int64_t truncated(double value) {
  if (std::isnan(value)) {
    return 0;
  }
  if (value >= 9223372036854775807.0) {
    return INT64_MAX;
  }
  if (value <= -9223372036854775808.0) {
    return INT64_MIN;
  }
  return static_cast<int64_t>(value);
}

}  // namespace

int64_t to_integer(Value v) {
  v = plain(v);
  if (v.is_int()) {
    return v.as_int;
  }
  if (v.is_bool()) {
    return v.as_bool ? 1 : 0;
  }
  if (v.is_float()) {
    return truncated(v.as_float);
  }
  if (v.is(Kind::kText)) {
    return std::strtoll(text_of(v).c_str(), nullptr, 10);  // leading digits, else 0
  }
  static const Symbol hook = intern("__int__"), second = intern("to_int");
  if (const Ref result = number_from_hooks(v, {hook, second}); result.get().is_number()) {
    return to_integer(result.get());
  }
  if (has_number(v)) {
    return number_of_variant(*as_object<EnumValue>(v));
  }
  fail("cannot convert " + type_name(v) + " to an integer");
}

double to_number(Value v) {
  if (is_any_number(v)) {
    return number_as_double(v);
  }
  if (v.is_bool()) {
    return v.as_bool ? 1 : 0;
  }
  if (v.is(Kind::kText)) {
    return std::strtod(text_of(v).c_str(), nullptr);
  }
  static const Symbol hook = intern("__float__"), second = intern("to_float");
  if (const Ref result = number_from_hooks(v, {hook, second}); result.get().is_number()) {
    return result.get().to_double();
  }
  fail("cannot convert " + type_name(v) + " to a number");
}

const std::string& expect_text(Value v, const char* what) {
  if (!v.is(Kind::kText)) {
    fail(std::string(what) + " must be text, got " + type_name(v));
  }
  return text_of(v);
}

Value cast_value(Value v, int code) {
  if (code == 10) {
    return make_text(display(v));
  }
  if (code == 11) {
    return Value::boolean(truthy(v));
  }
  if (code == 0) {
    return Value::integer(to_integer(v));
  }
  if (code == 8) {
    return Value::number(to_number(v));
  }
  static constexpr Tag kTypes[] = {Tag::kInt,    Tag::kInt32,  Tag::kInt16, Tag::kInt8,  Tag::kUint64,
                                   Tag::kUint32, Tag::kUint16, Tag::kUint8, Tag::kFloat, Tag::kFloat32};
  return cast_to(kTypes[code], v);
}

}  // namespace spl
