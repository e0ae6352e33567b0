#include "core_libtorch/images/adjust.h"

#include <array>
#include <utility>

#include "core_libtorch/error.h"

namespace simple_torch::core::images {
namespace {

using Adjustment = at::Tensor (*)(const at::Tensor&, double);
constexpr std::array<std::pair<const char*, Adjustment>, 4> kAspects = {{{"brightness", &adjust_brightness},
                                                                         {"contrast", &adjust_contrast},
                                                                         {"saturation", &adjust_saturation},
                                                                         {"hue", &adjust_hue}}};

}  // namespace

at::Tensor adjust(const at::Tensor& picture, const std::string& aspect, double factor) {
  const bool known = picture.scalar_type() == at::kByte || picture.scalar_type() == at::kFloat;
  if (!picture.is_cpu() || picture.layout() != at::kStrided || !known || picture.dim() < 3 ||
      picture.size(-3) != 3) {
    throw Error(ErrorKind::kInvalidArgument,
                "a picture whose " + aspect +
                    " is adjusted is a uint8 or float32 tensor [..., 3, height, width] on "
                    "the CPU");
  }
  for (const auto& [name, adjustment] : kAspects) {
    if (aspect == name) {
      return adjustment(picture, factor);
    }
  }
  throw Error(ErrorKind::kInvalidArgument,
              "brightness, contrast, saturation and hue of a picture can be adjusted, not " + aspect);
}

}  // namespace simple_torch::core::images
