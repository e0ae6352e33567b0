#include "core_libtorch/jit/script_values.h"

#include <utility>
#include <vector>

#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

using c10::IValue;
using c10::TypeKind;
using c10::TypePtr;

[[noreturn]] void fail_type(const IValue& value, const c10::Type& type, const std::string& what) {
  throw Error(ErrorKind::kInvalidArgument, "Expected a value of type '" + type.repr_str() + "' for " + what +
                                               " but instead found type '" + script_type_name(value) + "'");
}

// A list may stand for a tuple and a tuple for a list, as in Python.
at::ArrayRef<IValue> items_of(const IValue& value) {
  return value.isTuple() ? value.toTupleRef().elements().asArrayRef() : value.toListRef();
}

IValue list_of(const IValue& value, const c10::ListType& type, const std::string& what) {
  const TypePtr& element = type.getElementType();
  c10::impl::GenericList list(element);
  for (const IValue& item : items_of(value)) {
    list.push_back(to_script_type(item, element, "an item of " + what));
  }
  return IValue(std::move(list));
}

IValue dict_of(const IValue& value, const c10::DictType& type, const std::string& what) {
  c10::impl::GenericDict dict(type.getKeyType(), type.getValueType());
  for (const auto& entry : value.toGenericDict()) {
    dict.insert_or_assign(to_script_type(entry.key(), type.getKeyType(), "a key of " + what),
                          to_script_type(entry.value(), type.getValueType(), "a value of " + what));
  }
  return IValue(std::move(dict));
}

IValue tuple_of(const IValue& value, const TypePtr& type, const std::string& what) {
  const at::ArrayRef<IValue> elements = items_of(value);
  const at::ArrayRef<TypePtr> types = type->expectRef<c10::TupleType>().elements();
  if (elements.size() != types.size()) {
    throw Error(ErrorKind::kInvalidArgument, "Expected a tuple of " + std::to_string(types.size()) +
                                                 " items for " + what + " but instead found " +
                                                 std::to_string(elements.size()) + " items");
  }
  std::vector<IValue> items;
  for (size_t i = 0; i < types.size(); ++i) {
    items.push_back(to_script_type(elements[i], types[i], "item " + std::to_string(i) + " of " + what));
  }
  return c10::ivalue::Tuple::createNamed(std::move(items), type->cast<c10::TupleType>());
}

IValue union_of(const IValue& value, const c10::UnionType& type, const std::string& what) {
  for (const TypePtr& each : type.containedTypes()) {
    try {
      return to_script_type(value, each, what);
    } catch (const Error&) {  // another member may fit
    }
  }
  fail_type(value, type, what);
}

// Numbers, strings, devices: false if the value does not fit.
bool to_plain(IValue& value, const c10::Type& type) {
  switch (type.kind()) {
    case TypeKind::TensorType:
      return value.isTensor();
    case TypeKind::FloatType:
      if (value.isInt()) {
        value = IValue(static_cast<double>(value.toInt()));
      }
      return value.isDouble();
    case TypeKind::ComplexType:
      if (value.isInt() || value.isDouble()) {
        value = IValue(value.toScalar().toComplexDouble());
      }
      return value.isComplexDouble();
    case TypeKind::IntType:
      return value.isInt();
    case TypeKind::BoolType:
      return value.isBool();
    case TypeKind::NumberType:
      return value.isScalar();
    case TypeKind::StringType:
      return value.isString();
    case TypeKind::NoneType:
      return value.isNone();
    case TypeKind::DeviceObjType:
      if (value.isString()) {
        value = IValue(c10::Device(value.toStringRef()));
      }
      return value.isDevice();
    default:
      return false;
  }
}

// A tensor's own type has its shape, which no declared type has.
TypePtr type_of(const IValue& value) { return c10::unshapedType(value.type()); }

// The type of all items. Throws Error(kInvalidArgument) if they have several.
TypePtr common_type(const std::vector<IValue>& items, const std::string& what) {
  TypePtr type = items.empty() ? c10::TensorType::get() : type_of(items.front());
  for (const IValue& item : items) {
    const auto unified = c10::unifyTypes(type, type_of(item));
    if (!unified) {
      throw Error(ErrorKind::kInvalidArgument, "all items of " + what + " must have one type, found " +
                                                   type->repr_str() + " and " + type_of(item)->repr_str());
    }
    type = *unified;
  }
  return type;
}

IValue inferred_list(const IValue& value, const std::string& what) {
  std::vector<IValue> items;
  for (const IValue& item : value.toListRef()) {
    items.push_back(with_inferred_type(item, "an item of " + what));
  }
  c10::impl::GenericList list(common_type(items, what));
  for (IValue& item : items) {
    list.push_back(std::move(item));
  }
  return IValue(std::move(list));
}

IValue inferred_dict(const IValue& value, const std::string& what) {
  std::vector<IValue> keys;
  std::vector<IValue> values;
  for (const auto& entry : value.toGenericDict()) {
    keys.push_back(with_inferred_type(entry.key(), "a key of " + what));
    values.push_back(with_inferred_type(entry.value(), "a value of " + what));
  }
  const TypePtr key_type = keys.empty() ? c10::StringType::get() : common_type(keys, "the keys of " + what);
  c10::impl::GenericDict dict(key_type, common_type(values, "the values of " + what));
  for (size_t i = 0; i < keys.size(); ++i) {
    dict.insert_or_assign(std::move(keys[i]), std::move(values[i]));
  }
  return IValue(std::move(dict));
}

}  // namespace

std::string script_type_name(const IValue& value) { return type_of(value)->repr_str(); }

// NOLINTNEXTLINE(misc-no-recursion): the depth of a type
IValue to_script_type(const IValue& value, const TypePtr& type, const std::string& what) {
  IValue converted = value;
  if (to_plain(converted, *type)) {
    return converted;
  }
  switch (type->kind()) {
    case TypeKind::AnyType:
      return with_inferred_type(value, what);
    case TypeKind::OptionalType:
      return value.isNone()
                 ? value
                 : to_script_type(value, type->expectRef<c10::OptionalType>().getElementType(), what);
    case TypeKind::UnionType:
      return union_of(value, type->expectRef<c10::UnionType>(), what);
    case TypeKind::ListType:
      if (value.isList() || value.isTuple()) {
        return list_of(value, type->expectRef<c10::ListType>(), what);
      }
      break;
    case TypeKind::DictType:
      if (value.isGenericDict()) {
        return dict_of(value, type->expectRef<c10::DictType>(), what);
      }
      break;
    case TypeKind::TupleType:
      if (value.isTuple() || value.isList()) {
        return tuple_of(value, type, what);
      }
      break;
    default:
      break;
  }
  fail_type(value, *type, what);
}

// NOLINTNEXTLINE(misc-no-recursion): the depth of a value
IValue with_inferred_type(const IValue& value, const std::string& what) {
  if (value.isList()) {
    return inferred_list(value, what);
  }
  if (value.isGenericDict()) {
    return inferred_dict(value, what);
  }
  if (!value.isTuple()) {
    return value;
  }
  std::vector<IValue> items;
  for (const IValue& item : value.toTupleRef().elements()) {
    items.push_back(with_inferred_type(item, "an item of " + what));
  }
  return c10::ivalue::Tuple::create(std::move(items));
}

}  // namespace simple_torch::core
