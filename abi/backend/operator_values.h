// Between the SplValues of a call by name and LibTorch's IValues.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string>
#include <vector>

#include "abi/handles/handle_table.h"
#include "simple_torch/spl_runtime.h"

namespace simple_torch::abi {

template <>
struct HandleKindOf<at::Generator> {
  static constexpr HandleKind value = HandleKind::kGenerator;
};

/// By its tag, enum SptTag among them. Throws Error: InvalidArgument for another tag or NULL text,
/// InvalidHandle.
c10::IValue value_by_tag(const SplValue& item);

/// By its letter: v, t, l, c or g (functions_operators.toml). Throws as value_by_tag does.
c10::IValue value_by_letter(char letter, const SplValue& item);

/// Results on their way out. What was made for them is given up again unless they are all taken.
class Results {
 public:
  explicit Results(const std::vector<c10::IValue>& values);
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// Tagged, as spt_op_call gives them; the caller owns them now.
  void take(SplValue* room);
  /// As spt_op gives them, with this list of names; the caller owns the array now.
  SplArray* take_array(const std::string& names);
  size_t size() const noexcept { return items_.size(); }

 private:
  std::vector<SplValue> items_;
};

}  // namespace simple_torch::abi
