// Pictures as bytes of JPEG and PNG files.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace simple_torch::core::images {

/// A uint8 tensor [n] of a uint8 picture [1 or 3, height, width] on the CPU. `quality` is 1 to 100, `level`
/// (of compression) 0 to 9. Throws Error(kInvalidArgument) for others.
at::Tensor encode_jpeg(const at::Tensor& picture, int64_t quality);
at::Tensor encode_png(const at::Tensor& picture, int64_t level);

/// The picture as [height, width, channels], contiguous. Throws Error(kInvalidArgument) where it is none.
at::Tensor rows_of_picture(const at::Tensor& picture);

}  // namespace simple_torch::core::images
