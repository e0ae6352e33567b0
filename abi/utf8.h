// Strings that leave the library are UTF-8, whatever bytes the program passed in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace simple_torch::abi {

/// The number of bytes before the first byte that is not part of valid UTF-8.
size_t valid_utf8_prefix(std::string_view text) noexcept;

/// Replaces the contents of `out` by `text`, with invalid bytes escaped as \xNN. Reuses the memory of `out`.
void assign_utf8(std::string& out, std::string_view text);

}  // namespace simple_torch::abi
