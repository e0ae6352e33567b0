// Text that every reader of protobuf's messages takes.
#pragma once

#include <string_view>

namespace simple_torch::core::events {

/// Whether it is UTF-8 in the shortest form, without halves of surrogates: one such text in a message makes
/// the whole message unreadable.
bool is_strict_utf8(std::string_view text) noexcept;

}  // namespace simple_torch::core::events
