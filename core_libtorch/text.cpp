// A tensor's string form: its elements by layout, and the notes after them.
#include "core_libtorch/text.h"

#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <utility>
#include <vector>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/option_names.h"
#include "core_libtorch/text_values.h"

namespace simple_torch::core {
namespace {

constexpr int64_t kPrefix = 7;  // the length of "tensor("

std::string tuple_text(at::IntArrayRef sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(sizes[i]);
  }
  return text + (sizes.size() == 1 ? ",)" : ")");
}

/// "crow_indices=tensor([0, 1, 2])", indented by the prefix; with its size if it is empty.
std::string part_text(const char* name, const at::Tensor& part, bool is_meta) {
  const std::string before = std::string(name) + "=tensor(";
  std::string text = before;
  text += is_meta ? "..." : values_text(part, kPrefix + static_cast<int64_t>(before.size()));
  if (is_meta || part.numel() == 0) {
    text += ", size=" + tuple_text(part.sizes());
  }
  return text + ")";
}

std::string parts_text(std::initializer_list<std::pair<const char*, at::Tensor>> parts, bool is_meta) {
  std::string text;
  for (const auto& [name, part] : parts) {
    text += (text.empty() ? "" : ",\n" + std::string(static_cast<size_t>(kPrefix), ' ')) +
            part_text(name, part.detach(), is_meta);
  }
  return text;
}

bool is_compressed(const at::Tensor& tensor) {
  const at::Layout layout = tensor.layout();
  return layout == at::kSparseCsr || layout == at::kSparseCsc || layout == at::kSparseBsr ||
         layout == at::kSparseBsc;
}

std::string sparse_text(const at::Tensor& tensor) {
  const bool is_meta = tensor.is_meta();
  if (tensor.is_sparse()) {
    return parts_text({{"indices", tensor._indices()}, {"values", tensor._values()}}, is_meta);
  }
  const bool by_rows = tensor.layout() == at::kSparseCsr || tensor.layout() == at::kSparseBsr;
  return by_rows ? parts_text({{"crow_indices", tensor.crow_indices()},
                               {"col_indices", tensor.col_indices()},
                               {"values", tensor.values()}},
                              is_meta)
                 : parts_text({{"ccol_indices", tensor.ccol_indices()},
                               {"row_indices", tensor.row_indices()},
                               {"values", tensor.values()}},
                              is_meta);
}

/// One or more lines for each component tensor.
std::string nested_text(const at::Tensor& tensor) {
  std::string text = "[\n  ";
  const std::vector<at::Tensor> within = tensor.unbind();
  for (size_t i = 0; i < within.size(); ++i) {
    text += i == 0 ? "" : ",\n  ";
    for (const char letter : text_of(within[i])) {
      text += letter == '\n' ? std::string("\n  ") : std::string(1, letter);
    }
  }
  return text + "\n]";
}

std::string contents(const at::Tensor& tensor) {
  if (tensor.is_nested()) {
    return nested_text(tensor);
  }
  if (tensor.is_sparse() || is_compressed(tensor)) {
    return sparse_text(tensor);
  }
  if (tensor.is_meta()) {
    return "...";
  }
  if (tensor.is_quantized()) {
    return values_text(tensor.dequantize(), kPrefix);
  }
  return values_text(tensor.layout() == at::kStrided ? tensor : tensor.to_dense(), kPrefix);
}

bool omits_dtype(const at::Tensor& tensor) {
  const auto common = c10::get_default_dtype_as_scalartype();
  const auto common_complex = common == at::kDouble ? at::kComplexDouble : at::kComplexFloat;
  const auto dtype = tensor.scalar_type();
  const bool shows_values =
      tensor.layout() != at::kStrided || tensor.is_quantized() || (tensor.numel() > 0 && !tensor.is_meta());
  if (!shows_values) {
    return dtype == common;
  }
  return dtype == common || dtype == common_complex || dtype == at::kLong || dtype == at::kBool;
}

std::string_view layout_name(at::Layout layout) {
  for (const auto& [name, code] : kLayouts) {
    if (code == layout) {
      return name;
    }
  }
  return "strided";
}

std::string gradient_note(const at::Tensor& tensor) {
  if (const auto& node = tensor.grad_fn()) {
    const std::string name = node->name();
    const size_t colons = name.rfind("::");
    return "grad_fn=<" + (colons == std::string::npos ? name : name.substr(colons + 2)) + ">";
  }
  return tensor.requires_grad() ? "requires_grad=True" : "";
}

/// Python's repr of a float: the fewest digits that round-trip.
std::string float_text(double value) {
  char digits[40];
  int precision = 0;
  do {
    std::snprintf(digits, sizeof digits, "%.*e", precision, value);
  } while (++precision < 17 && std::strtod(digits, nullptr) != value);
  const int exponent = std::atoi(std::strchr(digits, 'e') + 1);
  if (exponent < -4 || exponent >= 16) {
    return digits;
  }
  std::snprintf(digits, sizeof digits, "%.*f", std::max(precision - 1 - exponent, 1), value);
  return digits;
}

/// The quantization parameters.
void add_quantization(const at::Tensor& tensor, std::vector<std::string>& notes) {
  const at::QScheme scheme = tensor.qscheme();
  notes.push_back("quantization_scheme=torch." + at::toString(scheme));
  if (scheme == at::kPerTensorAffine || scheme == at::kPerTensorSymmetric) {
    notes.push_back("scale=" + float_text(tensor.q_scale()));
    notes.push_back("zero_point=" + std::to_string(tensor.q_zero_point()));
  } else {
    notes.push_back("scale=" + text_of(tensor.q_per_channel_scales()));
    notes.push_back("zero_point=" + text_of(tensor.q_per_channel_zero_points()));
    notes.push_back("axis=" + std::to_string(tensor.q_per_channel_axis()));
  }
}

/// The components of a nested tensor have their own notes.
void add_sizes(const at::Tensor& tensor, std::vector<std::string>& notes) {
  const bool is_sparse = tensor.is_sparse() || is_compressed(tensor);
  if (is_sparse || tensor.is_quantized() || tensor.is_meta() || (tensor.numel() == 0 && tensor.dim() != 1)) {
    notes.push_back("size=" + tuple_text(tensor.sizes()));
  }
  if (is_sparse && !tensor.is_meta()) {
    notes.push_back("nnz=" + std::to_string(tensor._nnz()));
  }
  if (!omits_dtype(tensor)) {
    notes.push_back("dtype=torch." + dtype_name(tensor.scalar_type()));
  }
}

std::vector<std::string> notes_on(const at::Tensor& tensor) {
  std::vector<std::string> notes;
  if (!tensor.is_cpu()) {
    notes.push_back("device='" + tensor.device().str() + "'");
  }
  if (!tensor.is_nested()) {
    add_sizes(tensor, notes);
  }
  if (tensor.is_quantized()) {
    add_quantization(tensor, notes);
  }
  if (tensor.layout() != at::kStrided) {
    notes.push_back("layout=" + layout_text(tensor));
  }
  if (std::string note = gradient_note(tensor); !note.empty()) {
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace

std::string layout_text(const at::Tensor& tensor) {
  return "torch." + std::string(layout_name(tensor.layout()));
}

std::string text_of(const at::Tensor& tensor) {
  const c10::AutoGradMode no_grad(false);
  std::string text = tensor.is_nested() ? "nested_tensor(" : "tensor(";
  const auto indent = static_cast<int64_t>(text.size());
  text += contents(tensor);
  // rfind returns -1 for a single line, as Python's does: PyTorch counts the last line one column too long.
  auto column = static_cast<int64_t>(text.size() - text.rfind('\n') + 1);
  bool breaks = tensor.is_sparse();  // always, after a sparse tensor's components
  for (const std::string& note : notes_on(tensor)) {
    const auto length = static_cast<int64_t>(note.size());
    if (breaks || column + length + 2 > print_options().line_width) {
      text += ",\n" + std::string(static_cast<size_t>(indent), ' ') + note;
      column = indent + length;
      breaks = false;
    } else {
      text += ", " + note;
      column += length + 2;
    }
  }
  return text + ")";
}

}  // namespace simple_torch::core
