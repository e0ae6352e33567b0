#include "core_libtorch/pickle/storage_types.h"

#include <algorithm>
#include <array>
#include <utility>

namespace simple_torch::core::pickle {
namespace {

using StorageType = std::pair<c10::ScalarType, std::string_view>;

constexpr std::array kClasses{StorageType{c10::kFloat, "FloatStorage"},
                              StorageType{c10::kDouble, "DoubleStorage"},
                              StorageType{c10::kHalf, "HalfStorage"},
                              StorageType{c10::kBFloat16, "BFloat16Storage"},
                              StorageType{c10::kLong, "LongStorage"},
                              StorageType{c10::kInt, "IntStorage"},
                              StorageType{c10::kShort, "ShortStorage"},
                              StorageType{c10::kChar, "CharStorage"},
                              StorageType{c10::kByte, "ByteStorage"},
                              StorageType{c10::kBool, "BoolStorage"},
                              StorageType{c10::kComplexFloat, "ComplexFloatStorage"},
                              StorageType{c10::kComplexDouble, "ComplexDoubleStorage"}};

}  // namespace

std::optional<std::string_view> storage_class_of(c10::ScalarType dtype) {
  const auto row =
      std::find_if(kClasses.begin(), kClasses.end(), [&](const StorageType& r) { return r.first == dtype; });
  return row == kClasses.end() ? std::nullopt : std::optional(row->second);
}

std::optional<c10::ScalarType> dtype_of_storage_class(std::string_view name) {
  const auto row =
      std::find_if(kClasses.begin(), kClasses.end(), [&](const StorageType& r) { return r.second == name; });
  return row == kClasses.end() ? std::nullopt : std::optional(row->first);
}

}  // namespace simple_torch::core::pickle
