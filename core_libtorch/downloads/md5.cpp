#include "core_libtorch/downloads/md5.h"

#include <bit>
#include <cmath>
#include <cstdio>

namespace simple_torch::core::downloads {
namespace {

/// The 64 constants: the first 32 fractional bits of |sin(1)|, |sin(2)| …
std::array<uint32_t, 64> sines() {
  std::array<uint32_t, 64> found{};
  for (size_t i = 0; i < found.size(); ++i) {
    found[i] =
        static_cast<uint32_t>(std::floor(std::fabs(std::sin(static_cast<double>(i + 1))) * 4294967296.0));
  }
  return found;
}

constexpr std::array<std::array<int, 4>, 4> kTurns{
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

struct Step {
  uint32_t mixed;
  size_t word;
};

Step step_of(size_t i, uint32_t b, uint32_t c, uint32_t d) {
  switch (i / 16) {
    case 0:
      return {(b & c) | (~b & d), i};
    case 1:
      return {(d & b) | (~d & c), (5 * i + 1) % 16};
    case 2:
      return {b ^ c ^ d, (3 * i + 5) % 16};
    default:
      return {c ^ (b | ~d), (7 * i) % 16};
  }
}

}  // namespace

void Md5::take(const Block& block) {
  static const std::array<uint32_t, 64> kSines = sines();
  std::array<uint32_t, 16> words;
  std::memcpy(words.data(), block.data(), block.size());  // little-endian, like this machine
  auto [a, b, c, d] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const Step step = step_of(i, b, c, d);
    const uint32_t sum = a + step.mixed + kSines[i] + words[step.word];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kTurns[i / 16][i % 4]);
  }
  state_ = {state_[0] + a, state_[1] + b, state_[2] + c, state_[3] + d};
}

std::string Md5::hex() const {
  std::string digits;
  for (const uint32_t word : state_) {
    char part[9];
    std::snprintf(part, sizeof part, "%08x", __builtin_bswap32(word));
    digits += part;
  }
  return digits;
}

std::array<uint8_t, 8> Md5::length_field(uint64_t bits) {
  std::array<uint8_t, 8> field;
  std::memcpy(field.data(), &bits, field.size());
  return field;
}

}  // namespace simple_torch::core::downloads
