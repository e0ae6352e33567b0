#include "core_libtorch/coercion.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"
#include "core_libtorch/option_names.h"

namespace simple_torch::core {
namespace {

using c10::IValue;
using c10::TypeKind;

// "torch.strided" is the same name as "strided".
template <class Table>
bool name_to_code(IValue& value, const Table& table) {
  if (value.isInt()) {
    return true;
  }
  if (!value.isString()) {
    return false;
  }
  std::string_view name = value.toStringRef();
  if (name.starts_with("torch.")) {
    name.remove_prefix(6);
  }
  for (const auto& entry : table) {
    if (entry.name == name) {
      value = IValue(static_cast<int64_t>(entry.code));
      return true;
    }
  }
  return false;
}

// Runs a lookup; false for its Error(kInvalidArgument) about an unknown name. Other errors pass through.
template <class Change>
bool known_name(Change&& change) {
  try {
    change();
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInvalidArgument) {
      throw;
    }
    return false;
  }
}

bool to_dtype(IValue& value) {
  if (value.isInt()) {
    return known_name([&] { value = IValue(code_of_dtype(dtype_of_code(value.toInt()))); });
  }
  return value.isString() &&
         known_name([&] { value = IValue(code_of_dtype(dtype_of_name(value.toStringRef()))); });
}

bool to_device(IValue& value) {
  if (value.isDevice()) {
    return true;
  }
  if (value.isInt()) {
    return known_name([&] { value = IValue(device_of_code(value.toInt())); });
  }
  return value.isString() && known_name([&] { value = IValue(device_of_text(value.toStringRef())); });
}

bool is_single_number(const IValue& value) {
  return value.isTensor() && value.toTensor().defined() && value.toTensor().dim() == 0 &&
         !value.toTensor().requires_grad();
}

// A wrapped number: like Python's, it does not take part in type promotion as a tensor would.
bool to_tensor(IValue& value, Fit fit) {
  if (fit == Fit::kDispatcher && value.isScalar()) {
    value = IValue(at::native::wrapped_scalar_tensor(value.toScalar()));
  }
  return value.isTensor();
}

bool to_number(IValue& value, Fit fit) {
  if (fit != Fit::kExact && is_single_number(value)) {
    value = IValue(value.toTensor().item());
  }
  return value.isScalar();
}

bool to_float(IValue& value, Fit fit) {
  if (!to_number(value, fit) || value.isComplexDouble()) {
    return false;
  }
  if (!value.isDouble()) {
    value = IValue(value.toScalar().toDouble());
  }
  return true;
}

bool to_int(IValue& value, Fit fit) {
  if (fit != Fit::kExact && is_single_number(value) && !value.toTensor().is_floating_point()) {
    value = IValue(value.toTensor().item());
  }
  return value.isInt();
}

bool coerce_to(IValue& value, const c10::Type& type, std::optional<int32_t> size, Fit fit);

template <class T, class Take>
IValue list_of(const std::vector<IValue>& items, Take&& take) {
  c10::List<T> list;
  list.reserve(items.size());
  for (const IValue& item : items) {
    list.push_back(take(item));
  }
  return IValue(std::move(list));
}

// Kernels require the list type of the schema, not a List[Any].
IValue typed_list(const std::vector<IValue>& items, const c10::TypePtr& element) {
  switch (element->kind()) {
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return list_of<int64_t>(items, [](const IValue& item) { return item.toInt(); });
    case TypeKind::FloatType:
      return list_of<double>(items, [](const IValue& item) { return item.toDouble(); });
    case TypeKind::BoolType:
      return list_of<bool>(items, [](const IValue& item) { return item.toBool(); });
    case TypeKind::TensorType:
      return list_of<at::Tensor>(items, [](const IValue& item) { return item.toTensor(); });
    case TypeKind::StringType:
      return list_of<std::string>(items, [](const IValue& item) { return item.toStringRef(); });
    default:
      break;
  }
  c10::impl::GenericList list(element);
  list.reserve(items.size());
  for (const IValue& item : items) {
    list.push_back(item);
  }
  return IValue(list);
}

bool to_list(IValue& value, const c10::TypePtr& element, std::optional<int32_t> size, Fit fit) {
  std::vector<IValue> items;
  if (value.isList()) {
    const auto list = value.toListRef();
    items.assign(list.begin(), list.end());
  } else if (size && *size > 0) {
    items.assign(static_cast<size_t>(*size), value);  // int[2] accepts 3 for [3, 3]
  } else {
    return false;
  }
  for (IValue& item : items) {
    if (!coerce_to(item, *element, std::nullopt, fit)) {
      return false;
    }
  }
  value = typed_list(items, element);
  return true;
}

bool coerce_to(IValue& value, const c10::Type& type, std::optional<int32_t> size, Fit fit) {
  switch (type.kind()) {
    case TypeKind::OptionalType:
      return value.isNone() ||
             coerce_to(value, *type.expectRef<c10::OptionalType>().getElementType(), size, fit);
    case TypeKind::TensorType:
      return to_tensor(value, fit);
    case TypeKind::NumberType:
      return to_number(value, fit);
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
      return to_float(value, fit);
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return to_int(value, fit);
    case TypeKind::BoolType:
    case TypeKind::SymBoolType:
      return value.isBool();
    case TypeKind::ComplexType:
      return value.isComplexDouble();
    case TypeKind::StringType:
      return value.isString();
    case TypeKind::ListType:
      return to_list(value, type.expectRef<c10::ListType>().getElementType(), size, fit);
    case TypeKind::ScalarTypeType:
      return to_dtype(value);
    case TypeKind::LayoutType:
      return name_to_code(value, kLayouts);
    case TypeKind::MemoryFormatType:
      return name_to_code(value, kMemoryFormats);
    case TypeKind::DeviceObjType:
      return to_device(value);
    case TypeKind::GeneratorType:
      return value.isGenerator();
    case TypeKind::AnyType:
      return true;
    default:
      return value.type()->isSubtypeOf(type);
  }
}

/// Whether a string for this argument is a dimension's name. torch 2.11 has named dimensions, 2.15 does not;
/// schemas declare them as str.
bool names_dimensions(const c10::Argument& argument) {
  constexpr std::string_view kNames[] = {"dim",    "dims",    "names",   "dim0",      "dim1", "dim2",
                                         "outdim", "out_dim", "end_dim", "start_dim", "order"};
  return std::find(std::begin(kNames), std::end(kNames), argument.name()) != std::end(kNames);
}

/// The dispatcher accepts dimension names as "dimname::x". Other lists stay as they are.
void qualify(IValue& value) {
  if (value.isString()) {
    value = IValue("dimname::" + value.toStringRef());
  } else if (value.isList() && !value.toListRef().empty() && value.toListRef().front().isString()) {
    std::vector<IValue> names;
    for (const IValue& item : value.toListRef()) {
      names.emplace_back("dimname::" + item.toStringRef());
    }
    value = typed_list(names, c10::StringType::get());
  }
}

}  // namespace

bool coerce(IValue& value, const c10::Argument& argument, Fit fit) {
  if (!coerce_to(value, *argument.real_type(), argument.N(), fit)) {
    return false;
  }
  if ((value.isString() || value.isList()) && names_dimensions(argument)) {
    qualify(value);
  }
  return true;
}

std::string kind_of(const IValue& value) {
  if (value.isNone()) {
    return "nil";
  }
  if (!value.isList()) {
    return value.type()->repr_str();
  }
  const auto items = value.toListRef();
  return items.empty() ? "empty list" : "list of " + kind_of(items.front());
}

std::string kind_of(const c10::Argument& argument) { return argument.real_type()->str(); }

}  // namespace simple_torch::core
