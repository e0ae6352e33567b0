// MD5. Source: RFC 1321. It detects damage, not manipulation.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core_libtorch/downloads/blocks.h"

namespace simple_torch::core::downloads {

class Md5 {
 public:
  void take(const Block& block);
  std::string hex() const;
  static std::array<uint8_t, 8> length_field(uint64_t bits);

 private:
  std::array<uint32_t, 4> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
};

}  // namespace simple_torch::core::downloads
