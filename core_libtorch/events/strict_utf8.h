// Strict UTF-8, which every protobuf reader accepts.
#pragma once

#include <string_view>

namespace simple_torch::core::events {

/// Whether the bytes are UTF-8 in the shortest form without surrogates. Otherwise readers would reject the
/// whole message.
bool is_strict_utf8(std::string_view text) noexcept;

}  // namespace simple_torch::core::events
