// The elements of a tensor as a string.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

namespace simple_torch::core {

/// torch.set_printoptions.
struct PrintOptions {
  int64_t precision = 4;     // digits after the point
  int64_t threshold = 1000;  // elements; a larger tensor is summarized
  int64_t edge_items = 3;    // at each end of a dimension of a summarized tensor
  int64_t line_width = 80;
  std::optional<bool> is_scientific;  // by the elements without a value
};

/// Of the process; any thread may change them.
PrintOptions print_options();
void set_print_options(const PrintOptions& options);

/// The elements of a strided tensor in brackets, for output after `indent` columns; "[]" if there are none.
/// For more elements than the threshold only both ends of long dimensions.
std::string values_text(const at::Tensor& tensor, int64_t indent);

}  // namespace simple_torch::core
