// Datasets in C++ for DataLoader. A class with size() and get(), or with begin(), becomes a handle for
// Simple's NativeDataset or NativeIterableDataset. Requires C++17 and the C ABI, not LibTorch.
#ifndef SIMPLE_TORCH_DATASET_HPP_
#define SIMPLE_TORCH_DATASET_HPP_

#include <simple_torch/error.hpp>

#include <cstdint>
#include <exception>
#include <ios>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace simple_torch {

/// New handles of the tensors of one sample, at most SPT_MAX_SAMPLE_TENSORS. The receiver of the sample owns
/// them.
using Sample = std::vector<int64_t>;

/// A map-style dataset. Its functions are called on several threads at once. Their exceptions become the
/// error of the call that needed the sample: std::out_of_range becomes INDEX_OUT_OF_RANGE,
/// std::invalid_argument INVALID_ARGUMENT, std::ios_base::failure IO, std::bad_alloc OUT_OF_MEMORY;
/// TorchError keeps its kind, and others become TORCH.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  /// `index` is from 0 to size() - 1.
  virtual Sample get(int64_t index) const = 0;
};

/// An iterable dataset. Exceptions as in Dataset.
class IterableDataset {
 public:
  /// One iteration. Used by one thread at a time.
  class Pass {
   public:
    virtual ~Pass() = default;
    /// Returns the next sample; an empty one at the end.
    virtual Sample next() = 0;
  };
  virtual ~IterableDataset() = default;
  /// Starts a pass over the part of `worker`, which is between 0 and workers - 1.
  virtual std::unique_ptr<Pass> begin(int64_t worker, int64_t workers) const = 0;
};

namespace detail {

inline void fail(int32_t kind, const char* message) noexcept {
  spt_autograd_callback_failed(kind, message, nullptr, nullptr, nullptr, nullptr);
}

inline void report_current_exception() noexcept {
  try {
    throw;
  } catch (const TorchError& e) {
    fail(e.kind(), e.what());
  } catch (const std::out_of_range& e) {
    fail(SPT_INDEX_OUT_OF_RANGE, e.what());
  } catch (const std::invalid_argument& e) {
    fail(SPT_INVALID_ARGUMENT, e.what());
  } catch (const std::ios_base::failure& e) {
    fail(SPT_IO, e.what());
  } catch (const std::bad_alloc& e) {
    fail(SPT_OUT_OF_MEMORY, e.what());
  } catch (const std::exception& e) {
    fail(SPT_TORCH, e.what());
  } catch (...) {
    fail(SPT_INTERNAL, "the dataset threw an exception that is not a std::exception");
  }
}

/// Writes the handles of the sample and returns their number; -1 on failure.
template <class Make>
int64_t write_sample(int64_t* tensors, Make&& make) noexcept {
  try {
    const Sample sample = std::forward<Make>(make)();
    if (sample.size() > SPT_MAX_SAMPLE_TENSORS) {
      for (const int64_t tensor : sample) {
        spt_release(tensor);
      }
      throw std::invalid_argument("a sample must have at most " + std::to_string(SPT_MAX_SAMPLE_TENSORS) +
                                  " tensors, got " + std::to_string(sample.size()));
    }
    for (const int64_t tensor : sample) {
      *tensors++ = tensor;
    }
    return static_cast<int64_t>(sample.size());
  } catch (...) {
    report_current_exception();
    return -1;
  }
}

inline int64_t handle_of(const SptDataset& table) {
  int64_t handle = 0;
  check(spt_dataset_new(&table, &handle));
  return handle;
}

}  // namespace detail

/// Returns a handle that owns the dataset. Throws TorchError.
inline int64_t dataset_handle(std::unique_ptr<Dataset> dataset) {
  SptDataset table{};
  table.version = SPT_DATASET_VERSION;
  table.size = dataset->size();
  table.context = dataset.release();  // owned by end()
  table.sample = [](void* context, int64_t index, int64_t* tensors) {
    return detail::write_sample(tensors, [&] { return static_cast<const Dataset*>(context)->get(index); });
  };
  table.end = [](void* context) { delete static_cast<Dataset*>(context); };
  return detail::handle_of(table);
}

/// The same for an iterable dataset.
inline int64_t dataset_handle(std::unique_ptr<IterableDataset> dataset) {
  SptDataset table{};
  table.version = SPT_DATASET_VERSION;
  table.size = -1;
  table.context = dataset.release();
  table.begin = [](void* context, int64_t worker, int64_t workers) -> void* {
    try {
      return static_cast<const IterableDataset*>(context)->begin(worker, workers).release();
    } catch (...) {
      detail::report_current_exception();
      return nullptr;
    }
  };
  table.sample = [](void* pass, int64_t, int64_t* tensors) {
    return detail::write_sample(tensors, [&] { return static_cast<IterableDataset::Pass*>(pass)->next(); });
  };
  table.finish = [](void* pass) { delete static_cast<IterableDataset::Pass*>(pass); };
  table.end = [](void* context) { delete static_cast<IterableDataset*>(context); };
  return detail::handle_of(table);
}

}  // namespace simple_torch

#endif  // SIMPLE_TORCH_DATASET_HPP_
