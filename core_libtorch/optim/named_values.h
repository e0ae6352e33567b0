// Values by name: the options of a parameter group, or the state of one parameter.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core_libtorch/error.h"

namespace simple_torch::core::optim {

/// A few values by name, in insertion order.
class NamedValues {
 public:
  using Item = std::pair<std::string, c10::IValue>;

  NamedValues() = default;
  NamedValues(std::initializer_list<Item> items) : items_(items) {}

  bool empty() const noexcept { return items_.empty(); }
  void clear() noexcept { items_.clear(); }
  const std::vector<Item>& items() const noexcept { return items_; }

  /// nullptr for an unknown name.
  const c10::IValue* find(std::string_view name) const noexcept;
  /// Throws Error(kInvalidArgument) for an unknown name.
  const c10::IValue& at(std::string_view name) const;
  /// Replaces the value, or adds it at the end.
  void set(std::string_view name, c10::IValue value);

  /// A number, or the element of a tensor with one element. Throws Error(kInvalidArgument) for other values.
  double number(std::string_view name) const;
  /// None and a missing name are false. Throws Error(kInvalidArgument) for values other than bools and
  /// numbers.
  bool flag(std::string_view name) const;
  /// Throws Error(kInvalidArgument) unless it is a list of `count` numbers.
  std::vector<double> numbers(std::string_view name, size_t count) const;
  /// Throws Error(kInvalidArgument) unless it is a tensor.
  const at::Tensor& tensor(std::string_view name) const;

 private:
  std::vector<Item> items_;
};

/// The number in a value, as NamedValues::number.
double number_in(std::string_view name, const c10::IValue& value);

/// Python's repr: 0.1, 1e-05, -1, True, None, (0.9, 0.999).
std::string repr(const c10::IValue& value);

[[noreturn]] inline void throw_invalid_argument(const std::string& message) {
  throw Error(ErrorKind::kInvalidArgument, message);
}

}  // namespace simple_torch::core::optim
