// Source: torchvision.transforms.v2.functional.adjust_brightness, _contrast, _saturation. Their roundings are
// kept: where LibTorch's kernels add a multiple in one rounding, so do we, and nowhere else
// (-ffp-contract=off).
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

// Values as they are; what comes out is bounded by the greatest one.
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
  SPT_INLINE void write(const Colours& colours, int64_t count, const Pictures<T>& from, int64_t row,
                        int64_t begin, T* out) const {
    write_colours(*this, colours, count, from, row, begin, out);
  }
};

struct Multiply : Values {
  float factor;

  SPT_INLINE void work(Colours& colours, int64_t count, int64_t /*picture*/) const {
    for (float* channel : {colours.red, colours.green, colours.blue}) {
      for (int64_t i = 0; i < count; ++i) {
        channel[i] *= factor;
      }
    }
  }
};

// The grey of each pixel, of integers a whole number, as one plane of floats.
template <bool kOnce, bool kWhole>
struct Grey : Values {
  SPT_INLINE void work(Colours& colours, int64_t count, int64_t /*picture*/) const {
    for (int64_t i = 0; i < count; ++i) {
      const float grey = luma<kOnce>(colours.red[i], colours.green[i], colours.blue[i]);
      colours.red[i] = kWhole ? std::floor(grey) : grey;
    }
  }
  template <class T>
  SPT_INLINE void write(const Colours& colours, int64_t count, const Pictures<T>& from, int64_t row,
                        int64_t begin, float* out) const {
    std::copy_n(colours.red, count, out + row * from.width + begin);
  }
};

template <bool kOnce>
struct TowardsOne : Values {  // value of each picture
  const float* others;
  float ratio, rest;

  SPT_INLINE void work(Colours& colours, int64_t count, int64_t picture) const {
    const float other = others[picture];
    for (float* channel : {colours.red, colours.green, colours.blue}) {
      for (int64_t i = 0; i < count; ++i) {
        channel[i] = plus_multiple<kOnce>(channel[i] * ratio, other, rest);
      }
    }
  }
};

template <bool kOnce, bool kWhole>
struct TowardsGrey : Values {
  float ratio, rest;

  SPT_INLINE void work(Colours& colours, int64_t count, int64_t /*picture*/) const {
    for (int64_t i = 0; i < count; ++i) {
      const float exact = luma<kOnce>(colours.red[i], colours.green[i], colours.blue[i]);
      const float grey = kWhole ? std::floor(exact) : exact;
      colours.red[i] = plus_multiple<kOnce>(colours.red[i] * ratio, grey, rest);
      colours.green[i] = plus_multiple<kOnce>(colours.green[i] * ratio, grey, rest);
      colours.blue[i] = plus_multiple<kOnce>(colours.blue[i] * ratio, grey, rest);
    }
  }
};

template <class T, bool kOnce>
at::Tensor with_contrast(const at::Tensor& picture, float ratio, float rest) {
  if (picture.numel() == 0) {
    return picture.clone();
  }
  const at::Tensor all = as_pictures(picture);
  const at::Tensor grey =
      at::empty({all.size(0), 1, all.size(2), all.size(3)}, picture.options().dtype(at::kFloat));
  work_on_rows(Grey<kOnce, std::is_integral_v<T>>{}, Pictures<T>(all), grey.mutable_data_ptr<float>());
  const at::Tensor means = at::mean(grey, {-3, -2, -1}).contiguous();
  return worked_on<T>(picture, TowardsOne<kOnce>{{}, means.const_data_ptr<float>(), ratio, rest});
}

template <class T, bool kOnce>
at::Tensor with_saturation(const at::Tensor& picture, float ratio, float rest) {
  return worked_on<T>(picture, TowardsGrey<kOnce, std::is_integral_v<T>>{{}, ratio, rest});
}

}  // namespace

at::Tensor adjust_brightness(const at::Tensor& picture, double factor) {
  const Multiply work{{}, static_cast<float>(factor)};
  return picture.scalar_type() == at::kByte ? worked_on<uint8_t>(picture, work)
                                            : worked_on<float>(picture, work);
}

at::Tensor adjust_contrast(const at::Tensor& picture, double factor) {
  const auto ratio = static_cast<float>(factor);
  const auto rest = static_cast<float>(1.0 - factor);
  if (picture.scalar_type() == at::kByte) {
    return adds_in_one_rounding() ? with_contrast<uint8_t, true>(picture, ratio, rest)
                                  : with_contrast<uint8_t, false>(picture, ratio, rest);
  }
  return adds_in_one_rounding() ? with_contrast<float, true>(picture, ratio, rest)
                                : with_contrast<float, false>(picture, ratio, rest);
}

at::Tensor adjust_saturation(const at::Tensor& picture, double factor) {
  const auto ratio = static_cast<float>(factor);
  const auto rest = static_cast<float>(1.0 - factor);
  if (picture.scalar_type() == at::kByte) {
    return adds_in_one_rounding() ? with_saturation<uint8_t, true>(picture, ratio, rest)
                                  : with_saturation<uint8_t, false>(picture, ratio, rest);
  }
  return adds_in_one_rounding() ? with_saturation<float, true>(picture, ratio, rest)
                                : with_saturation<float, false>(picture, ratio, rest);
}

}  // namespace simple_torch::core::images
