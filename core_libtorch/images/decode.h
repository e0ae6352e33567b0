// Decodes JPEG by libjpeg-turbo and PNG by libpng to the same pixels as torchvision.io.
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

/// A uint8 tensor [channels, height, width] with interleaved channels (channels last in memory); uint16 for a
/// 16-bit PNG. `oriented` applies the EXIF orientation. Throws Error(kIo) for invalid data,
/// Error(kInvalidArgument) for a mode that the format does not support (JPEG: alpha).
at::Tensor decode_jpeg(Bytes bytes, ReadMode mode, bool oriented);
at::Tensor decode_png(Bytes bytes, ReadMode mode, bool oriented);

/// Decodes either format; `format` "jpeg" or "png" accepts only that one, "" both. `data` must be a uint8
/// tensor [n] on the CPU, else Error(kInvalidArgument).
at::Tensor decode(const at::Tensor& data, const std::string& format, int64_t mode, bool oriented);

}  // namespace simple_torch::core::images
