#include "core_libtorch/jit/script_arguments.h"

#include <optional>
#include <sstream>
#include <utility>

#include "core_libtorch/error.h"
#include "core_libtorch/jit/script_values.h"

namespace simple_torch::core {
namespace {

using c10::IValue;

/// Matches positional and named arguments with a schema whose first argument is the module.
class ArgumentMatcher {
 public:
  explicit ArgumentMatcher(const c10::FunctionSchema& schema)
      : schema_(schema), values_(schema.arguments().size() - 1) {}

  void add_positional(const std::vector<IValue>& arguments, size_t count) {
    if (count > values_.size()) {
      fail("expected at most " + std::to_string(values_.size()) + " argument(s) but received " +
           std::to_string(count) + " argument(s)");
    }
    for (size_t i = 0; i < count; ++i) {
      set(i, arguments[i]);
    }
  }

  void add_named(const std::string& name, const IValue& value) {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (argument(i).name() == name) {
        if (values_[i]) {
          fail("argument '" + name + "' is specified twice");
        }
        return set(i, value);
      }
    }
    fail("Unknown keyword argument '" + name + "'");
  }

  std::vector<IValue> take() {
    std::vector<IValue> stack;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!values_[i]) {
        values_[i] = argument(i).default_value();
      }
      if (!values_[i]) {
        fail("is missing value for argument '" + argument(i).name() + "'");
      }
      stack.push_back(std::move(*values_[i]));
    }
    return stack;
  }

 private:
  const c10::Argument& argument(size_t index) const { return schema_.arguments()[index + 1]; }

  void set(size_t index, const IValue& value) {
    try {
      values_[index] =
          to_script_type(value, argument(index).type(), "argument '" + argument(index).name() + "'");
    } catch (const Error& error) {
      fail(error.what());
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    std::ostringstream declaration;
    declaration << schema_;
    throw Error(ErrorKind::kInvalidArgument,
                schema_.name() + "() " + why + ". Declaration: " + declaration.str());
  }

  const c10::FunctionSchema& schema_;
  std::vector<std::optional<IValue>> values_;
};

}  // namespace

std::vector<IValue> matched_arguments(const c10::FunctionSchema& schema, const std::vector<IValue>& arguments,
                                      const std::vector<std::string>& names) {
  if (names.size() > arguments.size()) {
    throw Error(ErrorKind::kInvalidArgument, std::to_string(names.size()) + " names for " +
                                                 std::to_string(arguments.size()) + " arguments");
  }
  ArgumentMatcher matcher(schema);
  const size_t positional = arguments.size() - names.size();
  matcher.add_positional(arguments, positional);
  for (size_t i = 0; i < names.size(); ++i) {
    matcher.add_named(names[i], arguments[positional + i]);
  }
  return matcher.take();
}

}  // namespace simple_torch::core
