// Processes the pixels of images row by row with the processor's widest vector instructions.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>

namespace simple_torch::core::images {

#define SPT_INLINE inline __attribute__((always_inline))

constexpr int64_t kChunk = 256;    // pixels that one call of `work` processes
constexpr int64_t kGrain = 16384;  // the minimum of pixels for a thread

// By value, because references prevent vectorization. If either is NaN, they return b.
SPT_INLINE float larger(float a, float b) { return a > b ? a : b; }
SPT_INLINE float smaller(float a, float b) { return a < b ? a : b; }

/// Clamps `value` to [0, most]; NaN stays NaN.
SPT_INLINE float bounded(float value, float most) { return smaller(most, larger(0.0F, value)); }

/// A chunk of pixels as floats.
struct Colors {
  float red[kChunk], green[kChunk], blue[kChunk];
};

/// Images [n, 3, h, w] with any strides.
template <class T>
struct ImageBatch {
  explicit ImageBatch(const at::Tensor& all)
      : data(all.const_data_ptr<T>()),
        count(all.size(0)),
        height(all.size(2)),
        width(all.size(3)),
        each(all.stride(0)),
        channel(all.stride(1)),
        row(all.stride(2)),
        column(all.stride(3)) {}
  const T* data;
  int64_t count, height, width;
  int64_t each, channel, row, column;  // strides
};

inline at::Tensor as_images(const at::Tensor& image) {
  return image.detach().reshape({-1, 3, image.size(-2), image.size(-1)});
}

template <class Work, class T>
SPT_INLINE void load(const Work& work, const T* at, int64_t channel, int64_t column, int64_t count,
                     Colors& colors) {
  for (int64_t i = 0; i < count; ++i) {
    colors.red[i] = work.loaded(at[i * column]);
    colors.green[i] = work.loaded(at[i * column + channel]);
    colors.blue[i] = work.loaded(at[i * column + 2 * channel]);
  }
}

// Processes one row. `Work` defines how to load a value, process a chunk and store it.
template <class Work, class T, class Out>
SPT_INLINE void process_row(const Work& work, const ImageBatch<T>& from, int64_t row, Out* out) {
  const int64_t image = row / from.height;
  const T* const first = from.data + image * from.each + (row % from.height) * from.row;
  Colors colors;
  for (int64_t begin = 0; begin < from.width; begin += kChunk) {
    const int64_t count = std::min(kChunk, from.width - begin);
    const T* const at = first + begin * from.column;
    if (from.column == 1) {  // a constant stride lets the compiler vectorize the loop
      load(work, at, from.channel, 1, count, colors);
    } else if (from.column == 3 && from.channel == 1) {
      load(work, at, 1, 3, count, colors);
    } else {
      load(work, at, from.channel, from.column, count, colors);
    }
    work.work(colors, count, image);
    work.write(colors, count, from, row, begin, out);
  }
}

template <class Work, class T, class Out>
void process_rows_generic(const Work& work, const ImageBatch<T>& from, int64_t begin, int64_t end, Out* out) {
  for (int64_t row = begin; row < end; ++row) {
    process_row(work, from, row, out);
  }
}

#if defined(__x86_64__)
template <class Work, class T, class Out>
__attribute__((target("avx2,fma"))) void process_rows_avx2(const Work& work, const ImageBatch<T>& from,
                                                           int64_t begin, int64_t end, Out* out) {
  for (int64_t row = begin; row < end; ++row) {
    process_row(work, from, row, out);
  }
}
#endif

template <class Work, class T, class Out>
void process_rows(const Work& work, const ImageBatch<T>& from, Out* out) {
  auto* rows = &process_rows_generic<Work, T, Out>;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    rows = &process_rows_avx2<Work, T, Out>;
  }
#endif
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, from.width));
  at::parallel_for(0, from.count * from.height, grain,
                   [&](int64_t begin, int64_t end) { rows(work, from, begin, end, out); });
}

/// Stores three contiguous planes for each image; `Kind` converts a float to a value.
template <class Kind, class T>
SPT_INLINE void write_colors(const Kind& kind, const Colors& colors, int64_t count, const ImageBatch<T>& from,
                             int64_t row, int64_t begin, T* out) {
  const int64_t plane = from.height * from.width;
  T* to = out + (row / from.height) * 3 * plane + (row % from.height) * from.width + begin;
  for (const float* channel : {colors.red, colors.green, colors.blue}) {
    for (int64_t i = 0; i < count; ++i) {
      kind.store(channel[i], to + i);
    }
    to += plane;
  }
}

/// Applies `work` to an image [..., 3, h, w] of type T.
template <class T, class Work>
at::Tensor apply_work(const at::Tensor& image, const Work& work) {
  at::Tensor out = at::empty(image.sizes(), image.options().memory_format(at::MemoryFormat::Contiguous));
  if (image.numel() > 0) {
    const at::Tensor all = as_images(image);
    process_rows(work, ImageBatch<T>(all), out.mutable_data_ptr<T>());
  }
  return out;
}

}  // namespace simple_torch::core::images
