#include "core_libtorch/images/adjust.h"

#include <array>
#include <utility>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"

namespace simple_torch::core::images {
namespace {

using Adjustment = at::Tensor (*)(const at::Tensor&, double);
constexpr std::array<std::pair<const char*, Adjustment>, 4> kAspects = {{{"brightness", &adjust_brightness},
                                                                         {"contrast", &adjust_contrast},
                                                                         {"saturation", &adjust_saturation},
                                                                         {"hue", &adjust_hue}}};

}  // namespace

at::Tensor adjust(const at::Tensor& image, const std::string& aspect, double factor) {
  const bool known = image.scalar_type() == at::kByte || image.scalar_type() == at::kFloat;
  if (!image.is_cpu() || image.layout() != at::kStrided || !known || image.dim() < 3 || image.size(-3) != 3) {
    throw Error(ErrorKind::kInvalidArgument,
                "adjust_" + aspect +
                    ": image must be a uint8 or float32 tensor [..., 3, height, width] on the CPU, got a " +
                    std::to_string(image.dim()) + "-D " + dtype_name(image.scalar_type()) + " tensor on " +
                    image.device().str());
  }
  for (const auto& [name, adjustment] : kAspects) {
    if (aspect == name) {
      return adjustment(image, factor);
    }
  }
  throw Error(ErrorKind::kInvalidArgument,
              "adjust: aspect must be 'brightness', 'contrast', 'saturation' or 'hue', got '" + aspect + "'");
}

}  // namespace simple_torch::core::images
