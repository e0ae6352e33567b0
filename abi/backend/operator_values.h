// Conversions between SplValues and LibTorch's IValues, for calls by name.
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

/// Converts by the tag (SplTag, SptTag). Throws Error: InvalidArgument for an unknown tag or a NULL string,
/// InvalidHandle.
c10::IValue value_by_tag(const SplValue& item);

/// Converts by the letter: v, t, l, c or g (functions_operators.toml). Throws as value_by_tag() does.
c10::IValue value_by_letter(char letter, const SplValue& item);

/// Converted results. The destructor releases them unless they were taken.
class Results {
 public:
  explicit Results(const std::vector<c10::IValue>& values);
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// Moves the tagged results of spt_op_call into `buffer`; the caller owns them.
  void take(SplValue* buffer);
  /// Returns the array of spt_op with this list of names; the caller owns it.
  SplArray* take_array(const std::string& names);
  size_t size() const noexcept { return items_.size(); }

 private:
  std::vector<SplValue> items_;
};

}  // namespace simple_torch::abi
