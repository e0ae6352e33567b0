#include "core_libtorch/operators.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <unordered_map>

#include "core_libtorch/coercion.h"
#include "core_libtorch/counted_lock.h"
#include "core_libtorch/crash_guards.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/thread_generator.h"

namespace simple_torch::core {
namespace {

using c10::IValue;
using Stack = std::vector<IValue>;
using Overloads = std::vector<c10::OperatorHandle>;

std::string qualified(const std::string& name) {
  return name.find("::") == std::string::npos ? "aten::" + name : name;
}

// An overload without a name is called "default" in Python.
std::string schemas_word(const std::string& overload) { return overload == "default" ? "" : overload; }

// All overloads of an operator, or with its name behind a dot one of them ("aten::add.Tensor").
// The JIT's list keeps the order of PyTorch's own declarations; what only the JIT has is no operator of the
// dispatcher.
Overloads look_up(const std::string& full_name) {
  const size_t dot = full_name.rfind('.');
  const bool all = dot == std::string::npos;
  const std::string wanted = all ? "" : schemas_word(full_name.substr(dot + 1));
  Overloads found;
  for (const auto& op :
       torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(full_name.substr(0, dot)))) {
    const auto& schema = op->schema();
    if (!all && schema.overload_name() != wanted) {
      continue;
    }
    if (const auto handle =
            c10::Dispatcher::singleton().findSchema({schema.name(), schema.overload_name()})) {
      found.push_back(*handle);
    }
  }
  return found;
}

// Names of the known operators; entries never move and never go.
class Known {
 public:
  const Overloads& of(const std::string& name) {
    {
      const std::shared_lock reading(mutex_);
      if (const auto found = by_name_.find(name); found != by_name_.end()) {
        return *found->second;
      }
    }
    const std::string full_name = qualified(name);
    return full_name == name ? look_up_and_keep(name) : under_second_name(name, of(full_name));
  }

 private:
  static const Overloads& none() {
    static const Overloads empty;
    return empty;
  }

  const Overloads& look_up_and_keep(const std::string& name) {
    Overloads looked_up = look_up(name);
    if (looked_up.empty()) {
      return none();
    }
    const CountedLockGuard writing(mutex_);
    if (const auto found = by_name_.find(name); found != by_name_.end()) {
      return *found->second;
    }
    return *(by_name_[name] = &lists_.emplace_back(std::move(looked_up)));
  }

  // One list for both, so that the address of an overload tells which it is.
  const Overloads& under_second_name(const std::string& name, const Overloads& list) {
    if (!list.empty()) {
      const CountedLockGuard writing(mutex_);
      by_name_[name] = &list;
    }
    return list;
  }

  std::shared_mutex mutex_;
  std::deque<Overloads> lists_;
  std::unordered_map<std::string, const Overloads*> by_name_;
};

Known& known() {
  static auto* const all = new Known;  // used by threads that may outlive main
  return *all;
}

// PyTorch's Python functions give some arguments other names than the schemas.
bool is_called(const c10::Argument& argument, const std::string& name) {
  const std::string& own = argument.name();
  return own == name || (own == "self" && name == "input") || (own == "dim" && name == "axis") ||
         (own == "keepdim" && name == "keepdims");
}

// Values on their way into one overload's stack.
class Binding {
 public:
  Binding(const c10::FunctionSchema& schema, const CallValues& given, Fit fit)
      : schema_(schema), given_(given), fit_(fit), used_(given.named.size(), false) {
    const auto& arguments = schema.arguments();
    positions_ = static_cast<size_t>(
        std::count_if(arguments.begin(), arguments.end(), [](const auto& a) { return !a.kwarg_only(); }));
    outs_ = static_cast<size_t>(
        std::count_if(arguments.begin(), arguments.end(), [](const auto& a) { return a.is_out(); }));
  }

  // The stack, or nothing and why().
  std::optional<Stack> bind() {
    Stack stack;
    stack.reserve(schema_.arguments().size());
    for (const c10::Argument& argument : schema_.arguments()) {
      std::optional<IValue> value = value_of(argument);
      if (!value || (!takes_default_ && !fits(*value, argument))) {
        return std::nullopt;
      }
      stack.push_back(std::move(*value));
    }
    if (next_ < given_.positional.size()) {
      return refuse("it takes " + std::to_string(positions_) + " positional arguments, not " +
                    std::to_string(given_.positional.size()));
    }
    for (size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i]) {
        return refuse("it has no argument '" + given_.named[i].first + "'");
      }
    }
    return stack;
  }

  const std::string& why() const { return why_; }

 private:
  std::nullopt_t refuse(std::string why) {
    why_ = std::move(why);
    return std::nullopt;
  }

  bool fits(IValue& value, const c10::Argument& argument) {
    const IValue given = value;
    if (coerce(value, argument, fit_)) {
      return true;
    }
    const std::string shown = given.isString() ? "'" + given.toStringRef() + "'" : kind_of(given);
    refuse("its argument '" + argument.name() + "' is " + kind_of(argument) + ", not " + shown +
           (is_device(argument) ? "; the devices here are " + devices_here() : ""));
    return false;
  }

  std::optional<IValue> value_of(const c10::Argument& argument) {
    takes_default_ = false;
    if (next_ < given_.positional.size() && !argument.kwarg_only()) {
      return positional(argument);
    }
    if (auto value = named(argument)) {
      return value;
    }
    if (argument.default_value()) {
      takes_default_ = true;
      return argument.default_value();
    }
    return refuse("its argument '" + argument.name() + "' is missing");
  }

  // Sizes may be given one by one, to the last positional argument.
  std::optional<IValue> positional(const c10::Argument& argument) {
    const auto first = given_.positional.begin() + static_cast<std::ptrdiff_t>(next_);
    const bool is_last = ++next_ == positions_;
    if (!is_last || !first->isInt() || !is_list_of_ints(argument)) {
      return *first;
    }
    if (argument.N() && first + 1 == given_.positional.end()) {
      return *first;
    }
    if (!std::all_of(first, given_.positional.end(), [](const IValue& value) { return value.isInt(); })) {
      return *first;
    }
    c10::List<int64_t> sizes;
    for (auto at = first; at != given_.positional.end(); ++at) {
      sizes.push_back(at->toInt());
    }
    next_ = given_.positional.size();
    return IValue(std::move(sizes));
  }

  static bool is_device(const c10::Argument& argument) {
    const auto optional = argument.type()->cast<c10::OptionalType>();
    const c10::TypePtr type = optional != nullptr ? optional->getElementType() : argument.type();
    return type->kind() == c10::TypeKind::DeviceObjType;
  }

  static bool is_list_of_ints(const c10::Argument& argument) {
    const auto list = argument.type()->cast<c10::ListType>();
    return list != nullptr && list->getElementType()->kind() == c10::TypeKind::IntType;
  }

  std::optional<IValue> named(const c10::Argument& argument) {
    for (size_t i = 0; i < used_.size(); ++i) {
      const auto& [name, value] = given_.named[i];
      if (is_called(argument, name) && !used_[i]) {
        used_[i] = true;
        return value;
      }
      if (argument.is_out() && name == "out") {
        used_[i] = true;
        return out_part(value);
      }
    }
    return std::nullopt;
  }

  // `out` is the one result, or a list of all of them.
  std::optional<IValue> out_part(const IValue& value) {
    if (outs_ == 1 || !value.isList()) {
      return value;
    }
    const auto parts = value.toListRef();
    if (parts.size() != outs_) {
      return refuse("its results are " + std::to_string(outs_) + ", and out has " +
                    std::to_string(parts.size()));
    }
    return parts[next_out_++];
  }

  const c10::FunctionSchema& schema_;
  const CallValues& given_;
  Fit fit_;
  std::vector<bool> used_;
  size_t positions_ = 0, outs_ = 0;
  size_t next_ = 0, next_out_ = 0;
  bool takes_default_ = false;
  std::string why_;
};

std::string shown_call(const std::string& name, const CallValues& values) {
  std::string shown = name + "(";
  for (const IValue& value : values.positional) {
    shown += (shown.back() == '(' ? "" : ", ") + kind_of(value);
  }
  for (const auto& [key, value] : values.named) {
    shown += (shown.back() == '(' ? "" : ", ") + key + ": " + kind_of(value);
  }
  return shown + ")";
}

std::string shown_schema(const c10::FunctionSchema& schema) { return c10::toString(schema); }

Error nothing_fits(const std::string& name, const CallValues& values, const Overloads& overloads) {
  std::string message = "there is no " + shown_call(name, values);
  for (const auto& op : overloads) {
    Binding binding(op.schema(), values, Fit::kLoose);
    binding.bind();
    message += "\n  " + shown_schema(op.schema()) + "\n    " + binding.why();
  }
  ErrorFields fields;
  fields.op = name;
  return {ErrorKind::kInvalidArgument, message, fields};
}

struct Chosen {
  const c10::OperatorHandle* op;
  Stack stack;
};

// Operators for which PyTorch's Python makes a tensor of a number on either side, and so calls their first
// overload.
bool takes_numbers_as_tensors(std::string_view op) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "copy", "add", "sub", "mul", "div", "multiply", "subtract", "divide", "true_divide", "floor_divide"};
  if (op.starts_with("aten::")) {
    op.remove_prefix(6);
  }
  if (op.ends_with('_')) {
    op.remove_suffix(1);
  }
  return std::find(kNames.begin(), kNames.end(), op) != kNames.end();
}

std::optional<Chosen> choose(const Overloads& overloads, const CallValues& values) {
  const bool arithmetic = takes_numbers_as_tensors(overloads.front().schema().name());
  for (const Fit fit : {arithmetic ? Fit::kDispatcher : Fit::kExact, Fit::kExact, Fit::kLoose}) {
    for (const auto& op : overloads) {
      if (auto stack = Binding(op.schema(), values, fit).bind()) {
        return Chosen{&op, std::move(*stack)};
      }
    }
  }
  return std::nullopt;
}

bool is_of_cpu(const std::string& name, const IValue& value) {
  if (value.isTensor()) {
    return value.toTensor().is_cpu();
  }
  return name != "device" || value.isNone() || (value.isString() && value.toStringRef().starts_with("cpu"));
}

bool is_drawing(const Overloads& overloads) {
  return std::any_of(overloads.begin(), overloads.end(), [](const auto& op) {
    return op.schema().argumentIndexWithName("generator").has_value();
  });
}

// Where nothing else was given, this thread's own generator is.
std::optional<Chosen> choose_drawing(const Overloads& overloads, const CallValues& values) {
  if (!thread_generator().defined() || !is_drawing(overloads)) {
    return std::nullopt;
  }
  CallValues told = values;
  std::erase_if(told.named,
                [](const auto& each) { return each.first == "generator" && each.second.isNone(); });
  for (const auto& [name, value] : told.named) {
    if (name == "generator" || !is_of_cpu(name, value)) {
      return std::nullopt;
    }
  }
  for (const IValue& value : told.positional) {
    if (!is_of_cpu("", value)) {
      return std::nullopt;
    }
  }
  told.named.emplace_back("generator", thread_generator());
  return choose(overloads, told);
}

// Overloads live as long as the process, so that their addresses tell them apart.
void refuse_fatal_inputs(const c10::OperatorHandle& op, const Stack& arguments) {
  using Refuse = decltype(FatalInputs::refuse);
  static const std::vector<std::pair<const c10::OperatorHandle*, Refuse>> all = [] {
    std::vector<std::pair<const c10::OperatorHandle*, Refuse>> found;
    for (const auto& [name, refuse] : kFatalInputs) {
      for (const auto& overload : known().of(name)) {
        found.emplace_back(&overload, refuse);
      }
    }
    return found;
  }();
  for (const auto& [known_op, refuse] : all) {
    if (known_op == &op) {
      refuse(arguments);
    }
  }
}

void run(const std::string& name, const c10::OperatorHandle& op, Stack& stack) {
  try {
    refuse_fatal_inputs(op, stack);
    op.callBoxed(&stack);
  } catch (...) {
    std::vector<const at::Tensor*> operands;
    for (const IValue& value : stack) {
      if (value.isTensor()) {
        operands.push_back(&value.toTensor());
      }
    }
    rethrow_with_context(name.c_str(), operands);
  }
}

// Takes `requires_grad` out of the values: Python's functions that make tensors have it, their schemas do
// not.
std::optional<bool> take_requires_grad(CallValues& values) {
  const auto found = std::find_if(values.named.begin(), values.named.end(),
                                  [](const auto& each) { return each.first == "requires_grad"; });
  if (found == values.named.end() || !found->second.isBool()) {
    return std::nullopt;
  }
  const bool wanted = found->second.toBool();
  values.named.erase(found);
  return wanted;
}

bool makes_tensors(const c10::FunctionSchema& schema) {
  return schema.argumentIndexWithName("pin_memory").has_value();
}

}  // namespace

const Overloads& overloads_of(const std::string& name) { return known().of(name); }

const c10::OperatorHandle& overload_of(const std::string& name, const std::string& overload) {
  const Overloads& overloads = overloads_of(name);
  for (const auto& op : overloads) {
    if (op.schema().overload_name() == schemas_word(overload)) {
      return op;
    }
  }
  throw Error(ErrorKind::kNotImplemented, overloads.empty() ? "PyTorch has no operator " + name
                                                            : name + " has no overload '" + overload +
                                                                  "'; there are:\n" + schemas_of(name));
}

CallResults call_by_name(const std::string& name, const CallValues& values) {
  const Overloads& overloads = overloads_of(name);
  if (overloads.empty()) {
    throw Error(ErrorKind::kNotImplemented, "PyTorch has no operator " + name);
  }
  std::optional<Chosen> chosen = choose_drawing(overloads, values);
  if (!chosen) {
    chosen = choose(overloads, values);
  }
  std::optional<bool> requires_grad;
  if (!chosen) {
    CallValues rest = values;
    requires_grad = take_requires_grad(rest);
    if (requires_grad) {
      chosen = choose(overloads, rest);
    }
    if (!chosen || !makes_tensors(chosen->op->schema())) {
      throw nothing_fits(name, values, overloads);
    }
  }
  run(name, *chosen->op, chosen->stack);
  if (requires_grad.value_or(false)) {
    with_error_context(name.c_str(), kNoOperands,
                       [&] { chosen->stack.front().toTensor().set_requires_grad(true); });
  }
  return {std::move(chosen->stack), &chosen->op->schema()};
}

void call_overload(const c10::OperatorHandle& op, Stack& stack) {
  const auto& arguments = op.schema().arguments();
  const std::string& name = op.schema().name();
  if (stack.size() > arguments.size()) {
    throw Error(ErrorKind::kInvalidArgument, name + " takes " + std::to_string(arguments.size()) +
                                                 " arguments, not " + std::to_string(stack.size()));
  }
  for (size_t i = 0; i < stack.size(); ++i) {
    if (!coerce(stack[i], arguments[i], Fit::kDispatcher)) {
      throw Error(ErrorKind::kInvalidArgument, name + ": argument '" + arguments[i].name() + "' is " +
                                                   kind_of(arguments[i]) + ", not " + kind_of(stack[i]));
    }
  }
  for (size_t i = stack.size(); i < arguments.size(); ++i) {
    if (!arguments[i].default_value()) {
      throw Error(ErrorKind::kInvalidArgument, name + ": argument '" + arguments[i].name() + "' is missing");
    }
    stack.push_back(*arguments[i].default_value());
  }
  run(name, op, stack);
}

std::string schemas_of(const std::string& name) {
  std::string lines;
  for (const auto& op : overloads_of(name)) {
    lines += (lines.empty() ? "" : "\n") + shown_schema(op.schema());
  }
  return lines;
}

std::string operator_names() {
  std::set<std::string> names;
  for (const auto& op : c10::Dispatcher::singleton().getAllOpNames()) {
    names.insert(op.name);
  }
  std::string lines;
  for (const std::string& name : names) {
    lines += (lines.empty() ? "" : "\n") + name;
  }
  return lines;
}

}  // namespace simple_torch::core
