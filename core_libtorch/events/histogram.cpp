#include "core_libtorch/events/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core_libtorch/error.h"

namespace simple_torch::core::events {
namespace {

[[noreturn]] void throw_invalid_argument(const std::string& why) {
  throw Error(ErrorKind::kInvalidArgument, "add_histogram(): " + why);
}

/// float64 on the CPU, [n].
at::Tensor numbers_of(const at::Tensor& values) {
  if (values.numel() == 0) {
    throw_invalid_argument("values must not be empty");
  }
  if (values.is_complex()) {
    throw_invalid_argument("values must be real, got complex values");
  }
  return values.detach().to(at::kCPU, at::kDouble).reshape({-1}).contiguous();
}

at::ArrayRef<double> range_of(const at::Tensor& numbers) {
  return {numbers.const_data_ptr<double>(), static_cast<size_t>(numbers.numel())};
}

/// NaN if any value is NaN, as NumPy's min() and max().
Moments moments_of(at::ArrayRef<double> values) {
  Moments moments{values[0], values[0], static_cast<double>(values.size()), 0, 0};
  for (const double value : values) {
    moments.min = value < moments.min || std::isnan(value) ? value : moments.min;
    moments.max = value > moments.max || std::isnan(value) ? value : moments.max;
    moments.sum += value;
    moments.sum_squares += value * value;
  }
  return moments;
}

/// The index of the last edge, except the final one, that is not above the value, which is between the first
/// and the last edge. A branchless search, because every second branch would be mispredicted.
size_t bucket_of(double value, const std::vector<double>& edges) {
  const double* first = edges.data();
  for (size_t count = edges.size() - 1; count > 1;) {
    const size_t half = count / 2;
    first += half * static_cast<size_t>(first[half] <= value);
    count -= half;
  }
  return static_cast<size_t>(first - edges.data());
}

std::vector<double> counts_between(at::ArrayRef<double> values, const std::vector<double>& edges) {
  std::vector<double> counts(edges.size() - 1);
  for (const double value : values) {
    if (value >= edges.front() && value <= edges.back()) {
      ++counts[bucket_of(value, edges)];
    }
  }
  return counts;
}

/// Merges `width` buckets into one; the last may have fewer.
void join_buckets(size_t width, std::vector<double>& edges, std::vector<double>& counts) {
  std::vector<double> fewer_edges, sums;
  for (size_t at = 0; at < counts.size(); at += width) {
    const auto first = counts.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = counts.begin() + static_cast<std::ptrdiff_t>(std::min(at + width, counts.size()));
    sums.push_back(std::accumulate(first, end, 0.0));
    fewer_edges.push_back(edges[at]);
  }
  fewer_edges.push_back(edges.back());
  edges = std::move(fewer_edges);
  counts = std::move(sums);
}

}  // namespace

const std::vector<double>& default_edges() {
  static const std::vector<double> edges = [] {
    std::vector<double> made{0};
    for (double edge = 1e-12; edge < 1e20; edge *= 1.1) {
      made.push_back(edge);
    }
    const size_t positive = made.size();
    for (size_t i = 1; i < positive; ++i) {
      made.push_back(-made[i]);
    }
    std::sort(made.begin(), made.end());
    return made;
  }();
  return edges;
}

std::vector<double> even_edges(const at::Tensor& values, int64_t count) {
  constexpr int64_t kMost = 1 << 24;
  if (count > kMost) {
    throw_invalid_argument("bins must be at most " + std::to_string(kMost) + ", got " +
                           std::to_string(count));
  }
  const at::Tensor numbers = numbers_of(values);
  const Moments moments = moments_of(range_of(numbers));
  double low = moments.min, high = moments.max;
  if (!std::isfinite(low) || !std::isfinite(high)) {
    throw_invalid_argument("bins of equal width require finite values");
  }
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  const double step = (high - low) / static_cast<double>(count);
  std::vector<double> edges;
  for (int64_t i = 0; i < count; ++i) {
    edges.push_back(low + static_cast<double>(i) * step);
  }
  edges.push_back(high);
  return edges;
}

Histogram histogram_of(const at::Tensor& values, const std::vector<double>& bin_edges, int64_t max_bins) {
  if (bin_edges.size() < 2 || !std::is_sorted(bin_edges.begin(), bin_edges.end())) {
    throw_invalid_argument("bins must be at least 2 increasing edges, got " +
                           std::to_string(bin_edges.size()));
  }
  const at::Tensor numbers = numbers_of(values);
  std::vector<double> edges = bin_edges;
  std::vector<double> counts = counts_between(range_of(numbers), edges);
  if (max_bins > 0 && counts.size() > static_cast<size_t>(max_bins)) {
    join_buckets(counts.size() / static_cast<size_t>(max_bins), edges, counts);
  }
  const auto is_filled = [](double count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), is_filled);
  if (first == counts.end()) {
    throw_invalid_argument("no value is in the bins from " + std::to_string(edges.front()) + " to " +
                           std::to_string(edges.back()));
  }
  const auto end = std::find_if(counts.rbegin(), counts.rend(), is_filled).base();
  Histogram histogram{moments_of(range_of(numbers)), {}, {0}};
  histogram.counts.insert(histogram.counts.end(), first, end);
  histogram.limits.assign(edges.begin() + (first - counts.begin()),
                          edges.begin() + (end - counts.begin()) + 1);
  return histogram;
}

}  // namespace simple_torch::core::events
