#include "core_libtorch/images/exif.h"

#include <ATen/ops/flip.h>

namespace simple_torch::core::images {
namespace {

// Reads numbers of a TIFF structure in its byte order; data past the end reads as 0.
class Tiff {
 public:
  Tiff(const uint8_t* bytes, size_t size)
      : bytes_(bytes), size_(size), is_little_(size > 0 && bytes[0] == 'I') {}

  bool is_valid() const {
    return size_ >= 8 && bytes_[0] == bytes_[1] && (bytes_[0] == 'I' || bytes_[0] == 'M') && word(2) == 42;
  }
  uint32_t word(size_t at) const { return number(at, 2); }
  uint32_t long_word(size_t at) const { return number(at, 4); }
  size_t size() const { return size_; }

 private:
  uint32_t number(size_t at, size_t count) const {
    if (at > size_ || size_ - at < count) {
      return 0;
    }
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i) {
      value = value << 8 | bytes_[at + (is_little_ ? count - 1 - i : i)];
    }
    return value;
  }

  const uint8_t* bytes_;
  size_t size_;
  bool is_little_;
};

}  // namespace

int orientation_in(const uint8_t* exif, size_t size) {
  constexpr uint32_t kOrientation = 0x0112;
  constexpr size_t kEntry = 12;
  const Tiff tiff(exif, size);
  if (!tiff.is_valid()) {
    return 0;
  }
  const size_t directory = tiff.long_word(4);
  const size_t entries = tiff.word(directory);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntry;
    if (entry + kEntry > tiff.size()) {
      return 0;
    }
    if (tiff.word(entry) == kOrientation) {
      return static_cast<int>(tiff.word(entry + 8));
    }
  }
  return 0;
}

at::Tensor apply_orientation(const at::Tensor& image, int orientation) {
  at::Tensor upright = orientation >= 5 && orientation <= 8 ? image.transpose(-1, -2) : image;
  switch (orientation) {
    case 2:
    case 6:
      return at::flip(upright, {-1});
    case 3:
    case 7:
      return at::flip(upright, {-2, -1});
    case 4:
    case 8:
      return at::flip(upright, {-2});
    default:
      return upright;
  }
}

}  // namespace simple_torch::core::images
