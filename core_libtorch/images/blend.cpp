// Source: torchvision.transforms.v2.functional.adjust_brightness, _contrast, _saturation. Rounds
// as they do: fuses a multiply-add only where LibTorch's kernels do (-ffp-contract=off).
#include <ATen/Version.h>
#include <ATen/ops/mean.h>

#include "core_libtorch/images/adjust.h"
#include "core_libtorch/images/rows.h"

namespace simple_torch::core::images {
namespace {

// Whether LibTorch's add(a, b, alpha) rounds once.
bool adds_in_one_rounding() {
#if defined(__x86_64__)
  static const bool does = at::get_cpu_capability() != "DEFAULT";
  return does;
#else
  return true;
#endif
}

template <bool kOnce>
SPT_INLINE float plus_multiple(float a, float b, float alpha) {
  return kOnce ? std::fma(b, alpha, a) : a + b * alpha;
}

template <bool kOnce>
SPT_INLINE float luma(float red, float green, float blue) {
  return plus_multiple<kOnce>(plus_multiple<kOnce>(red * 0.2989F, green, 0.587F), blue, 0.114F);
}

// Values in their own range; results are clamped to its maximum.
struct Values {
  template <class T>
  SPT_INLINE float loaded(T value) const {
    return static_cast<float>(value);
  }
  SPT_INLINE void store(float value, uint8_t* out) const {
    *out = static_cast<uint8_t>(static_cast<int32_t>(bounded(value, 255.0F)));
  }
  SPT_INLINE void store(float value, float* out) const { *out = bounded(value, 1.0F); }
  template <class T>
  SPT_INLINE void write(const Colors& colors, int64_t count, const ImageBatch<T>& from, int64_t row,
                        int64_t begin, T* out) const {
    write_colors(*this, colors, count, from, row, begin, out);
  }
};

struct Multiply : Values {
  float factor;

  SPT_INLINE void work(Colors& colors, int64_t count, int64_t /*image*/) const {
    for (float* channel : {colors.red, colors.green, colors.blue}) {
      for (int64_t i = 0; i < count; ++i) {
        channel[i] *= factor;
      }
    }
  }
};

// The gray value of each pixel as one plane of floats; rounded down for integers.
template <bool kOnce, bool kWhole>
struct Gray : Values {
  SPT_INLINE void work(Colors& colors, int64_t count, int64_t /*image*/) const {
    for (int64_t i = 0; i < count; ++i) {
      const float gray = luma<kOnce>(colors.red[i], colors.green[i], colors.blue[i]);
      colors.red[i] = kWhole ? std::floor(gray) : gray;
    }
  }
  template <class T>
  SPT_INLINE void write(const Colors& colors, int64_t count, const ImageBatch<T>& from, int64_t row,
                        int64_t begin, float* out) const {
    std::copy_n(colors.red, count, out + row * from.width + begin);
  }
};

template <bool kOnce>
struct TowardsOne : Values {  // a value for each image
  const float* others;
  float ratio, rest;

  SPT_INLINE void work(Colors& colors, int64_t count, int64_t image) const {
    const float other = others[image];
    for (float* channel : {colors.red, colors.green, colors.blue}) {
      for (int64_t i = 0; i < count; ++i) {
        channel[i] = plus_multiple<kOnce>(channel[i] * ratio, other, rest);
      }
    }
  }
};

template <bool kOnce, bool kWhole>
struct TowardsGray : Values {
  float ratio, rest;

  SPT_INLINE void work(Colors& colors, int64_t count, int64_t /*image*/) const {
    for (int64_t i = 0; i < count; ++i) {
      const float exact = luma<kOnce>(colors.red[i], colors.green[i], colors.blue[i]);
      const float gray = kWhole ? std::floor(exact) : exact;
      colors.red[i] = plus_multiple<kOnce>(colors.red[i] * ratio, gray, rest);
      colors.green[i] = plus_multiple<kOnce>(colors.green[i] * ratio, gray, rest);
      colors.blue[i] = plus_multiple<kOnce>(colors.blue[i] * ratio, gray, rest);
    }
  }
};

template <class T, bool kOnce>
at::Tensor with_contrast(const at::Tensor& image, float ratio, float rest) {
  if (image.numel() == 0) {
    return image.clone();
  }
  const at::Tensor all = as_images(image);
  const at::Tensor gray =
      at::empty({all.size(0), 1, all.size(2), all.size(3)}, image.options().dtype(at::kFloat));
  process_rows(Gray<kOnce, std::is_integral_v<T>>{}, ImageBatch<T>(all), gray.mutable_data_ptr<float>());
  const at::Tensor means = at::mean(gray, {-3, -2, -1}).contiguous();
  return apply_work<T>(image, TowardsOne<kOnce>{{}, means.const_data_ptr<float>(), ratio, rest});
}

template <class T, bool kOnce>
at::Tensor with_saturation(const at::Tensor& image, float ratio, float rest) {
  return apply_work<T>(image, TowardsGray<kOnce, std::is_integral_v<T>>{{}, ratio, rest});
}

}  // namespace

at::Tensor adjust_brightness(const at::Tensor& image, double factor) {
  const Multiply work{{}, static_cast<float>(factor)};
  return image.scalar_type() == at::kByte ? apply_work<uint8_t>(image, work) : apply_work<float>(image, work);
}

at::Tensor adjust_contrast(const at::Tensor& image, double factor) {
  const auto ratio = static_cast<float>(factor);
  const auto rest = static_cast<float>(1.0 - factor);
  if (image.scalar_type() == at::kByte) {
    return adds_in_one_rounding() ? with_contrast<uint8_t, true>(image, ratio, rest)
                                  : with_contrast<uint8_t, false>(image, ratio, rest);
  }
  return adds_in_one_rounding() ? with_contrast<float, true>(image, ratio, rest)
                                : with_contrast<float, false>(image, ratio, rest);
}

at::Tensor adjust_saturation(const at::Tensor& image, double factor) {
  const auto ratio = static_cast<float>(factor);
  const auto rest = static_cast<float>(1.0 - factor);
  if (image.scalar_type() == at::kByte) {
    return adds_in_one_rounding() ? with_saturation<uint8_t, true>(image, ratio, rest)
                                  : with_saturation<uint8_t, false>(image, ratio, rest);
  }
  return adds_in_one_rounding() ? with_saturation<float, true>(image, ratio, rest)
                                : with_saturation<float, false>(image, ratio, rest);
}

}  // namespace simple_torch::core::images
