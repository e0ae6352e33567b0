// The orientation that a camera notes beside a picture.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

namespace simple_torch::core::images {

/// The orientation, 1 to 8, in EXIF data that begin with their TIFF header; 0 where they have none.
int orientation_in(const uint8_t* exif, size_t size);

/// [channels, height, width] as it is to be seen; all but 1 to 8 leave it as it is.
at::Tensor turned(const at::Tensor& picture, int orientation);

}  // namespace simple_torch::core::images
