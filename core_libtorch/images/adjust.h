// Adjusts brightness, contrast, saturation and hue of images, each in one or two passes.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace simple_torch::core::images {

/// `image` is uint8 or float32 [..., 3, h, w] on the CPU. The results are contiguous and detached. They equal
/// torchvision's adjust_… functions bit by bit, except the contrast of floats: LibTorch's kernel rounds the
/// last few pixels differently, so their last bit may differ.
at::Tensor adjust_brightness(const at::Tensor& image, double factor);
at::Tensor adjust_contrast(const at::Tensor& image, double factor);
at::Tensor adjust_saturation(const at::Tensor& image, double factor);
at::Tensor adjust_hue(const at::Tensor& image, double factor);

/// Calls the function adjust_`aspect`. Throws Error(kInvalidArgument) for another aspect or tensor.
at::Tensor adjust(const at::Tensor& image, const std::string& aspect, double factor);

}  // namespace simple_torch::core::images
