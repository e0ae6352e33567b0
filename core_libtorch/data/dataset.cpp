#include "core_libtorch/data/dataset.h"

#include <ATen/Functions.h>

#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::core::data {
namespace {

[[noreturn]] void throw_invalid_argument(const std::string& message) {
  throw Error(ErrorKind::kInvalidArgument, message);
}

}  // namespace

Sample Dataset::get(int64_t) const {
  throw_invalid_argument("get: an iterable dataset has no index; iterate over it");
}

std::unique_ptr<Pass> Dataset::begin(int64_t, int64_t) const {
  throw_invalid_argument("begin: a map-style dataset has no iterator; use its indices");
}

Sample sample_of(const Dataset& dataset, int64_t index) {
  const int64_t count = dataset.size();
  if (count >= 0 && (index < -count || index >= count)) {
    throw Error(ErrorKind::kIndexOutOfRange, "index " + std::to_string(index) + " is out of range of " +
                                                 std::to_string(count) + " samples");
  }
  return dataset.get(count >= 0 && index < 0 ? index + count : index);
}

Sample batch_of(const Dataset& dataset, at::IntArrayRef indices) {
  if (indices.empty()) {
    throw_invalid_argument("batch: expected at least one index, got none");
  }
  std::vector<Sample> columns;
  for (const int64_t index : indices) {
    Sample sample = sample_of(dataset, index);
    if (columns.empty()) {
      columns.resize(sample.size());
    }
    if (sample.size() != columns.size()) {
      throw_invalid_argument("batch: sample " + std::to_string(index) + " must have " +
                             std::to_string(columns.size()) + " tensors as the one before it, got " +
                             std::to_string(sample.size()));
    }
    for (size_t i = 0; i < sample.size(); ++i) {
      columns[i].push_back(std::move(sample[i]));
    }
  }
  Sample batch;
  for (const Sample& column : columns) {
    batch.push_back(at::stack(column));
  }
  return batch;
}

}  // namespace simple_torch::core::data
