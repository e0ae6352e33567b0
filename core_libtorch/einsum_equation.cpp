#include "core_libtorch/einsum_equation.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace simple_torch::core {
namespace {

constexpr int kLetters = 52;
constexpr int kLabels = 64;
constexpr std::string_view kEllipsis = "...";

Labels bit(int label) { return Labels{1} << static_cast<unsigned>(label); }

int label_of(char letter) { return std::islower(letter) != 0 ? letter - 'a' : 26 + letter - 'A'; }

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// The labels of one operand in the order of its dimensions; nothing for invalid subscripts.
std::optional<std::vector<int>> labels_of(const std::string& subscripts, int64_t dims) {
  const size_t ellipsis = subscripts.find(kEllipsis);
  const size_t letters = subscripts.size() - (ellipsis == std::string::npos ? 0 : kEllipsis.size());
  const int64_t hidden = dims - static_cast<int64_t>(letters);
  if (hidden < 0 || (ellipsis == std::string::npos && hidden > 0) || hidden > kLabels - kLetters) {
    return std::nullopt;
  }
  std::vector<int> labels;
  for (size_t i = 0; i < subscripts.size(); ++i) {
    if (i == ellipsis) {
      for (auto left = static_cast<int>(hidden); left > 0; --left) {
        labels.push_back(kLetters + left - 1);
      }
      i += kEllipsis.size() - 1;
    } else if (std::isalpha(static_cast<unsigned char>(subscripts[i])) != 0) {
      labels.push_back(label_of(subscripts[i]));
    } else {
      return std::nullopt;
    }
  }
  return labels;
}

/// Of an equation without `->`: the labels that occur once, and all dimensions of `...`.
Labels implied_output(const std::array<int, kLabels>& counts) {
  Labels output = 0;
  for (int label = 0; label < kLabels; ++label) {
    const int count = counts[static_cast<size_t>(label)];
    if (count == 1 || (count > 1 && label >= kLetters)) {
      output |= bit(label);
    }
  }
  return output;
}

Labels named_output(const std::string& subscripts, Labels all) {
  Labels output = 0;
  for (const char c : subscripts) {
    output |= std::isalpha(static_cast<unsigned char>(c)) != 0 ? bit(label_of(c)) : 0;
  }
  const Labels hidden = all & ~(bit(kLetters) - 1);
  return subscripts.find(kEllipsis) == std::string::npos ? output : output | hidden;
}

}  // namespace

double EinsumEquation::size_of(Labels labels) const {
  double product = 1;
  for (; labels != 0; labels &= labels - 1) {
    product *= sizes[static_cast<size_t>(__builtin_ctzll(labels))];
  }
  return product;
}

std::optional<EinsumEquation> parse_einsum(std::string_view equation, at::TensorList operands) {
  std::string text(equation);
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  const std::vector<std::string> parts = split(text.substr(0, arrow), ',');
  if (parts.size() != operands.size()) {
    return std::nullopt;
  }
  EinsumEquation parsed;
  std::array<int, kLabels> counts{};
  Labels all = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto labels = labels_of(parts[i], operands[i].dim());
    if (!labels) {
      return std::nullopt;
    }
    Labels own = 0;
    for (size_t dim = 0; dim < labels->size(); ++dim) {
      const auto label = static_cast<size_t>((*labels)[dim]);
      own |= bit((*labels)[dim]);
      ++counts[label];
      parsed.sizes[label] =
          std::max(parsed.sizes[label], static_cast<double>(operands[i].size(static_cast<int64_t>(dim))));
    }
    all |= own;
    parsed.inputs.push_back(own);
  }
  parsed.output =
      arrow == std::string::npos ? implied_output(counts) : named_output(text.substr(arrow + 2), all);
  return parsed;
}

}  // namespace simple_torch::core
