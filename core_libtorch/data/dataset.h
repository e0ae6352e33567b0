// Datasets in native code, whose samples need no interpreter.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <memory>
#include <vector>

namespace simple_torch::core::data {

/// The tensors of one sample (for example input and target), or of a batch.
using Sample = std::vector<at::Tensor>;

/// An iterator over the samples of an iterable dataset. One thread uses it at a time.
class Pass {
 public:
  virtual ~Pass() = default;
  /// The next sample; empty at and after the end. Throws Error.
  virtual Sample next() = 0;
};

/// A map-style dataset (samples by index) or an iterable one. Source:
/// torch::data::datasets::Dataset and torch.utils.data.IterableDataset.
///
/// Several threads use it at once. A subclass overrides size() and get(), or begin().
class Dataset : public c10::intrusive_ptr_target {
 public:
  /// The number of samples; -1 for an iterable dataset.
  virtual int64_t size() const { return -1; }
  /// The sample of an index from 0 to size() - 1. Throws Error.
  virtual Sample get(int64_t index) const;
  /// An iterator over the part of one of the workers, which are numbered from 0. Throws Error.
  virtual std::unique_ptr<Pass> begin(int64_t worker, int64_t workers) const;
};

/// The sample of an index; negative ones count from the end. Throws Error(kIndexOutOfRange).
Sample sample_of(const Dataset& dataset, int64_t index);

/// The samples of the indices, each tensor stacked along a new first dimension. Throws as sample_of, as
/// torch.stack, and Error(kInvalidArgument) without an index or for samples of different lengths.
Sample batch_of(const Dataset& dataset, at::IntArrayRef indices);

}  // namespace simple_torch::core::data
