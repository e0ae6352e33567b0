#include "core_libtorch/data/dataset.h"

#include <ATen/Functions.h>

#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::core::data {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::kInvalidArgument, message); }

}  // namespace

Sample Dataset::get(int64_t) const { refuse("an iterable data set has no samples by number; go through it"); }

std::unique_ptr<Pass> Dataset::begin(int64_t, int64_t) const {
  refuse("a data set of samples by number is not gone through by itself; take them by their numbers");
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
    refuse("a batch needs one sample or more");
  }
  std::vector<Sample> columns;
  for (const int64_t index : indices) {
    Sample sample = sample_of(dataset, index);
    if (columns.empty()) {
      columns.resize(sample.size());
    }
    if (sample.size() != columns.size()) {
      refuse("sample " + std::to_string(index) + " has " + std::to_string(sample.size()) +
             " tensors, and the one before it " + std::to_string(columns.size()));
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
