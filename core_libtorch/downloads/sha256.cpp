#include "core_libtorch/downloads/sha256.h"

#include <bit>
#include <cmath>
#include <cstdio>

namespace simple_torch::core::downloads {
namespace {

bool is_prime(uint32_t number) {
  for (uint32_t i = 2; i * i <= number; ++i) {
    if (number % i == 0) {
      return false;
    }
  }
  return true;
}

/// The first 32 fractional bits of the cube roots of the first 64 primes.
std::array<uint32_t, 64> cube_roots() {
  std::array<uint32_t, 64> found{};
  size_t count = 0;
  for (uint32_t number = 2; count < found.size(); ++number) {
    if (is_prime(number)) {
      const long double root = cbrtl(static_cast<long double>(number));
      found[count++] = static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L);
    }
  }
  return found;
}

std::array<uint32_t, 64> schedule_of(const Block& block) {
  std::array<uint32_t, 64> w{};
  for (size_t i = 0; i < 16; ++i) {
    uint32_t word = 0;
    std::memcpy(&word, block.data() + 4 * i, sizeof word);
    w[i] = __builtin_bswap32(word);
  }
  for (size_t i = 16; i < w.size(); ++i) {
    const uint32_t near = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3U);
    const uint32_t far = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10U);
    w[i] = w[i - 16] + near + w[i - 7] + far;
  }
  return w;
}

}  // namespace

void Sha256::take(const Block& block) {
  static const std::array<uint32_t, 64> kRoots = cube_roots();
  const std::array<uint32_t, 64> w = schedule_of(block);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t high = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t first = h + high + ((e & f) ^ (~e & g)) + kRoots[i] + w[i];
    const uint32_t low = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t second = low + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<uint32_t, 8> sums{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < sums.size(); ++i) {
    state_[i] += sums[i];
  }
}

std::string Sha256::hex() const {
  std::string digits;
  for (const uint32_t word : state_) {
    char part[9];
    std::snprintf(part, sizeof part, "%08x", word);
    digits += part;
  }
  return digits;
}

std::array<uint8_t, 8> Sha256::length_field(uint64_t bits) {
  const uint64_t turned = __builtin_bswap64(bits);
  std::array<uint8_t, 8> field;
  std::memcpy(field.data(), &turned, field.size());
  return field;
}

}  // namespace simple_torch::core::downloads
