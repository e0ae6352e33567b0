// Splits MD5 and SHA-256 messages into blocks of 64 bytes and pads them with their length.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace simple_torch::core::downloads {

using Block = std::array<uint8_t, 64>;

/// Passes a message to Digest::take(block) in blocks. Digest::length_field(bits) returns the last 8 bytes of
/// the padding.
template <class Digest>
class Blocks {
 public:
  explicit Blocks(Digest& digest) : digest_(digest) {}

  void add(const uint8_t* bytes, size_t count) {
    total_ += count;
    while (count > 0) {
      const size_t copied = std::min(count, block_.size() - filled_);
      std::memcpy(block_.data() + filled_, bytes, copied);
      filled_ += copied;
      bytes += copied;
      count -= copied;
      if (filled_ == block_.size()) {
        digest_.take(block_);
        filled_ = 0;
      }
    }
  }

  void finish() {
    const std::array<uint8_t, 8> length = Digest::length_field(total_ * 8);
    const uint8_t one = 0x80;
    const uint8_t zero = 0;
    add(&one, 1);
    while (filled_ != block_.size() - length.size()) {
      add(&zero, 1);
    }
    add(length.data(), length.size());
  }

 private:
  Digest& digest_;
  Block block_{};
  size_t filled_ = 0;
  uint64_t total_ = 0;
};

}  // namespace simple_torch::core::downloads
