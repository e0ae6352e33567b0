// Source: torchvision.transforms.v2.functional.adjust_hue, with the same roundings: the compiler must not
// fuse operations (-ffp-contract=off).
#include <bit>

#include "core_libtorch/images/adjust.h"
#include "core_libtorch/images/rows.h"

namespace simple_torch::core::images {
namespace {

// A bitwise select: without a branch the compiler vectorizes the loop.
SPT_INLINE float chosen(bool first, float a, float b) {
  const uint32_t mask = 0U - static_cast<uint32_t>(first);
  return std::bit_cast<float>((std::bit_cast<uint32_t>(a) & mask) | (std::bit_cast<uint32_t>(b) & ~mask));
}

// The maximum; NaN if any value is NaN. `kFinite`: no value can be NaN.
template <bool kFinite>
SPT_INLINE float greatest(float r, float g, float b) {
  const float max = larger(r, larger(g, b));
  return kFinite ? max : chosen((r != r) | (g != g), r + g, max);
}

// The hue, 0 … 1, and the saturation. A color that is not finite has hue NaN.
template <bool kFinite>
SPT_INLINE void find_hue(float r, float g, float b, float max, float& hue, float& saturation) {
  const float range = max - smaller(r, smaller(g, b));
  const bool gray = range == 0.0F;
  const float divisor = chosen(gray, 1.0F, range);
  saturation = range / chosen(gray, 1.0F, max);
  const float from_red = (max - r) / divisor;
  const float from_green = (max - g) / divisor;
  const float from_blue = (max - b) / divisor;
  const float of_red = from_blue - from_green;
  const float of_green = from_red + 2.0F - from_blue;
  const float of_blue = from_green + 4.0F - from_red;
  const float sixths = chosen(max == r, of_red, chosen(max == g, of_green, of_blue));
  const float turns = sixths * static_cast<float>(1.0 / 6.0) + 1.0F + (kFinite ? 0.0F : range * 0.0F);
  hue = turns - chosen(turns >= 1.0F, 1.0F, 0.0F);
}

SPT_INLINE float rotated_hue(float hue, float factor) {
  const float turns = hue + factor;
  const float below = turns - chosen(turns >= 1.0F, 1.0F, 0.0F);
  return below + chosen(below < 0.0F, 1.0F, 0.0F);
}

// The sextant to which LibTorch converts NaN.
constexpr float kNoSextant = 4.0F;

template <bool kFinite>
SPT_INLINE void rotate_hue(float& red, float& green, float& blue, float factor) {
  const float v = greatest<kFinite>(red, green, blue);
  float hue;
  float s;
  find_hue<kFinite>(red, green, blue, v, hue, s);
  const float sixths = rotated_hue(hue, factor) * 6.0F;
  const bool has_sextant = kFinite || sixths == sixths;
  const int32_t whole = static_cast<int32_t>(chosen(has_sextant, sixths, kNoSextant));
  const float part = s * (sixths - static_cast<float>(whole));
  const float rest = 1.0F - s;
  const float q = bounded((1.0F - part) * v, 1.0F);
  const float t = bounded((part + rest) * v, 1.0F);
  const float p = bounded(rest * v, 1.0F);
  // rounding may produce 6, a full turn: the same as 0
  red = chosen(whole == 1, q, chosen((whole == 2) | (whole == 3), p, chosen(whole == 4, t, v)));
  green = chosen((whole == 1) | (whole == 2), v,
                 chosen(whole == 3, q, chosen((whole == 4) | (whole == 5), p, t)));
  blue = chosen((whole == 3) | (whole == 4), v, chosen(whole == 2, t, chosen(whole == 5, q, p)));
}

// Values as fractions of the maximum.
template <bool kFinite>
struct HueRotation {
  float factor;

  SPT_INLINE float loaded(uint8_t value) const {
    return static_cast<float>(value) * static_cast<float>(1.0 / 255.0);
  }
  SPT_INLINE float loaded(float value) const { return value; }
  SPT_INLINE void store(float share, uint8_t* out) const {
    *out = static_cast<uint8_t>(static_cast<int32_t>(share * static_cast<float>(255.0 + 1.0 - 0.001)));
  }
  SPT_INLINE void store(float share, float* out) const { *out = share; }

  SPT_INLINE void work(Colors& colors, int64_t count, int64_t /*image*/) const {
    for (int64_t i = 0; i < count; ++i) {
      rotate_hue<kFinite>(colors.red[i], colors.green[i], colors.blue[i], factor);
    }
  }
  template <class T>
  SPT_INLINE void write(const Colors& colors, int64_t count, const ImageBatch<T>& from, int64_t row,
                        int64_t begin, T* out) const {
    write_colors(*this, colors, count, from, row, begin, out);
  }
};

}  // namespace

at::Tensor adjust_hue(const at::Tensor& image, double factor) {
  const auto turns = static_cast<float>(factor);
  return image.scalar_type() == at::kByte ? apply_work<uint8_t>(image, HueRotation<true>{turns})
                                          : apply_work<float>(image, HueRotation<false>{turns});
}

}  // namespace simple_torch::core::images
