// Bodies of op_direct and op_defaults: operators by name, with the overload resolved once for each
// combination of types.
#include <ATen/ScalarOps.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abi/backend/guarded.h"
#include "abi/backend/operator_values.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/counted_lock.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/operators.h"
#include "core_libtorch/skip_autograd.h"
#include "core_libtorch/thread_generator.h"
#include "core_libtorch/unboxed.h"

namespace simple_torch::abi {
namespace {

using c10::IValue;

constexpr int64_t kNotCalled = -1, kSeveralResults = -2;

/// The results of this thread's last call with kSeveralResults, in the format of spt_op.
class PendingResults {
 public:
  void set(std::vector<IValue> values, const std::string& names) {
    values_ = std::move(values);
    names_ = names;
  }
  SplArray* take() {
    if (values_.empty()) {
      throw Error(ErrorKind::kInvalidArgument, "op_direct_results: there are no results");
    }
    const std::vector<IValue> values = std::exchange(values_, {});
    return Results(values).take_array(names_);
  }

 private:
  std::vector<IValue> values_;
  std::string names_;
};

thread_local PendingResults pending_results;

std::atomic<bool> defaults_are_known{false}, defaults_are_plain{false};

// Functions that Simple does not call as their operator: Python's function has another signature.
constexpr std::array<std::string_view, 12> kOtherSignatures = {"norm",
                                                               "tensordot",
                                                               "cdist",
                                                               "split",
                                                               "sparse_coo_tensor",
                                                               "sparse_compressed_tensor",
                                                               "sparse_csr_tensor",
                                                               "sparse_csc_tensor",
                                                               "sparse_bsr_tensor",
                                                               "sparse_bsc_tensor",
                                                               "device",
                                                               "dtype"};

// How an argument of the operator is made at each call.
enum class Conversion : uint8_t {
  kConstant,  // the default, nil, or a string
  kTensor,
  kBool,
  kInt,
  kFloat,
  kIntAsFloat,
  kWrappedNumber,
  kRepeatedInt,  // 3 for int[2]
  kInts,
  kSizes,  // integers one by one
  kFloats,
  kTensors,
  kDType,
};

struct PlannedArgument {
  Conversion conversion = Conversion::kConstant;
  size_t value = 0;  // the index of the value
  size_t count = 0;  // for kRepeatedInt
  IValue constant;
};

/// A call of one overload with values of known types.
struct Plan {
  const c10::OperatorHandle* op = nullptr;
  std::vector<PlannedArgument> arguments;
  std::optional<size_t> requires_grad;
  core::UnboxedOperator unboxed;
  bool is_random = false, is_factory = false, is_in_place = false;
  bool returns_tensor = false;  // one tensor; otherwise `names` are those of the results
  std::string names;
  bool is_unboxed = false;  // all values are tensors
  void (*crash_guard)(const std::vector<IValue>& arguments) = nullptr;
};

/// The plan of one combination of types; none if spt_op has to choose.
struct PlannedCall {
  std::string types;
  std::optional<Plan> plan;
  PlannedCall* next = nullptr;
};

/// An operator's plans. They are never removed.
struct PlannedOperator {
  std::string name;
  std::atomic<PlannedCall*> calls{nullptr};
  std::atomic<int32_t> count{0};
  PlannedOperator* next = nullptr;
};

constexpr int32_t kMaxPlans = 200;  // of one operator; spt_op chooses for others

class PlanTable {
 public:
  PlannedOperator& of(const char* name) {
    std::atomic<PlannedOperator*>& bucket = buckets_[std::hash<std::string_view>{}(name) % buckets_.size()];
    if (PlannedOperator* found = find(bucket.load(std::memory_order_acquire), name)) {
      return *found;
    }
    const core::CountedLockGuard guard(mutex_);
    PlannedOperator* first = bucket.load(std::memory_order_acquire);
    if (PlannedOperator* found = find(first, name)) {
      return *found;
    }
    auto* added = new PlannedOperator;
    added->name = name;
    added->next = first;
    bucket.store(added, std::memory_order_release);
    return *added;
  }

  /// Another thread may have added the same types; then both entries are equal.
  void add(PlannedOperator& op, std::unique_ptr<PlannedCall> call) {
    const core::CountedLockGuard guard(mutex_);
    call->next = op.calls.load(std::memory_order_relaxed);
    op.count.fetch_add(1, std::memory_order_relaxed);
    op.calls.store(call.release(), std::memory_order_release);
  }

 private:
  static PlannedOperator* find(PlannedOperator* first, const char* name) {
    for (; first != nullptr && first->name != name; first = first->next) {
    }
    return first;
  }

  std::mutex mutex_;
  std::array<std::atomic<PlannedOperator*>, 1024> buckets_{};
};

PlanTable& plan_table() {
  static auto* const table = new PlanTable;  // used by threads that may outlive main
  return *table;
}

/// The arguments of one call.
struct DirectCall {
  const char* kinds;
  c10::ArrayRef<SplValue> values;
  c10::ArrayRef<SplValue> names;
  size_t positional() const { return values.size() - names.size(); }
};

/// A description of the types, for the comparison of calls.
class TypesKey {
 public:
  /// False for a value that has no plan, or if there are too many.
  bool write(const DirectCall& call) {
    for (size_t i = 0; i < call.values.size(); ++i) {
      if (!write(call.kinds[i], call.values[i])) {
        return false;
      }
    }
    for (const SplValue& name : call.names) {
      if (!put('|') || !write_string(string_of(name))) {
        return false;
      }
    }
    return true;
  }
  std::string_view view() const { return {buffer_.data(), used_}; }

 private:
  bool put(char letter) {
    if (used_ == buffer_.size()) {
      return false;
    }
    buffer_[used_++] = letter;
    return true;
  }

  // The length comes first, so that no two keys are equal by chance.
  bool write_string(const char* string) {
    const size_t length = std::strlen(string);
    if (length > buffer_.size() || !put(static_cast<char>(length))) {
      return false;
    }
    for (; *string != 0; ++string) {
      if (!put(*string)) {
        return false;
      }
    }
    return true;
  }

  bool write(char letter, const SplValue& value) {
    switch (letter) {
      case 't':
        return value.tag == SPL_INT && value.as_int != 0 && put('t');
      case 'd':
        return value.tag == SPL_INT && put('d');
      case 'l':
        return value.tag == SPL_ARRAY && put('l');
      case 'v':
        break;
      default:
        return false;
    }
    switch (value.tag) {
      case SPL_NIL:
        return put('n');
      case SPL_BOOL:
        return put('b');
      case SPL_INT:
        return put('i');
      case SPL_FLOAT:
        return put('f');
      case SPL_STRING:
        return put('"') && write_string(string_of(value));
      case SPL_ARRAY:
        return write_list(items_of(value.as_array));
      default:
        return false;
    }
  }

  // I: integers; F: floats, of which some may be integers.
  bool write_list(c10::ArrayRef<SplValue> items) {
    bool has_float = false;
    for (const SplValue& item : items) {
      if (item.tag != SPL_INT && item.tag != SPL_FLOAT) {
        return false;
      }
      has_float = has_float || item.tag == SPL_FLOAT;
    }
    return !items.empty() && put(has_float ? 'F' : 'I');
  }

  size_t used_ = 0;
  std::array<char, 96> buffer_;
};

IValue general_value(char letter, const SplValue& value) {
  return letter == 'd' ? IValue(core::dtype_name(core::dtype_of_code(value.as_int)))
                       : value_by_letter(letter, value);
}

core::CallValues general_values(const DirectCall& call) {
  core::CallValues general;
  for (size_t i = 0; i < call.values.size(); ++i) {
    IValue value = general_value(call.kinds[i], call.values[i]);
    if (i < call.positional()) {
      general.positional.push_back(std::move(value));
    } else {
      general.named.emplace_back(string_of(call.names[i - call.positional()]), std::move(value));
    }
  }
  return general;
}

bool is_int_list(const IValue& value) { return value.isIntList(); }

// How `value`, of the type `letter`, became `result`; nothing if it is not known.
std::optional<Conversion> conversion_of(char letter, const SplValue& value, const IValue& result) {
  if (letter == 'd') {
    return result.isInt() ? std::optional(Conversion::kDType) : std::nullopt;
  }
  if (letter == 't') {
    return result.isTensor() ? std::optional(Conversion::kTensor) : std::nullopt;
  }
  if (letter == 'l') {
    return result.isTensorList() ? std::optional(Conversion::kTensors) : std::nullopt;
  }
  switch (value.tag) {
    case SPL_NIL:
      return result.isNone() ? std::optional(Conversion::kConstant) : std::nullopt;
    case SPL_STRING:
      return Conversion::kConstant;
    case SPL_BOOL:
      return result.isBool() ? std::optional(Conversion::kBool) : std::nullopt;
    case SPL_INT:
      return result.isInt()        ? std::optional(Conversion::kInt)
             : result.isDouble()   ? std::optional(Conversion::kIntAsFloat)
             : result.isTensor()   ? std::optional(Conversion::kWrappedNumber)
             : is_int_list(result) ? std::optional(Conversion::kRepeatedInt)
                                   : std::nullopt;
    case SPL_FLOAT:
      return result.isDouble()   ? std::optional(Conversion::kFloat)
             : result.isTensor() ? std::optional(Conversion::kWrappedNumber)
                                 : std::nullopt;
    case SPL_ARRAY:
      return is_int_list(result)     ? std::optional(Conversion::kInts)
             : result.isDoubleList() ? std::optional(Conversion::kFloats)
                                     : std::nullopt;
    default:
      return std::nullopt;
  }
}

bool writes_argument(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

std::optional<PlannedArgument> planned_argument(const DirectCall& call, const core::ArgumentSource& source,
                                                const IValue& result) {
  using Form = core::ArgumentSource::Form;
  PlannedArgument argument;
  argument.value = source.value;
  if (source.form == Form::kDefault) {
    argument.constant = result;
    return argument;
  }
  if (source.form == Form::kSizes) {
    argument.conversion = Conversion::kSizes;
    return argument;
  }
  const auto conversion = conversion_of(call.kinds[source.value], call.values[source.value], result);
  if (!conversion) {
    return std::nullopt;
  }
  argument.conversion = *conversion;
  if (argument.conversion == Conversion::kConstant) {
    argument.constant = result;
  } else if (argument.conversion == Conversion::kRepeatedInt) {
    argument.count = result.toIntVector().size();
  }
  return argument;
}

std::optional<Plan> make_plan(const std::string& name, const DirectCall& call) {
  if (std::find(kOtherSignatures.begin(), kOtherSignatures.end(), name) != kOtherSignatures.end()) {
    return std::nullopt;
  }
  const auto choice = core::choose_by_types(name, general_values(call));
  if (!choice) {
    return std::nullopt;
  }
  const c10::FunctionSchema& schema = choice->op->schema();
  const auto& arguments = schema.arguments();
  const bool returns_tensor =
      schema.returns().size() == 1 && schema.returns()[0].type()->kind() == c10::TypeKind::TensorType;
  const bool is_in_place = name.ends_with('_') && !name.ends_with("__");
  const auto written = std::count_if(arguments.begin(), arguments.end(), writes_argument);
  const bool is_known = (returns_tensor || !is_in_place) && !schema.returns().empty() &&
                        written == (is_in_place ? 1 : 0) && (!is_in_place || writes_argument(arguments[0])) &&
                        !schema.is_vararg();
  if (!is_known) {
    return std::nullopt;
  }
  Plan plan;
  plan.op = choice->op;
  plan.requires_grad = choice->requires_grad;
  plan.unboxed = core::unboxed_operator(*choice->op);
  plan.is_random = choice->is_random;
  plan.is_factory = schema.argumentIndexWithName("pin_memory").has_value();
  plan.is_in_place = is_in_place;
  plan.returns_tensor = returns_tensor;
  plan.names = core::names_of_results(schema);
  plan.crash_guard = choice->crash_guard;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto argument = planned_argument(call, choice->sources.at(i), choice->stack.at(i));
    if (!argument) {
      return std::nullopt;
    }
    plan.arguments.push_back(std::move(*argument));
  }
  const auto tensors = static_cast<size_t>(core::tensors_of(plan.unboxed.signature));
  const auto is_own_tensor = [&](size_t i) {
    return plan.arguments[i].conversion == Conversion::kTensor && plan.arguments[i].value == i;
  };
  plan.is_unboxed =
      tensors > 0 && call.values.size() == tensors && is_own_tensor(0) && is_own_tensor(tensors - 1);
  return plan;
}

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
  }
  return {};
}

at::Tensor run_unboxed(const Plan& plan, const DirectCall& call) {
  const auto a = tensor_argument(call.values.front().as_int);
  const auto b = tensor_argument(call.values.back().as_int);
  return core::call_unboxed(plan.unboxed, *a, &*b);
}

std::vector<IValue> run_boxed(const Plan& plan, const DirectCall& call) {
  std::vector<IValue> stack;
  stack.reserve(plan.arguments.size());
  std::array<const at::Tensor*, 8> operands;
  size_t count = 0;
  bool skips_autograd = plan.unboxed.skips_autograd;
  for (const PlannedArgument& argument : plan.arguments) {
    stack.push_back(planned_value(argument, call));
    if (argument.conversion == Conversion::kTensors || count == operands.size()) {
      skips_autograd = false;
    } else if (argument.conversion == Conversion::kTensor) {
      operands[count++] = &stack.back().toTensor();
    }
  }
  if (plan.crash_guard != nullptr) {
    plan.crash_guard(stack);
  }
  if (skips_autograd && count > 0) {
    const core::SkipAutogradGuard shortcut(operands.data(), operands.data() + count);
    plan.op->callBoxed(&stack);
  } else {
    plan.op->callBoxed(&stack);
  }
  return stack;
}

// A failed call may have changed its tensor, so that it is not repeated; the error is that of spt_op.
void run_in_place(const char* name, const Plan& plan, const DirectCall& call) {
  try {
    run_boxed(plan, call);
  } catch (::abi::__forced_unwind&) {
    throw;
  } catch (...) {
    std::vector<at::Tensor> operands;
    for (const PlannedArgument& argument : plan.arguments) {
      if (argument.conversion == Conversion::kTensor) {
        operands.push_back(*tensor_argument(call.values[argument.value].as_int));
      }
    }
    core::with_error_context(name, operands, [] { throw; });
  }
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
  if (!plan.returns_tensor) {
    pending_results.set(run_boxed(plan, call), plan.names);
    return kSeveralResults;
  }
  at::Tensor result =
      plan.is_unboxed ? run_unboxed(plan, call) : std::move(run_boxed(plan, call).front()).toTensor();
  if (plan.requires_grad && call.values[*plan.requires_grad].as_bool) {
    result.set_requires_grad(true);
  }
  return result.defined() ? new_handle(std::move(result)) : kNotCalled;
}

int64_t call_directly(const char* name, const DirectCall& call) {
  TypesKey key;
  if (!defaults_are_known.load(std::memory_order_relaxed) || call.names.size() > call.values.size() ||
      allocation_trace::traced.load(std::memory_order_relaxed) || !key.write(call)) {
    return kNotCalled;
  }
  PlannedOperator& op = plan_table().of(name);
  for (const PlannedCall* known = op.calls.load(std::memory_order_acquire); known != nullptr;
       known = known->next) {
    if (known->types == key.view()) {
      return known->plan ? run_plan(name, *known->plan, call) : kNotCalled;
    }
  }
  if (op.count.load(std::memory_order_relaxed) >= kMaxPlans) {
    return kNotCalled;
  }
  auto planned = std::make_unique<PlannedCall>();
  planned->types = key.view();
  planned->plan = make_plan(name, call);
  PlannedCall* added = planned.get();
  plan_table().add(op, std::move(planned));
  return added->plan ? run_plan(name, *added->plan, call) : kNotCalled;
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
  return guarded_result(out, [&] { return pending_results.take(); });
}

int32_t op_defaults(bool are_known, bool are_plain) {
  return guarded([&] {
    defaults_are_known = are_known;
    defaults_are_plain = are_plain;
  });
}

}  // namespace body
}  // namespace simple_torch::abi
