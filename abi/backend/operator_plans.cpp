#include "abi/backend/operator_plans.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "abi/backend/arrays.h"
#include "abi/backend/python_forms.h"
#include "core_libtorch/counted_lock.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/unboxed.h"

namespace simple_torch::abi {
namespace {

using c10::IValue;

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
      case 'g':
        return value.tag == SPL_INT && value.as_int != 0 && put('g');
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
  if (letter == 'g') {
    return result.isGenerator() ? std::optional(Conversion::kGenerator) : std::nullopt;
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

Returns returned_by(const c10::FunctionSchema& schema, const std::string& names) {
  const auto& results = schema.returns();
  if (results.empty()) {
    return Returns::kNothing;
  }
  if (results.size() == 1) {
    return is_tensor_result(results[0])                                  ? Returns::kTensor
           : results[0].type()->isSubtypeOf(*c10::ListType::ofTensors()) ? Returns::kTensors
                                                                         : Returns::kOther;
  }
  if (!std::all_of(results.begin(), results.end(), is_tensor_result)) {
    return Returns::kOther;
  }
  const bool is_plain = std::any_of(results.begin(), results.end(),
                                    [](const c10::Argument& result) { return result.name().empty(); });
  return is_plain                    ? Returns::kTensorTuple
         : names == "values,indices" ? Returns::kValuesAndIndices
                                     : Returns::kOther;
}

// The tensors of a list are not examined. Without any tensor, as in Python, only factories skip autograd.
bool may_skip_autograd(const Plan& plan) {
  const auto has = [&](Conversion conversion) {
    return std::any_of(plan.arguments.begin(), plan.arguments.end(),
                       [&](const PlannedArgument& argument) { return argument.conversion == conversion; });
  };
  return core::can_skip_autograd(*plan.op) && !has(Conversion::kTensors) &&
         (has(Conversion::kTensor) || plan.is_factory);
}

// An operator without results sets a flag of its tensor, such as retain_grad.
bool is_plannable(const c10::FunctionSchema& schema, bool is_in_place) {
  const auto& arguments = schema.arguments();
  const Returns returns = returned_by(schema, "");
  const auto written = std::count_if(arguments.begin(), arguments.end(), writes_argument);
  const bool writes_first = written == 1 && writes_argument(arguments[0]);
  if (schema.is_vararg()) {
    return false;
  }
  if (is_in_place) {
    return writes_first && returns == Returns::kTensor;
  }
  return written == 0 || (writes_first && returns == Returns::kNothing);
}

// The sources of a choice for a Python form, as those of the caller. A constant has none.
void use_sources_of_caller(core::OverloadChoice& choice, const PythonForm& form) {
  using Form = core::ArgumentSource::Form;
  for (core::ArgumentSource& source : choice.sources) {
    if (source.form == Form::kDefault) {
      continue;
    }
    if (const std::optional<size_t> value = form.sources.at(source.value)) {
      source.value = *value;
    } else {
      source = {};
    }
  }
}

std::optional<Plan> make_plan(const std::string& name, const DirectCall& call) {
  const auto form = python_form(name, call);
  if (!form && is_other_function(name)) {
    return std::nullopt;
  }
  auto choice = form ? core::choose_by_types(form->name, form->values)
                     : core::choose_by_types(name, general_values(call));
  if (!choice) {
    return std::nullopt;
  }
  if (form) {
    use_sources_of_caller(*choice, *form);
  }
  const c10::FunctionSchema& schema = choice->op->schema();
  const auto& arguments = schema.arguments();
  const bool is_in_place = name.ends_with('_') && !name.ends_with("__");
  if (!is_plannable(schema, is_in_place)) {
    return std::nullopt;
  }
  Plan plan;
  plan.op = choice->op;
  plan.requires_grad = choice->requires_grad;
  plan.is_random = choice->is_random;
  plan.is_factory = schema.argumentIndexWithName("pin_memory").has_value();
  plan.is_in_place = is_in_place;
  plan.names = core::names_of_results(schema);
  plan.returns = returned_by(schema, plan.names);
  plan.crash_guard = choice->crash_guard;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto argument = planned_argument(call, choice->sources.at(i), choice->stack.at(i));
    if (!argument) {
      return std::nullopt;
    }
    plan.arguments.push_back(std::move(*argument));
  }
  plan.skips_autograd = may_skip_autograd(plan);
  plan.typed = typed_call_of(plan);
  return plan;
}

// A name is usually the same constant of the caller. Its address is a hint only, because memory is reused.
PlannedOperator& planned_operator(const char* name) {
  static constinit std::array<std::atomic<PlannedOperator*>, 256> hints{};
  std::atomic<PlannedOperator*>& hint = hints[(reinterpret_cast<uintptr_t>(name) >> 5) % hints.size()];
  PlannedOperator* op = hint.load(std::memory_order_acquire);
  if (op == nullptr || std::strcmp(op->name.c_str(), name) != 0) {
    op = &plan_table().of(name);
    hint.store(op, std::memory_order_release);
  }
  return *op;
}

}  // namespace

const Plan* plan_of(const char* name, const DirectCall& call) {
  TypesKey key;
  if (!key.write(call)) {
    return nullptr;
  }
  PlannedOperator& op = planned_operator(name);
  for (const PlannedCall* known = op.calls.load(std::memory_order_acquire); known != nullptr;
       known = known->next) {
    if (known->types == key.view()) {
      return known->plan ? &*known->plan : nullptr;
    }
  }
  if (op.count.load(std::memory_order_relaxed) >= kMaxPlans) {
    return nullptr;
  }
  auto planned = std::make_unique<PlannedCall>();
  planned->types = key.view();
  planned->plan = make_plan(name, call);
  const PlannedCall* added = planned.get();
  plan_table().add(op, std::move(planned));
  return added->plan ? &*added->plan : nullptr;
}

}  // namespace simple_torch::abi
