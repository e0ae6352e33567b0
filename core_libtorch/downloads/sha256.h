// SHA-256. Source: FIPS 180-4.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core_libtorch/downloads/blocks.h"

namespace simple_torch::core::downloads {

class Sha256 {
 public:
  void take(const Block& block);
  std::string hex() const;
  static std::array<uint8_t, 8> length_field(uint64_t bits);

 private:
  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

}  // namespace simple_torch::core::downloads
