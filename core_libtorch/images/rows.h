// Work on the pixels of pictures, row by row, by the widest instructions that the processor has.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>

namespace simple_torch::core::images {

#define SPT_INLINE inline __attribute__((always_inline))

constexpr int64_t kChunk = 256;    // pixels that are worked on at once
constexpr int64_t kGrain = 16384;  // pixels that a thread is worth

// By value: references would keep the compiler from wide instructions. Where either is NaN these give b.
SPT_INLINE float larger(float a, float b) { return a > b ? a : b; }
SPT_INLINE float smaller(float a, float b) { return a < b ? a : b; }

/// `value` between 0 and `most`; NaN stays NaN.
SPT_INLINE float bounded(float value, float most) { return smaller(most, larger(0.0F, value)); }

/// Some pixels, as floats.
struct Colours {
  float red[kChunk], green[kChunk], blue[kChunk];
};

/// Pictures [n, 3, h, w] of any strides.
template <class T>
struct Pictures {
  explicit Pictures(const at::Tensor& all)
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

inline at::Tensor as_pictures(const at::Tensor& picture) {
  return picture.detach().reshape({-1, 3, picture.size(-2), picture.size(-1)});
}

template <class Work, class T>
SPT_INLINE void load(const Work& work, const T* at, int64_t channel, int64_t column, int64_t count,
                     Colours& colours) {
  for (int64_t i = 0; i < count; ++i) {
    colours.red[i] = work.loaded(at[i * column]);
    colours.green[i] = work.loaded(at[i * column + channel]);
    colours.blue[i] = work.loaded(at[i * column + 2 * channel]);
  }
}

// One row. `Work` says how a value is loaded, what is done with some pixels, and how they are written.
template <class Work, class T, class Out>
SPT_INLINE void work_on_row(const Work& work, const Pictures<T>& from, int64_t row, Out* out) {
  const int64_t picture = row / from.height;
  const T* const first = from.data + picture * from.each + (row % from.height) * from.row;
  Colours colours;
  for (int64_t begin = 0; begin < from.width; begin += kChunk) {
    const int64_t count = std::min(kChunk, from.width - begin);
    const T* const at = first + begin * from.column;
    if (from.column == 1) {  // known to the compiler, such loops become wide ones
      load(work, at, from.channel, 1, count, colours);
    } else if (from.column == 3 && from.channel == 1) {
      load(work, at, 1, 3, count, colours);
    } else {
      load(work, at, from.channel, from.column, count, colours);
    }
    work.work(colours, count, picture);
    work.write(colours, count, from, row, begin, out);
  }
}

template <class Work, class T, class Out>
void rows_anywhere(const Work& work, const Pictures<T>& from, int64_t begin, int64_t end, Out* out) {
  for (int64_t row = begin; row < end; ++row) {
    work_on_row(work, from, row, out);
  }
}

#if defined(__x86_64__)
template <class Work, class T, class Out>
__attribute__((target("avx2,fma"))) void rows_by_avx2(const Work& work, const Pictures<T>& from,
                                                      int64_t begin, int64_t end, Out* out) {
  for (int64_t row = begin; row < end; ++row) {
    work_on_row(work, from, row, out);
  }
}
#endif

template <class Work, class T, class Out>
void work_on_rows(const Work& work, const Pictures<T>& from, Out* out) {
  auto* rows = &rows_anywhere<Work, T, Out>;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    rows = &rows_by_avx2<Work, T, Out>;
  }
#endif
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, from.width));
  at::parallel_for(0, from.count * from.height, grain,
                   [&](int64_t begin, int64_t end) { rows(work, from, begin, end, out); });
}

/// Three planes for each picture, contiguous; `Kind` says how a float becomes a value.
template <class Kind, class T>
SPT_INLINE void write_colours(const Kind& kind, const Colours& colours, int64_t count,
                              const Pictures<T>& from, int64_t row, int64_t begin, T* out) {
  const int64_t plane = from.height * from.width;
  T* to = out + (row / from.height) * 3 * plane + (row % from.height) * from.width + begin;
  for (const float* channel : {colours.red, colours.green, colours.blue}) {
    for (int64_t i = 0; i < count; ++i) {
      kind.store(channel[i], to + i);
    }
    to += plane;
  }
}

/// What `work` makes of a picture [..., 3, h, w] of type T.
template <class T, class Work>
at::Tensor worked_on(const at::Tensor& picture, const Work& work) {
  at::Tensor out = at::empty(picture.sizes(), picture.options().memory_format(at::MemoryFormat::Contiguous));
  if (picture.numel() > 0) {
    const at::Tensor all = as_pictures(picture);
    work_on_rows(work, Pictures<T>(all), out.mutable_data_ptr<T>());
  }
  return out;
}

}  // namespace simple_torch::core::images
