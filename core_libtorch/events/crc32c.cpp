#include "core_libtorch/events/crc32c.h"

#include <array>
#include <bit>

namespace simple_torch::core::events {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;
constexpr uint32_t kMask = 0xA282EAD8;

constexpr std::array<uint32_t, 256> remainders() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest >> 1) ^ ((rest & 1) != 0 ? kPolynomial : 0);
    }
    table[byte] = rest;
  }
  return table;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) noexcept {
  static constexpr std::array<uint32_t, 256> kRemainders = remainders();
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kRemainders[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  }
  return ~crc;
}

uint32_t masked_crc32c(std::string_view bytes) noexcept { return std::rotr(crc32c(bytes), 15) + kMask; }

}  // namespace simple_torch::core::events
