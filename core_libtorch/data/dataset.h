// Data sets of native code: where samples come from that no interpreter has to make.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <memory>
#include <vector>

namespace simple_torch::core::data {

/// The tensors of one sample, the input and the target say; or of a batch of them.
using Sample = std::vector<at::Tensor>;

/// One way through samples that come one after the other. Used by one thread at a time.
class Pass {
 public:
  virtual ~Pass() = default;
  /// The next sample; an empty one at the end, and from then on. Throws Error.
  virtual Sample next() = 0;
};

/// Samples by number (a map-style data set), or one after the other (an iterable one). Source:
/// torch::data::datasets::Dataset and torch.utils.data.IterableDataset.
///
/// Used by several threads at once. A class overrides size() and get(), or begin().
class Dataset : public c10::intrusive_ptr_target {
 public:
  /// How many samples there are; -1 of an iterable one.
  virtual int64_t size() const { return -1; }
  /// The sample of that number, which is from 0 to size() - 1. Throws Error.
  virtual Sample get(int64_t index) const;
  /// A pass through the part of one of so many workers, from 0 on. Throws Error.
  virtual std::unique_ptr<Pass> begin(int64_t worker, int64_t workers) const;
};

/// The sample of that number; negative ones count from the end. Throws Error: kIndexOutOfRange.
Sample sample_of(const Dataset& dataset, int64_t index);

/// Those samples, each tensor stacked along a new first dimension. Throws Error: as sample_of;
/// kInvalidArgument (no index, samples of different lengths); what stacking refuses.
Sample batch_of(const Dataset& dataset, at::IntArrayRef indices);

}  // namespace simple_torch::core::data
