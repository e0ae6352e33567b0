#include "core_libtorch/operators.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

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
std::string schema_overload_name(const std::string& overload) {
  return overload == "default" ? "" : overload;
}

// All overloads of an operator, or the one that the name selects ("aten::add.Tensor"). The JIT's list keeps
// the order of PyTorch's own declarations. Operators that only the JIT knows are skipped.
Overloads look_up(const std::string& full_name) {
  const size_t dot = full_name.rfind('.');
  const bool all = dot == std::string::npos;
  const std::string overload = all ? "" : schema_overload_name(full_name.substr(dot + 1));
  Overloads found;
  for (const auto& op :
       torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(full_name.substr(0, dot)))) {
    const auto& schema = op->schema();
    if (!all && schema.overload_name() != overload) {
      continue;
    }
    if (const auto handle =
            c10::Dispatcher::singleton().findSchema({schema.name(), schema.overload_name()})) {
      found.push_back(*handle);
    }
  }
  return found;
}

// The operators that were looked up, by name. Entries never move and are never removed.
class OperatorCache {
 public:
  const Overloads& find(const std::string& name) {
    {
      const std::shared_lock reading(mutex_);
      if (const auto found = by_name_.find(name); found != by_name_.end()) {
        return *found->second;
      }
    }
    const std::string full_name = qualified(name);
    return full_name == name ? insert(name) : insert_alias(name, find(full_name));
  }

 private:
  static const Overloads& none() {
    static const Overloads empty;
    return empty;
  }

  const Overloads& insert(const std::string& name) {
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

  // Both names share one list, so that the address of an overload identifies it.
  const Overloads& insert_alias(const std::string& name, const Overloads& list) {
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

OperatorCache& operator_cache() {
  static auto* const cache = new OperatorCache;  // never freed: threads that outlive main use it
  return *cache;
}

// PyTorch's Python functions name some arguments differently from the schemas.
bool has_name(const c10::Argument& argument, const std::string& name) {
  const std::string& own = argument.name();
  return own == name || (own == "self" && name == "input") || (own == "dim" && name == "axis") ||
         (own == "keepdim" && name == "keepdims");
}

// Binds the values of a call to the arguments of one overload.
class Binding {
 public:
  Binding(const c10::FunctionSchema& schema, const CallValues& values, Fit fit)
      : schema_(schema), values_(values), fit_(fit), used_(values.named.size(), false) {
    const auto& arguments = schema.arguments();
    positions_ = static_cast<size_t>(
        std::count_if(arguments.begin(), arguments.end(), [](const auto& a) { return !a.kwarg_only(); }));
    outs_ = static_cast<size_t>(
        std::count_if(arguments.begin(), arguments.end(), [](const auto& a) { return a.is_out(); }));
  }

  // The stack; or nothing, and why() has the reason.
  std::optional<Stack> bind() {
    Stack stack;
    stack.reserve(schema_.arguments().size());
    for (const c10::Argument& argument : schema_.arguments()) {
      sources_.emplace_back();
      std::optional<IValue> value = value_of(argument);
      if (!value || (!uses_default_ && !fits(*value, argument))) {
        return std::nullopt;
      }
      stack.push_back(std::move(*value));
    }
    if (next_ < values_.positional.size()) {
      return mismatch("takes " + std::to_string(positions_) + " positional arguments but " +
                      std::to_string(values_.positional.size()) + " were given");
    }
    for (size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i]) {
        return mismatch("got an unexpected keyword argument '" + values_.named[i].first + "'");
      }
    }
    return stack;
  }

  const std::string& why() const { return why_; }
  const std::vector<ArgumentSource>& sources() const { return sources_; }

 private:
  std::nullopt_t mismatch(std::string why) {
    why_ = std::move(why);
    return std::nullopt;
  }

  bool fits(IValue& value, const c10::Argument& argument) {
    const IValue original = value;
    if (coerce(value, argument, fit_)) {
      return true;
    }
    const std::string shown = original.isString() ? "'" + original.toStringRef() + "'" : kind_of(original);
    mismatch("argument '" + argument.name() + "' must be " + kind_of(argument) + ", not " + shown +
             (is_device(argument) ? "; available devices: " + available_devices() : ""));
    return false;
  }

  std::optional<IValue> value_of(const c10::Argument& argument) {
    uses_default_ = false;
    if (next_ < values_.positional.size() && !argument.kwarg_only()) {
      return positional(argument);
    }
    if (auto value = named(argument)) {
      return value;
    }
    if (argument.default_value()) {
      uses_default_ = true;
      return argument.default_value();
    }
    return mismatch("missing required argument '" + argument.name() + "'");
  }

  // The last positional argument accepts sizes one by one.
  std::optional<IValue> positional(const c10::Argument& argument) {
    const auto first = values_.positional.begin() + static_cast<std::ptrdiff_t>(next_);
    sources_.back() = {ArgumentSource::Form::kValue, next_};
    const bool is_last = ++next_ == positions_;
    if (!is_last || !first->isInt() || !is_list_of_ints(argument)) {
      return *first;
    }
    if (argument.N() && first + 1 == values_.positional.end()) {
      return *first;
    }
    if (!std::all_of(first, values_.positional.end(), [](const IValue& value) { return value.isInt(); })) {
      return *first;
    }
    c10::List<int64_t> sizes;
    for (auto at = first; at != values_.positional.end(); ++at) {
      sizes.push_back(at->toInt());
    }
    next_ = values_.positional.size();
    sources_.back().form = ArgumentSource::Form::kSizes;
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
      const auto& [name, value] = values_.named[i];
      if (has_name(argument, name) && !used_[i]) {
        used_[i] = true;
        sources_.back() = {ArgumentSource::Form::kValue, values_.positional.size() + i};
        return value;
      }
      if (argument.is_out() && name == "out") {
        used_[i] = true;
        return out_part(value);
      }
    }
    return std::nullopt;
  }

  // `out` is the only result, or a list of all results.
  std::optional<IValue> out_part(const IValue& value) {
    if (outs_ == 1 || !value.isList()) {
      return value;
    }
    const auto parts = value.toListRef();
    if (parts.size() != outs_) {
      return mismatch("out must have " + std::to_string(outs_) + " tensors, got " +
                      std::to_string(parts.size()));
    }
    return parts[next_out_++];
  }

  const c10::FunctionSchema& schema_;
  const CallValues& values_;
  Fit fit_;
  std::vector<bool> used_;
  size_t positions_ = 0, outs_ = 0;
  size_t next_ = 0, next_out_ = 0;
  bool uses_default_ = false;
  std::string why_;
  std::vector<ArgumentSource> sources_;
};

std::string argument_types(const CallValues& values) {
  std::string shown = "(";
  for (const IValue& value : values.positional) {
    shown += (shown.back() == '(' ? "" : ", ") + kind_of(value);
  }
  for (const auto& [key, value] : values.named) {
    shown += (shown.back() == '(' ? "" : ", ") + key + ": " + kind_of(value);
  }
  return shown + ")";
}

std::string schema_text(const c10::FunctionSchema& schema) { return c10::toString(schema); }

Error no_matching_overload(const std::string& name, const CallValues& values, const Overloads& overloads) {
  std::string message = name + "() received an invalid combination of arguments - got " +
                        argument_types(values) + ", but expected one of:";
  for (const auto& op : overloads) {
    Binding binding(op.schema(), values, Fit::kLoose);
    binding.bind();
    message += "\n  " + schema_text(op.schema()) + "\n    " + binding.why();
  }
  ErrorFields fields;
  fields.op = name;
  return {ErrorKind::kInvalidArgument, message, fields};
}

struct SelectedCall {
  const c10::OperatorHandle* op;
  Stack stack;
};

// Operators for which PyTorch's Python wraps a number on either side as a tensor, and so calls the first
// overload.
bool wraps_numbers(std::string_view op) {
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

std::optional<SelectedCall> choose(const Overloads& overloads, const CallValues& values) {
  const bool is_arithmetic = wraps_numbers(overloads.front().schema().name());
  for (const Fit fit : {is_arithmetic ? Fit::kDispatcher : Fit::kExact, Fit::kExact, Fit::kLoose}) {
    for (const auto& op : overloads) {
      if (auto stack = Binding(op.schema(), values, fit).bind()) {
        return SelectedCall{&op, std::move(*stack)};
      }
    }
  }
  return std::nullopt;
}

bool is_on_cpu(const std::string& name, const IValue& value) {
  if (value.isTensor()) {
    return value.toTensor().is_cpu();
  }
  return name != "device" || value.isNone() || (value.isString() && value.toStringRef().starts_with("cpu"));
}

bool is_random(const Overloads& overloads) {
  return std::any_of(overloads.begin(), overloads.end(), [](const auto& op) {
    return op.schema().argumentIndexWithName("generator").has_value();
  });
}

// The choice with this thread's own generator; nothing if the call names another one or is not on the CPU.
std::optional<SelectedCall> choose_random(const Overloads& overloads, const CallValues& values) {
  if (!thread_generator().defined() || !is_random(overloads)) {
    return std::nullopt;
  }
  CallValues with_generator = values;
  std::erase_if(with_generator.named,
                [](const auto& each) { return each.first == "generator" && each.second.isNone(); });
  for (const auto& [name, value] : with_generator.named) {
    if (name == "generator" || !is_on_cpu(name, value)) {
      return std::nullopt;
    }
  }
  for (const IValue& value : with_generator.positional) {
    if (!is_on_cpu("", value)) {
      return std::nullopt;
    }
  }
  with_generator.named.emplace_back("generator", thread_generator());
  return choose(overloads, with_generator);
}

// Overloads live as long as the process, so that their addresses identify them.
void check_crash_guards(const c10::OperatorHandle& op, const Stack& arguments) {
  using Check = decltype(CrashGuard::check);
  static const std::vector<std::pair<const c10::OperatorHandle*, Check>> all = [] {
    std::vector<std::pair<const c10::OperatorHandle*, Check>> found;
    for (const auto& [name, check] : kCrashGuards) {
      for (const auto& overload : operator_cache().find(name)) {
        found.emplace_back(&overload, check);
      }
    }
    return found;
  }();
  for (const auto& [known_op, check] : all) {
    if (known_op == &op) {
      check(arguments);
    }
  }
}

void run(const std::string& name, const c10::OperatorHandle& op, Stack& stack) {
  try {
    check_crash_guards(op, stack);
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

// Removes `requires_grad` from the values and returns it. Python's tensor factories accept it; their schemas
// do not.
std::optional<bool> take_requires_grad(CallValues& values) {
  const auto found = std::find_if(values.named.begin(), values.named.end(),
                                  [](const auto& each) { return each.first == "requires_grad"; });
  if (found == values.named.end() || !found->second.isBool()) {
    return std::nullopt;
  }
  const bool requires_grad = found->second.toBool();
  values.named.erase(found);
  return requires_grad;
}

// Methods of torch.Tensor that convert its dtype. They are not operators, but a misspelled name may mean one.
constexpr std::array<std::string_view, 8> kConversions = {"bfloat16", "bool", "double", "float",
                                                          "half",     "int",  "long",   "short"};

// The insertions, deletions, replacements and transpositions of neighbors that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// One error for every three letters, at most two.
size_t max_errors(size_t length) { return std::min<size_t>(length / 3, 2); }

size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// The closest name of those that are offered; among equally close ones that with the longest common prefix,
// then the alphabetically first.
class ClosestName {
 public:
  explicit ClosestName(std::string_view misspelled)
      : misspelled_(misspelled), distance_(max_errors(misspelled.size())) {}

  void offer(std::string_view name) {
    const size_t longer = std::max(name.size(), misspelled_.size());
    if (longer - std::min(name.size(), misspelled_.size()) > distance_) {
      return;
    }
    const size_t found = edit_distance(misspelled_, name);
    if (found < distance_ || (found == distance_ && is_preferred(name))) {
      distance_ = found;
      name_ = name;
    }
  }

  const std::string& name() const { return name_; }

 private:
  bool is_preferred(std::string_view name) const {
    const size_t prefix = common_prefix(misspelled_, name);
    const size_t known = common_prefix(misspelled_, name_);
    return name_.empty() || prefix > known || (prefix == known && name < name_);
  }

  std::string_view misspelled_;
  size_t distance_;
  std::string name_;
};

// The name that was probably meant, in the namespace of `name` ("aten" by default); or "".
std::string closest_operator(const std::string& name) {
  if (name.find('.') != std::string::npos) {
    return "";  // names an overload
  }
  if (name.starts_with("to_")) {
    std::string converted = name.substr(3);
    if (std::find(kConversions.begin(), kConversions.end(), converted) != kConversions.end() ||
        !overloads_of(converted).empty()) {
      return converted;
    }
  }
  ClosestName closest(name);
  for (const std::string_view conversion : kConversions) {
    closest.offer(conversion);
  }
  const bool has_namespace = qualified(name) == name;
  const std::string prefix = has_namespace ? "" : "aten::";
  const bool is_internal = name.starts_with('_');
  for (const auto& op : c10::Dispatcher::singleton().getAllOpNames()) {
    if (op.name.starts_with(prefix)) {
      const std::string_view candidate = std::string_view(op.name).substr(prefix.size());
      if (is_internal || !candidate.starts_with('_')) {
        closest.offer(candidate);
      }
    }
  }
  return closest.name();
}

std::string no_operator(const std::string& name) {
  const std::string closest = closest_operator(name);
  return "no operator named '" + name + "'" + (closest.empty() ? "" : " (did you mean '" + closest + "'?)");
}

bool is_factory(const c10::FunctionSchema& schema) {
  return schema.argumentIndexWithName("pin_memory").has_value();
}

}  // namespace

const Overloads& overloads_of(const std::string& name) { return operator_cache().find(name); }

namespace {

using Guard = decltype(OverloadChoice::crash_guard);

Guard crash_guard_of(const c10::FunctionSchema& schema) {
  const auto found = std::find_if(kCrashGuards.begin(), kCrashGuards.end(),
                                  [&](const CrashGuard& guard) { return schema.name() == guard.op; });
  return found == kCrashGuards.end() ? nullptr : found->check;
}

// A number for such an argument is a code, which may be unknown.
bool accepts_codes(const c10::Argument& argument) {
  const auto optional = argument.real_type()->cast<c10::OptionalType>();
  const c10::TypePtr type = optional != nullptr ? optional->getElementType() : argument.real_type();
  return type->kind() == c10::TypeKind::ScalarTypeType || type->kind() == c10::TypeKind::LayoutType ||
         type->kind() == c10::TypeKind::MemoryFormatType || type->kind() == c10::TypeKind::DeviceObjType;
}

bool may_receive_code(const c10::FunctionSchema& schema, const CallValues& values) {
  const bool has_positional_int = std::any_of(values.positional.begin(), values.positional.end(),
                                              [](const IValue& value) { return value.isInt(); });
  return std::any_of(schema.arguments().begin(), schema.arguments().end(),
                     [&](const c10::Argument& argument) {
                       return accepts_codes(argument) &&
                              ((has_positional_int && !argument.kwarg_only()) ||
                               std::any_of(values.named.begin(), values.named.end(), [&](const auto& named) {
                                 return named.first == argument.name() && named.second.isInt();
                               }));
                     });
}

}  // namespace

std::optional<OverloadChoice> choose_by_types(const std::string& name, const CallValues& values) {
  const Overloads& overloads = overloads_of(name);
  if (overloads.empty()) {
    return std::nullopt;
  }
  // In arithmetic a 0-d tensor counts as a number, except for the first overload, which accepts tensors.
  const bool is_arithmetic = wraps_numbers(overloads.front().schema().name());
  const Fit fit = is_arithmetic ? Fit::kDispatcher : Fit::kExact;
  for (const auto& op : overloads) {
    if (may_receive_code(op.schema(), values)) {
      return std::nullopt;
    }
    Binding binding(op.schema(), values, fit);
    if (auto stack = binding.bind()) {
      return OverloadChoice{&op,          std::move(*stack),    binding.sources(),
                            std::nullopt, is_random(overloads), crash_guard_of(op.schema())};
    }
    if (is_arithmetic) {
      return std::nullopt;
    }
  }
  CallValues rest = values;
  if (const auto found = std::find_if(rest.named.begin(), rest.named.end(),
                                      [](const auto& each) { return each.first == "requires_grad"; });
      found != rest.named.end() && found + 1 == rest.named.end() && take_requires_grad(rest)) {
    auto choice = choose_by_types(name, rest);
    if (choice && !choice->requires_grad && is_factory(choice->op->schema())) {
      choice->requires_grad = values.positional.size() + values.named.size() - 1;
      return choice;
    }
  }
  return std::nullopt;
}

const c10::OperatorHandle& overload_of(const std::string& name, const std::string& overload) {
  const Overloads& overloads = overloads_of(name);
  for (const auto& op : overloads) {
    if (op.schema().overload_name() == schema_overload_name(overload)) {
      return op;
    }
  }
  throw Error(ErrorKind::kNotImplemented, overloads.empty() ? no_operator(name)
                                                            : name + ": no overload named '" + overload +
                                                                  "'; its overloads:\n" + schemas_of(name));
}

CallResults call_by_name(const std::string& name, const CallValues& values) {
  const Overloads& overloads = overloads_of(name);
  if (overloads.empty()) {
    throw Error(ErrorKind::kNotImplemented, no_operator(name));
  }
  std::optional<SelectedCall> chosen = choose_random(overloads, values);
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
    if (!chosen || !is_factory(chosen->op->schema())) {
      throw no_matching_overload(name, values, overloads);
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
    throw Error(ErrorKind::kInvalidArgument, name + ": takes " + std::to_string(arguments.size()) +
                                                 " arguments but " + std::to_string(stack.size()) +
                                                 " were given");
  }
  for (size_t i = 0; i < stack.size(); ++i) {
    if (!coerce(stack[i], arguments[i], Fit::kDispatcher)) {
      throw Error(ErrorKind::kInvalidArgument, name + ": argument '" + arguments[i].name() + "' must be " +
                                                   kind_of(arguments[i]) + ", not " + kind_of(stack[i]));
    }
  }
  for (size_t i = stack.size(); i < arguments.size(); ++i) {
    if (!arguments[i].default_value()) {
      throw Error(ErrorKind::kInvalidArgument,
                  name + ": missing required argument '" + arguments[i].name() + "'");
    }
    stack.push_back(*arguments[i].default_value());
  }
  run(name, op, stack);
}

std::string names_of_results(const c10::FunctionSchema& schema) {
  std::string names;
  for (size_t i = 0; i < schema.returns().size(); ++i) {
    names += (i == 0 ? "" : ",") + schema.returns()[i].name();
  }
  return names;
}

std::string schemas_of(const std::string& name) {
  std::string lines;
  for (const auto& op : overloads_of(name)) {
    lines += (lines.empty() ? "" : "\n") + schema_text(op.schema());
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
