#include "abi/backend/typed_calls.h"

#include <ATen/core/IListRef.h>

#include <array>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "abi/backend/typed_arguments.h"
#include "core_libtorch/skip_autograd.h"

namespace simple_torch::abi {
namespace {

using at::Scalar;
using at::Tensor;
using c10::SymInt;
using c10::SymIntArrayRef;
template <class T>
using Maybe = std::optional<T>;
using DType = Maybe<at::ScalarType>;
using Format = Maybe<at::MemoryFormat>;
using List = at::IntArrayRef;

void store(TypedResult& result, Tensor tensor) { result.tensor = std::move(tensor); }
void store(TypedResult& result, const Scalar& number) { result.number = number; }
void store(TypedResult& result, std::vector<Tensor> tensors) { result.several = std::move(tensors); }
void store(TypedResult& result, std::tuple<Tensor, Tensor> pair) {
  result.several.reserve(2);
  result.several.push_back(std::move(std::get<0>(pair)));
  result.several.push_back(std::move(std::get<1>(pair)));
}

/// Runs `call`, without autograd's layer if the plan and the operands allow it.
template <size_t N, class Call>
decltype(auto) call_with_operands(const Plan& plan, const std::array<const Tensor*, N>& candidates,
                                  Call&& call) {
  if (!plan.skips_autograd) {
    return call();
  }
  std::array<const Tensor*, N> operands{};
  size_t count = 0;
  for (const Tensor* operand : candidates) {
    if (operand != nullptr) {
      operands[count++] = operand;
    }
  }
  const core::SkipAutogradGuard shortcut(operands.data(), operands.data() + count);
  return call();
}

// The types of the results; a kernel without a C++ signature does not reveal them.
template <class Result>
bool returns(const std::vector<c10::Argument>& results) {
  if constexpr (std::is_same_v<Result, std::tuple<Tensor, Tensor>>) {
    return results.size() == 2 && is_tensor_result(results[0]) && is_tensor_result(results[1]);
  } else if constexpr (std::is_same_v<Result, std::vector<Tensor>>) {
    return results.size() == 1 && results[0].type()->isSubtypeOf(*c10::ListType::ofTensors());
  } else if constexpr (std::is_same_v<Result, Scalar>) {
    return results.size() == 1 && results[0].type()->kind() == c10::TypeKind::NumberType;
  } else {
    return results.size() == 1 && is_tensor_result(results[0]);
  }
}

template <class Function>
struct Caller;

template <class Result, class... Parameters>
struct Caller<Result(Parameters...)> {
  using Arguments = std::tuple<TypedArgument<std::remove_cvref_t<Parameters>>...>;
  static constexpr size_t kCount = sizeof...(Parameters);
  using Indices = std::make_index_sequence<kCount>;

  using Handle = c10::TypedOperatorHandle<Result(Parameters...)>;

  /// NULL if the overload or its arguments do not fit.
  static std::shared_ptr<const void> handle_of(const Plan& plan) {
    return fits(plan, Indices{}) ? typed_handle(*plan.op) : nullptr;
  }
  static void call(const Plan& plan, const DirectCall& call, TypedResult& result) {
    run(plan, call, result, Indices{});
  }

 private:
  template <size_t... I>
  static bool fits(const Plan& plan, std::index_sequence<I...>) {
    const c10::FunctionSchema& schema = plan.op->schema();
    return plan.arguments.size() == kCount && returns<Result>(schema.returns()) &&
           (std::tuple_element_t<I, Arguments>::fits(*schema.arguments()[I].real_type(), plan.arguments[I]) &&
            ...);
  }

  // NULL for an overload whose kernels have another signature.
  static std::shared_ptr<const void> typed_handle(const c10::OperatorHandle& op) {
    try {
      return std::make_shared<const Handle>(op.typed<Result(Parameters...)>());
    } catch (const c10::Error&) {
      return nullptr;
    }
  }

  template <size_t... I>
  static void run(const Plan& plan, const DirectCall& direct, TypedResult& result,
                  std::index_sequence<I...>) {
    const Arguments arguments{std::tuple_element_t<I, Arguments>(plan.arguments[I], direct)...};
    const auto invoke = [&]() -> Result {
      return static_cast<const Handle*>(plan.typed.handle.get())->call(std::get<I>(arguments).get()...);
    };
    const std::array<const Tensor*, kCount> operands{std::get<I>(arguments).operand()...};
    if constexpr (std::is_reference_v<Result>) {
      call_with_operands(plan, operands, invoke);
    } else {
      store(result, call_with_operands(plan, operands, invoke));
    }
  }
};

struct Candidate {
  std::shared_ptr<const void> (*handle_of)(const Plan& plan);
  TypedCall::Function call;
};

template <class... Functions>
constexpr std::array<Candidate, sizeof...(Functions)> callers() {
  return {Candidate{Caller<Functions>::handle_of, Caller<Functions>::call}...};
}

// The options of factories: dtype, layout, device, pin_memory.
template <class... Leading>
using Factory = Tensor(Leading..., DType, Maybe<at::Layout>, Maybe<at::Device>, Maybe<bool>);
template <class... Leading>
using FactoryWithFormat = Tensor(Leading..., DType, Maybe<at::Layout>, Maybe<at::Device>, Maybe<bool>,
                                 Format);

// The most frequent signatures of functions that return new tensors.
constexpr auto kFunctions = callers<
    Tensor(const Tensor&), Tensor(const Tensor&, const Tensor&),
    Tensor(const Tensor&, const Tensor&, const Tensor&), Tensor(const Tensor&, const Scalar&),
    Tensor(const Tensor&, const Scalar&, const Scalar&), Tensor(const Scalar&, const Tensor&),
    Tensor(const Tensor&, const Tensor&, const Scalar&),
    Tensor(const Tensor&, const Tensor&, const Tensor&, const Scalar&, const Scalar&),
    Tensor(const Tensor&, const Tensor&, const Tensor&, const Scalar&),
    Tensor(const Tensor&, const Tensor&, const Scalar&, const Scalar&),
    Tensor(const Tensor&, const Maybe<Scalar>&, const Maybe<Scalar>&),
    Tensor(const Tensor&, const Maybe<Tensor>&, const Maybe<Tensor>&),
    Tensor(const Tensor&, const Tensor&, const Maybe<Tensor>&), Tensor(const Tensor&, c10::string_view),
    Tensor(const Tensor&, const Tensor&, Maybe<c10::string_view>), Tensor(const Tensor&, bool),
    Tensor(const Tensor&, double, bool), Tensor(const Tensor&, const Tensor&, int64_t),
    Tensor(const Tensor&, const Tensor&, SymInt, bool, bool),
    Tensor(const Tensor&, const Tensor&, const Maybe<Tensor>&, int64_t, SymInt),
    Tensor(const Tensor&, const Tensor&, const Maybe<Tensor>&, int64_t, SymInt, double),
    Tensor(const Tensor&, SymIntArrayRef, const Maybe<Tensor>&, const Maybe<Tensor>&, double, bool)>();

constexpr auto kReductions =
    callers<Tensor(const Tensor&, DType), Tensor(const Tensor&, at::OptionalIntArrayRef, bool, DType),
            Tensor(const Tensor&, at::OptionalIntArrayRef, const Maybe<Scalar>&, bool),
            Tensor(const Tensor&, at::OptionalIntArrayRef, bool, bool), Tensor(const Tensor&, List, bool),
            Tensor(const Tensor&, const Maybe<Scalar>&, List, bool),
            Tensor(const Tensor&, Maybe<int64_t>, bool), Tensor(const Tensor&, int64_t, bool),
            Tensor(const Tensor&, int64_t, DType), std::tuple<Tensor, Tensor>(const Tensor&, int64_t, bool),
            std::tuple<Tensor, Tensor>(const Tensor&, SymInt, int64_t, bool, bool),
            std::tuple<Tensor, Tensor>(const Tensor&, int64_t), Scalar(const Tensor&)>();

constexpr auto kShapes = callers<
    Tensor(const Tensor&, int64_t), Tensor(const Tensor&, int64_t, int64_t), Tensor(const Tensor&, List),
    Tensor(const Tensor&, SymIntArrayRef), Tensor(const Tensor&, SymIntArrayRef, bool),
    Tensor(const Tensor&, int64_t, SymInt), Tensor(const Tensor&, int64_t, SymInt, SymInt),
    Tensor(const Tensor&, List, List), Tensor(const Tensor&, int64_t, const Tensor&),
    Tensor(const Tensor&, int64_t, const Tensor&, bool),
    Tensor(const Tensor&, int64_t, const Tensor&, const Tensor&),
    Tensor(const Tensor&, int64_t, const Tensor&, const Scalar&), Tensor(const at::ITensorListRef&, int64_t),
    Tensor(at::TensorList, int64_t), Tensor(at::TensorList), Tensor(const Tensor&, Format),
    Tensor(const Tensor&, at::ScalarType, bool, bool, Format),
    Tensor(const Tensor&, const Tensor&, bool, bool, Format),
    Tensor(const Tensor&, DType, Maybe<at::Layout>, Maybe<at::Device>, Maybe<bool>, bool, bool, Format),
    std::vector<Tensor>(const Tensor&, int64_t, int64_t), std::vector<Tensor>(const Tensor&, int64_t),
    std::vector<Tensor>(const Tensor&, SymInt, int64_t),
    std::vector<Tensor>(const Tensor&, SymIntArrayRef, int64_t)>();

constexpr auto kFactories =
    callers<Factory<SymIntArrayRef>, Factory<SymIntArrayRef, const Scalar&>,
            FactoryWithFormat<SymIntArrayRef>, Factory<const Scalar&>, Factory<const Scalar&, const Scalar&>,
            Factory<const Scalar&, const Scalar&, const Scalar&>,
            Factory<const Scalar&, const Scalar&, int64_t>, Factory<SymInt>, Factory<SymInt, SymIntArrayRef>,
            Factory<SymInt, SymInt, SymIntArrayRef>, FactoryWithFormat<const Tensor&>,
            FactoryWithFormat<const Tensor&, const Scalar&>>();

constexpr auto kInPlace =
    callers<Tensor&(Tensor&), Tensor&(Tensor&, const Tensor&), Tensor&(Tensor&, const Scalar&),
            Tensor&(Tensor&, const Tensor&, const Scalar&), Tensor&(Tensor&, const Tensor&, bool),
            Tensor&(Tensor&, const Scalar&, const Scalar&), Tensor&(Tensor&, const Tensor&, const Tensor&),
            Tensor&(Tensor&, const Tensor&, const Tensor&, const Scalar&),
            Tensor&(Tensor&, const Maybe<Scalar>&, const Maybe<Scalar>&),
            Tensor&(Tensor&, double, double, Maybe<at::Generator>)>();

template <size_t N>
TypedCall first_that_fits(const std::array<Candidate, N>& candidates, const Plan& plan) {
  for (const Candidate& candidate : candidates) {
    if (auto handle = candidate.handle_of(plan)) {
      return {candidate.call, std::move(handle)};
    }
  }
  return {};
}

}  // namespace

TypedCall typed_call_of(const Plan& plan) {
  if (plan.crash_guard != nullptr) {
    return {};
  }
  if (plan.is_in_place) {
    return first_that_fits(kInPlace, plan);
  }
  TypedCall found = first_that_fits(kFunctions, plan);
  for (const auto find : {+[](const Plan& p) { return first_that_fits(kReductions, p); },
                          +[](const Plan& p) { return first_that_fits(kShapes, p); },
                          +[](const Plan& p) { return first_that_fits(kFactories, p); }}) {
    found = found.function != nullptr ? found : find(plan);
  }
  return found;
}

}  // namespace simple_torch::abi
