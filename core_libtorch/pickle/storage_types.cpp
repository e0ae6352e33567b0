#include "core_libtorch/pickle/storage_types.h"

#include <algorithm>
#include <array>
#include <utility>

namespace simple_torch::core::pickle {
namespace {

using Row = std::pair<c10::ScalarType, std::string_view>;

constexpr std::array kClasses{Row{c10::kFloat, "FloatStorage"},
                              Row{c10::kDouble, "DoubleStorage"},
                              Row{c10::kHalf, "HalfStorage"},
                              Row{c10::kBFloat16, "BFloat16Storage"},
                              Row{c10::kLong, "LongStorage"},
                              Row{c10::kInt, "IntStorage"},
                              Row{c10::kShort, "ShortStorage"},
                              Row{c10::kChar, "CharStorage"},
                              Row{c10::kByte, "ByteStorage"},
                              Row{c10::kBool, "BoolStorage"},
                              Row{c10::kComplexFloat, "ComplexFloatStorage"},
                              Row{c10::kComplexDouble, "ComplexDoubleStorage"}};

}  // namespace

std::optional<std::string_view> storage_class_of(c10::ScalarType dtype) {
  const auto row =
      std::find_if(kClasses.begin(), kClasses.end(), [&](const Row& r) { return r.first == dtype; });
  return row == kClasses.end() ? std::nullopt : std::optional(row->second);
}

std::optional<c10::ScalarType> dtype_of_storage_class(std::string_view name) {
  const auto row =
      std::find_if(kClasses.begin(), kClasses.end(), [&](const Row& r) { return r.second == name; });
  return row == kClasses.end() ? std::nullopt : std::optional(row->first);
}

}  // namespace simple_torch::core::pickle
