// The EXIF orientation of an image.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

namespace simple_torch::core::images {

/// The orientation, 1 to 8, in EXIF data that starts with the TIFF header; 0 if it has none.
int orientation_in(const uint8_t* exif, size_t size);

/// Applies the orientation to [channels, height, width]; numbers other than 1 to 8 change nothing.
at::Tensor apply_orientation(const at::Tensor& image, int orientation);

}  // namespace simple_torch::core::images
