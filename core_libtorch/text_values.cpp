// The elements of a tensor as a string: their selection, column width and line breaks.
#include "core_libtorch/text_values.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <mutex>
#include <vector>

#include "core_libtorch/counted_lock.h"
#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

std::mutex options_mutex;
PrintOptions current_options;

std::string printed(char conversion, int64_t digits, double value) {
  const char format[] = {'%', '.', '*', conversion, '\0'};
  const auto precision = static_cast<int>(std::min<int64_t>(digits, 1000));
  std::string text(static_cast<size_t>(std::snprintf(nullptr, 0, format, precision, value)) + 1, ' ');
  std::snprintf(text.data(), text.size(), format, precision, value);
  text.pop_back();
  return std::isnan(value) ? "nan" : text;
}

/// The common number format of one tensor, chosen from the shown numbers.
class NumberFormat {
 public:
  NumberFormat(const std::vector<double>& values, const PrintOptions& options) : digits_(options.precision) {
    double smallest = INFINITY;
    double largest = 0;
    bool whole = true;
    for (const double value : values) {
      if (std::isfinite(value) && value != 0) {
        smallest = std::min(smallest, std::abs(value));
        largest = std::max(largest, std::abs(value));
        whole = whole && value == std::ceil(value);
      }
    }
    is_whole_ = whole;
    if (largest != 0) {  // there are finite numbers
      const bool is_wide = largest / smallest > 1000.0 || largest > 1.0e8 || smallest < 1.0e-4;
      is_scientific_ = options.is_scientific.value_or(is_wide);
      for (const double value : values) {
        if (std::isfinite(value) && value != 0) {
          width_ = std::max(width_, write(value).size());
        }
      }
    }
  }

  size_t width() const { return width_; }

  std::string padded(double value) const {
    const std::string text = write(value);
    return std::string(width_ - std::min(width_, text.size()), ' ') + text;
  }

 private:
  std::string write(double value) const {
    if (is_scientific_ || !is_whole_) {
      return printed(is_scientific_ ? 'e' : 'f', digits_, value);
    }
    return printed('f', 0, value) + (std::isfinite(value) ? "." : "");
  }

  int64_t digits_;
  bool is_scientific_ = false;
  bool is_whole_ = true;
  size_t width_ = 1;
};

std::vector<double> doubles_of(const at::Tensor& shown) {
  const at::Tensor flat = shown.to(at::kDouble).contiguous();
  const auto* data = flat.const_data_ptr<double>();
  return {data, data + flat.numel()};
}

/// The strings of the shown elements, and the width of a column.
struct Elements {
  std::vector<std::string> texts;
  size_t width = 1;
};

Elements integers(const at::Tensor& shown) {
  const at::Tensor flat = shown.to(at::kLong).contiguous();
  const auto* data = flat.const_data_ptr<int64_t>();
  Elements elements;
  for (int64_t i = 0; i < flat.numel(); ++i) {
    switch (shown.scalar_type()) {
      case at::kBool:
        elements.texts.emplace_back(data[i] != 0 ? "True" : "False");
        break;
      case at::kUInt64:
        elements.texts.push_back(std::to_string(static_cast<uint64_t>(data[i])));
        break;
      default:
        elements.texts.push_back(std::to_string(data[i]));
    }
  }
  for (const std::string& text : elements.texts) {
    elements.width = std::max(elements.width, text.size());
  }
  for (std::string& text : elements.texts) {
    text.insert(0, elements.width - text.size(), ' ');
  }
  return elements;
}

Elements floats(const std::vector<double>& values, const PrintOptions& options) {
  const NumberFormat format(values, options);
  Elements elements{{}, format.width()};
  for (const double value : values) {
    elements.texts.push_back(format.padded(value));
  }
  return elements;
}

/// The real or the imaginary parts.
std::vector<double> parts_of(const at::Tensor& shown, bool imaginary) {
  const at::Tensor flat = shown.resolve_conj().to(at::kComplexDouble).contiguous();
  const auto* data = flat.const_data_ptr<c10::complex<double>>();
  std::vector<double> parts;
  for (int64_t i = 0; i < flat.numel(); ++i) {
    parts.push_back(imaginary ? data[i].imag() : data[i].real());
  }
  return parts;
}

Elements complexes(const at::Tensor& shown, const PrintOptions& options) {
  Elements elements = floats(parts_of(shown, false), options);
  const Elements imaginary = floats(parts_of(shown, true), options);
  for (size_t i = 0; i < elements.texts.size(); ++i) {
    const std::string second = imaginary.texts[i].substr(imaginary.texts[i].find_first_not_of(' '));
    elements.texts[i] += (second.front() == '-' ? "" : "+") + second + "j";
  }
  elements.width += imaginary.width + 1;
  return elements;
}

/// The shown elements: only both ends of a long dimension of a large tensor.
at::Tensor shown_part(const at::Tensor& tensor, const PrintOptions& options) {
  at::Tensor part = tensor.detach().to(at::kCPU).resolve_neg();
  // float4 packs two numbers into a byte; PyTorch shows the bytes.
  if (part.scalar_type() == at::ScalarType::Float4_e2m1fn_x2) {
    part = part.view(at::kByte).to(at::kFloat);
  }
  if (tensor.numel() <= options.threshold) {
    return part;
  }
  const int64_t edge = options.edge_items;
  for (int64_t dim = 0; dim < part.dim(); ++dim) {
    const int64_t size = part.size(dim);
    if (size > 2 * edge) {
      part = part.index_select(dim, at::cat({at::arange(edge), at::arange(size - edge, size)}));
    }
  }
  return part;
}

/// Puts brackets and line breaks around the strings of the shown elements.
class Layout {
 public:
  Layout(const at::Tensor& tensor, const Elements& elements, int64_t indent, const PrintOptions& options)
      : sizes_(tensor.sizes().vec()),
        indent_(indent),
        is_summarized_(tensor.numel() > options.threshold),
        edge_(options.edge_items),
        line_width_(options.line_width),
        texts_(elements.texts),
        width_(static_cast<int64_t>(elements.width)) {}

  std::string text() { return sizes_.empty() ? texts_.front() : block(0); }

 private:
  bool is_cut(size_t dim) const { return is_summarized_ && sizes_[dim] > 2 * edge_; }
  int64_t shown(size_t dim) const { return is_cut(dim) ? 2 * edge_ : sizes_[dim]; }

  std::string block(size_t dim) {
    const int64_t indent = indent_ + static_cast<int64_t>(dim);
    if (dim + 1 == sizes_.size()) {
      return row(indent);
    }
    std::string separator(",");
    separator.append(sizes_.size() - 1 - dim, '\n').append(static_cast<size_t>(indent) + 1, ' ');
    std::string text = "[";
    for (int64_t i = 0; i < shown(dim); ++i) {
      if (i > 0) {
        text += separator;
      }
      if (i == edge_ && is_cut(dim)) {
        text += "..." + separator;
      }
      text += block(dim + 1);
    }
    return text + "]";
  }

  std::string row(int64_t indent) {
    const size_t dim = sizes_.size() - 1;
    const int64_t per_line = std::max<int64_t>(1, (line_width_ - indent) / (width_ + 2));
    std::string text = "[";
    int64_t written = 0;
    const auto add = [&](const std::string& item) {
      if (written > 0) {
        text += written % per_line == 0 ? ",\n" + std::string(static_cast<size_t>(indent) + 1, ' ') : ", ";
      }
      text += item;
      ++written;
    };
    for (int64_t i = 0; i < shown(dim); ++i) {
      if (i == edge_ && is_cut(dim)) {
        add(" ...");
      }
      add(texts_[next_++]);
    }
    return text + "]";
  }

  std::vector<int64_t> sizes_;
  int64_t indent_;
  bool is_summarized_;
  int64_t edge_, line_width_;
  const std::vector<std::string>& texts_;
  int64_t width_;
  size_t next_ = 0;
};

}  // namespace

PrintOptions print_options() {
  const CountedLockGuard guard(options_mutex);
  return current_options;
}

void set_print_options(const PrintOptions& options) {
  if (options.precision < 0 || options.threshold < 0 || options.edge_items < 1 || options.line_width < 1) {
    throw Error(
        ErrorKind::kInvalidArgument,
        "set_printoptions: precision and threshold must be non-negative, edgeitems and linewidth positive");
  }
  const CountedLockGuard guard(options_mutex);
  current_options = options;
  constexpr int64_t kMostEdgeItems = std::numeric_limits<int64_t>::max() / 2;  // both ends have a number
  current_options.edge_items = std::min(options.edge_items, kMostEdgeItems);
}

std::string values_text(const at::Tensor& tensor, int64_t indent) {
  if (tensor.numel() == 0) {
    return "[]";
  }
  const PrintOptions options = print_options();
  const at::Tensor shown = shown_part(tensor, options);
  const Elements elements = shown.is_complex()          ? complexes(shown, options)
                            : shown.is_floating_point() ? floats(doubles_of(shown), options)
                                                        : integers(shown);
  return Layout(tensor, elements, indent, options).text();
}

}  // namespace simple_torch::core
