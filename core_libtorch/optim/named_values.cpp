#include "core_libtorch/optim/named_values.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace simple_torch::core::optim {
namespace {

std::string printed(const char* format, int digits, double number) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, digits, number);
  return text.data();
}

/// The fewest digits that round-trip; with an exponent below 1e-4 and from 1e16 on.
std::string float_repr(double number) {
  if (std::isnan(number)) {
    return "nan";
  }
  if (std::isinf(number)) {
    return number < 0 ? "-inf" : "inf";
  }
  int digits = 0;
  std::string shortest = printed("%.*e", digits, number);
  while (std::strtod(shortest.c_str(), nullptr) != number) {
    shortest = printed("%.*e", ++digits, number);
  }
  const int exponent = std::atoi(shortest.c_str() + shortest.find('e') + 1);
  if (exponent < -4 || exponent >= 16) {
    return shortest;
  }
  return printed("%.*f", std::max(digits - exponent, 1), number);
}

std::string list_repr(const c10::IValue& value) {
  std::string words;
  for (const c10::IValue& item : value.toListRef()) {
    words += (words.empty() ? "" : ", ") + repr(item);
  }
  return "(" + words + ")";
}

}  // namespace

const c10::IValue* NamedValues::find(std::string_view name) const noexcept {
  for (const Item& item : items_) {
    if (item.first == name) {
      return &item.second;
    }
  }
  return nullptr;
}

const c10::IValue& NamedValues::at(std::string_view name) const {
  const c10::IValue* value = find(name);
  if (value == nullptr) {
    throw_invalid_argument("no value named '" + std::string(name) + "'");
  }
  return *value;
}

void NamedValues::set(std::string_view name, c10::IValue value) {
  for (Item& item : items_) {
    if (item.first == name) {
      item.second = std::move(value);
      return;
    }
  }
  items_.emplace_back(std::string(name), std::move(value));
}

double NamedValues::number(std::string_view name) const { return number_in(name, at(name)); }

bool NamedValues::flag(std::string_view name) const {
  const c10::IValue* value = find(name);
  if (value == nullptr || value->isNone()) {
    return false;
  }
  return value->isBool() ? value->toBool() : number_in(name, *value) != 0;
}

std::vector<double> NamedValues::numbers(std::string_view name, size_t count) const {
  const c10::IValue& value = at(name);
  if (!value.isList() || value.toListRef().size() != count) {
    throw_invalid_argument(std::string(name) + " must be " + std::to_string(count) + " numbers, got " +
                           repr(value));
  }
  std::vector<double> numbers;
  for (const c10::IValue& item : value.toListRef()) {
    numbers.push_back(number_in(name, item));
  }
  return numbers;
}

const at::Tensor& NamedValues::tensor(std::string_view name) const {
  const c10::IValue& value = at(name);
  if (!value.isTensor()) {
    throw_invalid_argument(std::string(name) + " must be a tensor, got " + repr(value));
  }
  return value.toTensor();
}

double number_in(std::string_view name, const c10::IValue& value) {
  if (value.isDouble()) {
    return value.toDouble();
  }
  if (value.isInt()) {
    return static_cast<double>(value.toInt());
  }
  if (value.isBool()) {
    return value.toBool() ? 1 : 0;
  }
  if (value.isTensor()) {
    if (value.toTensor().numel() != 1) {
      throw_invalid_argument("Tensor " + std::string(name) + " must be 1-element");
    }
    return value.toTensor().item<double>();
  }
  throw_invalid_argument(std::string(name) + " must be a number, got " + repr(value));
}

std::string repr(const c10::IValue& value) {
  if (value.isDouble()) {
    return float_repr(value.toDouble());
  }
  if (value.isNone()) {
    return "None";
  }
  if (value.isBool()) {
    return value.toBool() ? "True" : "False";
  }
  if (value.isList()) {
    return list_repr(value);
  }
  if (value.isTensor()) {
    return value.toTensor().numel() == 1 ? repr(c10::IValue(value.toTensor().item<double>())) : "a tensor";
  }
  std::ostringstream words;
  words << value;
  return words.str();
}

}  // namespace simple_torch::core::optim
