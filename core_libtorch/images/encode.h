// Encodes images as JPEG and PNG.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace simple_torch::core::images {

/// The file's bytes, uint8 [n], of a uint8 image [1 or 3, height, width] on the CPU. `quality` is 1 to 100,
/// `level` (compression) 0 to 9. Throws Error(kInvalidArgument) for other arguments.
at::Tensor encode_jpeg(const at::Tensor& image, int64_t quality);
at::Tensor encode_png(const at::Tensor& image, int64_t level);

/// The image as a contiguous [height, width, channels]. Throws Error(kInvalidArgument) for another tensor.
at::Tensor rows_of_image(const at::Tensor& image);

}  // namespace simple_torch::core::images
