// The names of torch's storage classes, which encode the dtype in a file.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string>
#include <string_view>

namespace simple_torch::core::pickle {

/// "FloatStorage" for float32; nothing for dtypes that torch added without such a class.
std::optional<std::string_view> storage_class_of(c10::ScalarType dtype);
std::optional<c10::ScalarType> dtype_of_storage_class(std::string_view name);

}  // namespace simple_torch::core::pickle
