// Pictures: JPEG by libjpeg-turbo and PNG by libpng, with the pixels of torchvision.io.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace simple_torch::core::images {

/// torchvision's ImageReadMode, with its numbers.
enum class ReadMode : int64_t { kUnchanged = 0, kGray = 1, kGrayAlpha = 2, kRgb = 3, kRgbAlpha = 4 };

/// The bytes of one file.
struct Bytes {
  const uint8_t* data;
  size_t size;
};

bool is_jpeg(Bytes bytes);
bool is_png(Bytes bytes);

/// A uint8 tensor [channels, height, width], whose channels lie side by side in memory; of a PNG of 16 bits a
/// uint16 one. With `oriented` it is turned as its EXIF data say. Throws Error(kIo), which says what is wrong
/// with the bytes, Error(kInvalidArgument) for a mode that the format does not have (JPEG: alpha).
at::Tensor decode_jpeg(Bytes bytes, ReadMode mode, bool oriented);
at::Tensor decode_png(Bytes bytes, ReadMode mode, bool oriented);

/// Of either format; `format` "jpeg" or "png" takes that one only, "" both. `data` is a uint8 tensor [n] on
/// the CPU, else Error(kInvalidArgument).
at::Tensor decode(const at::Tensor& data, const std::string& format, int64_t mode, bool oriented);

}  // namespace simple_torch::core::images
