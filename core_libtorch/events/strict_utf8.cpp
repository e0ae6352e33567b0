#include "core_libtorch/events/strict_utf8.h"

#include <bit>
#include <cstdint>

namespace simple_torch::core::events {

bool is_strict_utf8(std::string_view text) noexcept {
  static constexpr uint32_t kMinCode[] = {0, 0, 0x80, 0x800,
                                          0x10000};  // the smallest code point of each length
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const auto ones = static_cast<size_t>(std::countl_one(first));
    if (ones == 0) {
      text.remove_prefix(1);
      continue;
    }
    if (ones == 1 || ones > 4 || text.size() < ones) {
      return false;
    }
    uint32_t code = first & (0x7FU >> ones);
    for (const char byte : text.substr(1, ones - 1)) {
      if (std::countl_one(static_cast<unsigned char>(byte)) != 1) {
        return false;
      }
      code = (code << 6) | (static_cast<unsigned char>(byte) & 0x3FU);
    }
    if (code < kMinCode[ones] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      return false;
    }
    text.remove_prefix(ones);
  }
  return true;
}

}  // namespace simple_torch::core::events
