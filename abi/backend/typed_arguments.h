// The arguments of typed calls: for each type of a kernel's parameter, how the planned argument becomes it.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/jit_type.h>
#include <c10/core/SymInt.h>
#include <c10/util/SmallVector.h>

#include <optional>
#include <string_view>
#include <utility>

#include "abi/backend/operator_plans.h"
#include "abi/backend/tensor_arguments.h"
#include "core_libtorch/dtypes.h"

namespace simple_torch::abi {

inline const SplValue& value_of(const PlannedArgument& planned, const DirectCall& call) {
  return call.values[planned.value];
}

inline bool is_constant(const PlannedArgument& planned) {
  return planned.conversion == Conversion::kConstant;
}

/// An argument of the parameter type T while the call runs: get() returns it. `fits` is whether the
/// schema's type becomes T and the argument is made in a supported way.
template <class T>
struct TypedArgument;

template <>
struct TypedArgument<at::Tensor> {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    return type.kind() == c10::TypeKind::TensorType && planned.conversion == Conversion::kTensor;
  }
  TypedArgument(const PlannedArgument& planned, const DirectCall& call)
      : held(tensor_argument(value_of(planned, call).as_int)) {}
  at::Tensor& get() const { return held.mutable_value(); }
  const at::Tensor* operand() const { return &*held; }

  HandleTable::Borrowed<at::Tensor> held;
};

/// A value that is copied; `read` makes it.
template <class T>
struct CopiedArgument {
  const T& get() const { return value; }
  static const at::Tensor* operand() { return nullptr; }
  T value;
};

inline bool is_type(const c10::Type& type, c10::TypeKind kind) { return type.kind() == kind; }

template <>
struct TypedArgument<at::Scalar> : CopiedArgument<at::Scalar> {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    const Conversion form = planned.conversion;
    return is_type(type, c10::TypeKind::NumberType) &&
           (form == Conversion::kInt || form == Conversion::kFloat || form == Conversion::kBool ||
            (is_constant(planned) && planned.constant.isScalar()));
  }
  TypedArgument(const PlannedArgument& planned, const DirectCall& call)
      : CopiedArgument{read(planned, call)} {}
  static at::Scalar read(const PlannedArgument& planned, const DirectCall& call) {
    switch (planned.conversion) {
      case Conversion::kInt:
        return value_of(planned, call).as_int;
      case Conversion::kFloat:
        return value_of(planned, call).as_float;
      case Conversion::kBool:
        return value_of(planned, call).as_bool;
      default:
        return planned.constant.toScalar();
    }
  }
};

template <>
struct TypedArgument<int64_t> : CopiedArgument<int64_t> {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    return is_type(type, c10::TypeKind::IntType) && is_read(planned);
  }
  static bool is_read(const PlannedArgument& planned) {
    return planned.conversion == Conversion::kInt || (is_constant(planned) && planned.constant.isInt());
  }
  TypedArgument(const PlannedArgument& planned, const DirectCall& call)
      : CopiedArgument{is_constant(planned) ? planned.constant.toInt() : value_of(planned, call).as_int} {}
};

template <>
struct TypedArgument<c10::SymInt> : CopiedArgument<c10::SymInt> {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    return is_type(type, c10::TypeKind::SymIntType) && TypedArgument<int64_t>::is_read(planned);
  }
  TypedArgument(const PlannedArgument& planned, const DirectCall& call)
      : CopiedArgument{c10::SymInt(TypedArgument<int64_t>(planned, call).value)} {}
};

template <>
struct TypedArgument<bool> : CopiedArgument<bool> {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    return is_type(type, c10::TypeKind::BoolType) &&
           (planned.conversion == Conversion::kBool || (is_constant(planned) && planned.constant.isBool()));
  }
  TypedArgument(const PlannedArgument& planned, const DirectCall& call)
      : CopiedArgument{is_constant(planned) ? planned.constant.toBool() : value_of(planned, call).as_bool} {}
};

template <>
struct TypedArgument<double> : CopiedArgument<double> {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    return is_type(type, c10::TypeKind::FloatType) &&
           (planned.conversion == Conversion::kFloat || planned.conversion == Conversion::kIntAsFloat ||
            (is_constant(planned) && planned.constant.isDouble()));
  }
  TypedArgument(const PlannedArgument& planned, const DirectCall& call)
      : CopiedArgument{read(planned, call)} {}
  static double read(const PlannedArgument& planned, const DirectCall& call) {
    return is_constant(planned)                       ? planned.constant.toDouble()
           : planned.conversion == Conversion::kFloat ? value_of(planned, call).as_float
                                                      : static_cast<double>(value_of(planned, call).as_int);
  }
};

template <>
struct TypedArgument<at::ScalarType> : CopiedArgument<at::ScalarType> {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    return is_type(type, c10::TypeKind::ScalarTypeType) &&
           (planned.conversion == Conversion::kDType || (is_constant(planned) && planned.constant.isInt()));
  }
  TypedArgument(const PlannedArgument& planned, const DirectCall& call)
      : CopiedArgument{is_constant(planned) ? planned.constant.toScalarType()
                                            : core::dtype_of_code(value_of(planned, call).as_int)} {}
};

/// A type whose values are always constants of the plan.
template <class T, c10::TypeKind kKind>
struct ConstantArgument : CopiedArgument<T> {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    return is_type(type, kKind) && is_constant(planned) && !planned.constant.isNone();
  }
  ConstantArgument(const PlannedArgument& planned, const DirectCall& /*call*/)
      : CopiedArgument<T>{planned.constant.to<T>()} {}
};

template <>
struct TypedArgument<at::Layout> : ConstantArgument<at::Layout, c10::TypeKind::LayoutType> {
  using ConstantArgument::ConstantArgument;
};
template <>
struct TypedArgument<at::MemoryFormat> : ConstantArgument<at::MemoryFormat, c10::TypeKind::MemoryFormatType> {
  using ConstantArgument::ConstantArgument;
};
template <>
struct TypedArgument<at::Device> : ConstantArgument<at::Device, c10::TypeKind::DeviceObjType> {
  using ConstantArgument::ConstantArgument;
};
template <>
struct TypedArgument<at::Generator> : ConstantArgument<at::Generator, c10::TypeKind::GeneratorType> {
  using ConstantArgument::ConstantArgument;
};

template <>
struct TypedArgument<c10::string_view> : CopiedArgument<c10::string_view> {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    return is_type(type, c10::TypeKind::StringType) && is_constant(planned) && planned.constant.isString();
  }
  TypedArgument(const PlannedArgument& planned, const DirectCall& /*call*/)
      : CopiedArgument{planned.constant.toStringView()} {}
};

template <class T>
struct TypedArgument<std::optional<T>> {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    const auto* optional = type.castRaw<c10::OptionalType>();
    return optional != nullptr &&
           (is_absent(planned) || TypedArgument<T>::fits(*optional->getElementType(), planned));
  }
  static bool is_absent(const PlannedArgument& planned) {
    return is_constant(planned) && planned.constant.isNone();
  }
  TypedArgument(const PlannedArgument& planned, const DirectCall& call) {
    if (!is_absent(planned)) {
      value.emplace(TypedArgument<T>(planned, call).get());
    }
  }
  const std::optional<T>& get() const { return value; }
  const at::Tensor* operand() const {
    if constexpr (std::is_same_v<T, at::Tensor>) {
      return value ? &*value : nullptr;
    } else {
      return nullptr;
    }
  }
  std::optional<T> value;
};

/// A list of integers as Item, which is constructed from one.
template <class Item, c10::TypeKind kKind>
struct IntegersArgument {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    const auto* list = type.castRaw<c10::ListType>();
    return list != nullptr && is_type(*list->getElementType(), kKind) && is_read(planned);
  }
  static bool is_read(const PlannedArgument& planned) {
    const Conversion form = planned.conversion;
    return form == Conversion::kInts || form == Conversion::kSizes || form == Conversion::kRepeatedInt ||
           (is_constant(planned) && planned.constant.isIntList());
  }
  IntegersArgument(const PlannedArgument& planned, const DirectCall& call) {
    switch (planned.conversion) {
      case Conversion::kInts:
        add(items_of(value_of(planned, call).as_array));
        break;
      case Conversion::kSizes:
        add(call.values.slice(planned.value, call.positional() - planned.value));
        break;
      case Conversion::kRepeatedInt:
        items.assign(planned.count, Item(value_of(planned, call).as_int));
        break;
      default:
        for (const int64_t item : planned.constant.toIntList()) {
          items.push_back(Item(item));
        }
    }
  }
  void add(c10::ArrayRef<SplValue> values) {
    for (const SplValue& value : values) {
      items.push_back(Item(value.as_int));
    }
  }
  c10::ArrayRef<Item> get() const { return items; }
  static const at::Tensor* operand() { return nullptr; }
  c10::SmallVector<Item, 6> items;
};

template <>
struct TypedArgument<at::IntArrayRef> : IntegersArgument<int64_t, c10::TypeKind::IntType> {
  using IntegersArgument::IntegersArgument;
};
template <>
struct TypedArgument<c10::SymIntArrayRef> : IntegersArgument<c10::SymInt, c10::TypeKind::SymIntType> {
  using IntegersArgument::IntegersArgument;
};

template <>
struct TypedArgument<at::OptionalIntArrayRef> {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    const auto* optional = type.castRaw<c10::OptionalType>();
    return optional != nullptr &&
           (TypedArgument<std::optional<int64_t>>::is_absent(planned) ||
            TypedArgument<at::IntArrayRef>::fits(*optional->getElementType(), planned));
  }
  TypedArgument(const PlannedArgument& planned, const DirectCall& call) {
    if (!TypedArgument<std::optional<int64_t>>::is_absent(planned)) {
      list.emplace(planned, call);
    }
  }
  at::OptionalIntArrayRef get() const {
    return list ? at::OptionalIntArrayRef(list->get()) : at::OptionalIntArrayRef();
  }
  static const at::Tensor* operand() { return nullptr; }
  std::optional<TypedArgument<at::IntArrayRef>> list;
};

template <>
struct TypedArgument<at::TensorList> {
  static bool fits(const c10::Type& type, const PlannedArgument& planned) {
    const auto* list = type.castRaw<c10::ListType>();
    return list != nullptr && is_type(*list->getElementType(), c10::TypeKind::TensorType) &&
           planned.conversion == Conversion::kTensors;
  }
  TypedArgument(const PlannedArgument& planned, const DirectCall& call) {
    for (const SplValue& item : items_of(value_of(planned, call).as_array)) {
      tensors.push_back(*tensor_argument(item.as_int));
    }
  }
  at::TensorList get() const { return tensors; }
  static const at::Tensor* operand() { return nullptr; }
  c10::SmallVector<at::Tensor, 4> tensors;
};

template <>
struct TypedArgument<at::ITensorListRef> : TypedArgument<at::TensorList> {
  using TypedArgument<at::TensorList>::TypedArgument;
  at::ITensorListRef get() const { return at::ITensorListRef(TypedArgument<at::TensorList>::get()); }
};

}  // namespace simple_torch::abi
