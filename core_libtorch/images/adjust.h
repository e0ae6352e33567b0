// Brightness, contrast, saturation and hue of pictures, each in one pass or two.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace simple_torch::core::images {

/// `picture` is uint8 or float32 [..., 3, h, w] on the CPU. The results are contiguous, have no history, and
/// have the bits of torchvision's adjust_… functions, which take a pass over memory for each arithmetic
/// operation; but the contrast of floats may differ in the last bit of the last few pixels, which LibTorch's
/// kernel rounds otherwise than the others.
at::Tensor adjust_brightness(const at::Tensor& picture, double factor);
at::Tensor adjust_contrast(const at::Tensor& picture, double factor);
at::Tensor adjust_saturation(const at::Tensor& picture, double factor);
at::Tensor adjust_hue(const at::Tensor& picture, double factor);

/// Of those the one that is named so, without adjust_. Throws Error(kInvalidArgument) for another name or
/// tensor.
at::Tensor adjust(const at::Tensor& picture, const std::string& aspect, double factor);

}  // namespace simple_torch::core::images
