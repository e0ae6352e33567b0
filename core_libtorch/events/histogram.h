// Histograms in TensorBoard's format. Source: torch.utils.tensorboard.SummaryWriter.add_histogram.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core_libtorch/events/encoder_api.h"

namespace simple_torch::core::events {

/// `limits` are the upper edges of the buckets, `counts` their numbers of values. The first bucket is empty;
/// its limit is the lower edge of the second. Other empty buckets at both ends are omitted.
struct Histogram {
  Moments moments{};
  std::vector<double> limits, counts;
};

/// The edges of TensorBoard's own buckets: 0 and ±1e-12 · 1.1^n up to 1e20.
const std::vector<double>& default_edges();

/// `count` buckets of equal width from the minimum to the maximum, as in numpy.histogram.
std::vector<double> even_edges(const at::Tensor& values, int64_t count);

/// The histogram of a tensor of any shape, real dtype and device. A bucket includes its lower edge, the last
/// one both edges. Values outside of the edges and NaN are not counted. `max_bins` > 0 merges adjacent
/// buckets to about that number. Throws Error(kInvalidArgument) for an empty or complex tensor, for edges
/// that do not increase, and if no value is in a bucket.
Histogram histogram_of(const at::Tensor& values, const std::vector<double>& edges, int64_t max_bins);

}  // namespace simple_torch::core::events
