// Bodies of op_direct and op_defaults: operators by name, called by their plans.
#include <ATen/ScalarOps.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "abi/backend/guarded.h"
#include "abi/backend/operator_defaults.h"
#include "abi/backend/operator_plans.h"
#include "abi/backend/operator_values.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/skip_autograd.h"
#include "core_libtorch/thread_generator.h"
#include "core_libtorch/thread_object.h"

namespace simple_torch::abi {
namespace {

using c10::IValue;

constexpr int64_t kNotCalled = -1, kSeveralResults = -2, kTensorList = -3, kValuesAndIndices = -4,
                  kFloat = -5, kInteger = -6, kBool = -7, kTensorTuple = -8, kNothing = -9;

/// The results of this thread's last call that returned several.
class PendingResults {
 public:
  void set(std::vector<IValue> values, const std::string& names) {
    values_ = std::move(values);
    names_ = names;
  }
  void set(std::vector<at::Tensor> tensors) {
    tensors_ = std::move(tensors);
    next_ = 0;
  }

  /// In the format of spt_op.
  SplArray* take() {
    if (values_.empty()) {
      throw Error(ErrorKind::kInvalidArgument, "op_direct_results: there are no results");
    }
    const std::vector<IValue> values = std::exchange(values_, {});
    return Results(values).take_array(names_);
  }

  void set_number(int64_t bits) { number_ = bits; }
  int64_t number() const { return number_; }

  /// A handle of the next tensor; 0 after the last.
  int64_t take_tensor() {
    if (next_ < tensors_.size()) {
      return new_handle(std::move(tensors_[next_++]));
    }
    tensors_.clear();
    return 0;
  }

 private:
  std::vector<IValue> values_;
  std::string names_;
  std::vector<at::Tensor> tensors_;
  size_t next_ = 0;
  int64_t number_ = 0;
};

PendingResults& pending_results() { return core::thread_object<PendingResults, PendingResults>(); }

std::atomic<bool> defaults_are_known{false}, defaults_are_plain{false};

double float_of_number(const SplValue& value) {
  return value.tag == SPL_FLOAT ? value.as_float : static_cast<double>(value.as_int);
}

template <class T, class Convert>
IValue typed_list_value(c10::ArrayRef<SplValue> items, Convert&& take) {
  c10::List<T> list;
  list.reserve(items.size());
  for (const SplValue& item : items) {
    list.push_back(take(item));
  }
  return IValue(std::move(list));
}

int64_t planned_integer(const SplValue& value) { return value.as_int; }

IValue planned_value(const PlannedArgument& argument, const DirectCall& call) {
  const SplValue* value =
      argument.conversion == Conversion::kConstant ? nullptr : &call.values[argument.value];
  switch (argument.conversion) {
    case Conversion::kConstant:
      return argument.constant;
    case Conversion::kTensor:
      return IValue(*tensor_argument(value->as_int));
    case Conversion::kBool:
      return IValue(value->as_bool);
    case Conversion::kInt:
      return IValue(value->as_int);
    case Conversion::kFloat:
      return IValue(value->as_float);
    case Conversion::kIntAsFloat:
      return IValue(static_cast<double>(value->as_int));
    case Conversion::kWrappedNumber:
      return IValue(at::native::wrapped_scalar_tensor(value->tag == SPL_FLOAT ? at::Scalar(value->as_float)
                                                                              : at::Scalar(value->as_int)));
    case Conversion::kRepeatedInt:
      return IValue(c10::List<int64_t>(std::vector<int64_t>(argument.count, value->as_int)));
    case Conversion::kInts:
      return typed_list_value<int64_t>(items_of(value->as_array), planned_integer);
    case Conversion::kSizes:
      return typed_list_value<int64_t>(call.values.slice(argument.value, call.positional() - argument.value),
                                       planned_integer);
    case Conversion::kFloats:
      return typed_list_value<double>(items_of(value->as_array), float_of_number);
    case Conversion::kTensors:
      return typed_list_value<at::Tensor>(items_of(value->as_array),
                                          [](const SplValue& item) { return *tensor_argument(item.as_int); });
    case Conversion::kDType:
      return IValue(core::code_of_dtype(core::dtype_of_code(value->as_int)));
    case Conversion::kGenerator:
      return value_by_letter('g', *value);
  }
  return {};
}

std::vector<IValue> run_boxed(const Plan& plan, const DirectCall& call) {
  std::vector<IValue> stack;
  stack.reserve(plan.arguments.size());
  std::array<const at::Tensor*, 8> operands;
  size_t count = 0;
  bool skips_autograd = plan.skips_autograd;
  for (const PlannedArgument& argument : plan.arguments) {
    stack.push_back(planned_value(argument, call));
    if (argument.conversion != Conversion::kTensor) {
      continue;
    }
    if (count == operands.size()) {
      skips_autograd = false;
      continue;
    }
    operands[count++] = &stack.back().toTensor();
  }
  if (plan.crash_guard != nullptr) {
    plan.crash_guard(stack);
  }
  if (skips_autograd) {
    const core::SkipAutogradGuard shortcut(operands.data(), operands.data() + count);
    plan.op->callBoxed(&stack);
  } else {
    plan.op->callBoxed(&stack);
  }
  return stack;
}

// Calls the operator boxed, with the results of a typed call; other results stay in `values`.
TypedResult run_boxed(const Plan& plan, const DirectCall& call, std::vector<IValue>& values) {
  values = run_boxed(plan, call);
  TypedResult result;
  switch (plan.returns) {
    case Returns::kTensor:
      result.tensor = std::move(values.front()).toTensor();
      break;
    case Returns::kTensors:
      result.several = values.front().toTensorVector();
      break;
    case Returns::kValuesAndIndices:
    case Returns::kTensorTuple:
      for (const IValue& value : values) {
        result.several.push_back(value.toTensor());
      }
      break;
    case Returns::kNothing:
    case Returns::kOther:
      break;
  }
  return result;
}

void run(const Plan& plan, const DirectCall& call, TypedResult& result, std::vector<IValue>& values) {
  if (plan.typed.function != nullptr) {
    plan.typed.function(plan, call, result);
  } else {
    result = run_boxed(plan, call, values);
  }
}

// A failed call may have changed its tensor, so that it is not repeated; the error is that of spt_op.
void run_in_place(const char* name, const Plan& plan, const DirectCall& call) {
  try {
    TypedResult result;
    std::vector<IValue> values;
    run(plan, call, result, values);
  } catch (...) {
    if (is_forced_unwind()) {
      throw;
    }
    std::vector<at::Tensor> operands;
    for (const PlannedArgument& argument : plan.arguments) {
      if (argument.conversion == Conversion::kTensor) {
        operands.push_back(*tensor_argument(call.values[argument.value].as_int));
      }
    }
    core::with_error_context(name, operands, [] { throw; });
  }
}

// The results of a typed call as those of a boxed one.
std::vector<IValue> boxed_results(const Plan& plan, std::vector<at::Tensor> tensors) {
  std::vector<IValue> values;
  if (plan.returns == Returns::kTensors) {
    values.emplace_back(std::move(tensors));
  } else {
    std::move(tensors.begin(), tensors.end(), std::back_inserter(values));
  }
  return values;
}

// Keeps a number for op_direct_number; kSeveralResults for another value.
int64_t keep_number(const IValue& value) {
  if (value.isDouble()) {
    pending_results().set_number(std::bit_cast<int64_t>(value.toDouble()));
    return kFloat;
  }
  if (value.isInt() || value.isBool()) {
    pending_results().set_number(value.isInt() ? value.toInt() : static_cast<int64_t>(value.toBool()));
    return value.isInt() ? kInteger : kBool;
  }
  return kSeveralResults;
}

int64_t kind_of_tensors(Returns returns) {
  return returns == Returns::kTensors            ? kTensorList
         : returns == Returns::kValuesAndIndices ? kValuesAndIndices
                                                 : kTensorTuple;
}

// Keeps several results for op_direct_tensor, or for op_direct_results where not all are tensors.
int64_t keep_results(const Plan& plan, std::vector<at::Tensor> tensors, std::vector<IValue> values) {
  const bool are_tensors =
      plan.returns != Returns::kOther &&
      std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) { return tensor.defined(); });
  if (are_tensors) {
    pending_results().set(std::move(tensors));
    return kind_of_tensors(plan.returns);
  }
  if (values.size() == 1) {
    if (const int64_t kind = keep_number(values.front()); kind != kSeveralResults) {
      return kind;
    }
  }
  pending_results().set(values.empty() ? boxed_results(plan, std::move(tensors)) : std::move(values),
                        plan.names);
  return kSeveralResults;
}

int64_t run_plan(const char* name, const Plan& plan, const DirectCall& call) {
  if ((plan.is_factory && !defaults_are_plain.load(std::memory_order_relaxed)) ||
      (plan.is_random && core::thread_generator().defined())) {
    return kNotCalled;
  }
  if (plan.is_in_place) {
    run_in_place(name, plan, call);
    return call.values.front().as_int;
  }
  TypedResult result;
  std::vector<IValue> values;
  run(plan, call, result, values);
  if (plan.returns == Returns::kNothing) {
    return kNothing;
  }
  if (result.number) {
    values.emplace_back(*result.number);
  }
  if (plan.returns != Returns::kTensor) {
    return keep_results(plan, std::move(result.several), std::move(values));
  }
  if (plan.requires_grad && call.values[*plan.requires_grad].as_bool) {
    result.tensor.set_requires_grad(true);
  }
  return result.tensor.defined() ? new_handle(std::move(result.tensor)) : kNotCalled;
}

int64_t call_directly(const char* name, const DirectCall& call) {
  if (!defaults_are_known.load(std::memory_order_relaxed) ||
      allocation_trace::traced.load(std::memory_order_relaxed)) {
    return kNotCalled;
  }
  const Plan* plan = plan_of(name, call);
  return plan == nullptr ? kNotCalled : run_plan(name, *plan, call);
}

/// Throws unless they are strings, at most one for each value.
void require_names(c10::ArrayRef<SplValue> names, size_t count) {
  const bool are_strings =
      std::all_of(names.begin(), names.end(), [](const SplValue& name) { return name.tag == SPL_STRING; });
  if (!are_strings || names.size() > count) {
    throw Error(ErrorKind::kInvalidArgument, "op_direct: names must be strings, at most one for each value");
  }
}

}  // namespace

bool has_plain_defaults() noexcept {
  return defaults_are_known.load(std::memory_order_relaxed) &&
         defaults_are_plain.load(std::memory_order_relaxed);
}

namespace body {

int32_t op_direct(const char* name, const char* kinds, const SplArray* values, const SplArray* names,
                  int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(name, "name");
    count_of_values(kinds, values);
    require_names(items_of(names), items_of(values).size());
    *out = call_directly(name, {kinds, items_of(values), items_of(names)});
  });
}

int32_t op_direct_results(SplArray** out) {
  return guarded_result(out, [&] { return pending_results().take(); });
}

int32_t op_direct_tensor(int64_t* out) {
  return guarded_result(out, [] { return pending_results().take_tensor(); });
}

int32_t op_direct_number(int64_t* out) {
  return guarded_result(out, [] { return pending_results().number(); });
}

int32_t op_defaults(bool are_known, bool are_plain) {
  return guarded([&] {
    defaults_are_known = are_known;
    defaults_are_plain = are_plain;
  });
}

}  // namespace body
}  // namespace simple_torch::abi
