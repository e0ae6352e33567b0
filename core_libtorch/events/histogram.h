// Histograms as TensorBoard keeps them. Source: torch.utils.tensorboard.SummaryWriter.add_histogram.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core_libtorch/events/encoder_api.h"

namespace simple_torch::core::events {

/// `limits` are the upper ends of the buckets, `counts` how many values each has; the first bucket is empty,
/// so that the lower end of the second is told. Empty buckets at both ends are left out.
struct Histogram {
  Moments moments{};
  std::vector<double> limits, counts;
};

/// The edges of TensorBoard's own buckets: 0 and ±1e-12 · 1.1^n up to 1e20.
const std::vector<double>& default_edges();

/// `count` buckets of one width from the least value to the greatest, as numpy.histogram makes them.
std::vector<double> even_edges(const at::Tensor& values, int64_t count);

/// Of a tensor of any shape, real dtype and device; a bucket has its lower edge and not its upper one, but
/// the last, which has both. Values outside of the edges, and NaN, are in no bucket. `max_bins` > 0 joins
/// buckets beside each other until there are about so many. Throws Error(kInvalidArgument) for an empty or
/// complex tensor, for edges that do not grow, and where no value is in a bucket.
Histogram histogram_of(const at::Tensor& values, const std::vector<double>& edges, int64_t max_bins);

}  // namespace simple_torch::core::events
