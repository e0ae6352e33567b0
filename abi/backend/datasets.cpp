// Bodies of datasets: a program's SptDataset as a dataset of the core.
#include <array>
#include <utility>

#include "abi/backend/autograd_callbacks.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/data/dataset.h"
#include "core_libtorch/error_context.h"

namespace simple_torch::abi {

using core::data::Dataset;
using core::data::Pass;
using core::data::Sample;
using DatasetPointer = c10::intrusive_ptr<Dataset>;

/// A pass keeps its dataset alive.
struct HeldPass {
  DatasetPointer dataset;
  std::unique_ptr<Pass> pass;
};
using PassPointer = std::unique_ptr<HeldPass>;

template <>
struct HandleKindOf<DatasetPointer> {
  static constexpr HandleKind value = HandleKind::kDataset;
};

template <>
struct HandleKindOf<PassPointer> {
  static constexpr HandleKind value = HandleKind::kDatasetPass;
};

namespace {

[[noreturn]] void reject_dataset(const std::string& message) {
  throw Error(ErrorKind::kInvalidArgument, message);
}

/// Takes the tensors of a sample out of the handles that a function of the program has written. `count` is
/// the function's result.
Sample take_sample(const std::array<int64_t, SPT_MAX_SAMPLE_TENSORS>& tensors, int64_t count) {
  if (count == -1) {
    core::throw_callback_failure("the dataset");
  }
  if (count < 0 || count > SPT_MAX_SAMPLE_TENSORS) {
    reject_dataset("dataset: a sample must have at most " + std::to_string(SPT_MAX_SAMPLE_TENSORS) +
                   " tensors, got " + std::to_string(count));
  }
  Sample sample;
  for (int64_t i = 0; i < count; ++i) {
    sample.push_back(take_tensor(tensors[static_cast<size_t>(i)]));
  }
  return sample;
}

class CalledPass : public Pass {
 public:
  CalledPass(const SptDataset& table, void* context) : table_(table), context_(context) {}
  CalledPass(const CalledPass&) = delete;
  CalledPass& operator=(const CalledPass&) = delete;
  ~CalledPass() override { table_.finish(context_); }

  Sample next() override {
    std::array<int64_t, SPT_MAX_SAMPLE_TENSORS> tensors{};
    return is_over_ ? Sample()
                    : note_end(take_sample(tensors, table_.sample(context_, at_++, tensors.data())));
  }

 private:
  Sample note_end(Sample sample) {
    is_over_ = sample.empty();
    return sample;
  }

  const SptDataset& table_;
  void* context_;
  int64_t at_ = 0;
  bool is_over_ = false;
};

class CalledDataset : public Dataset {
 public:
  explicit CalledDataset(const SptDataset& table) : table_(table) {}
  CalledDataset(const CalledDataset&) = delete;
  CalledDataset& operator=(const CalledDataset&) = delete;
  ~CalledDataset() override {
    if (table_.end != nullptr) {
      table_.end(table_.context);
    }
  }

  int64_t size() const override { return table_.size; }

  Sample get(int64_t index) const override {
    if (table_.size < 0) {
      return Dataset::get(index);
    }
    std::array<int64_t, SPT_MAX_SAMPLE_TENSORS> tensors{};
    return take_sample(tensors, table_.sample(table_.context, index, tensors.data()));
  }

  std::unique_ptr<Pass> begin(int64_t worker, int64_t workers) const override {
    if (table_.size >= 0) {
      return Dataset::begin(worker, workers);
    }
    void* context = table_.begin(table_.context, worker, workers);
    if (context == nullptr) {
      core::throw_callback_failure("the dataset");
    }
    return std::make_unique<CalledPass>(table_, context);
  }

 private:
  SptDataset table_;
};

void check_functions(const SptDataset& table) {
  require(table.sample, "sample");
  if (table.size < -1) {
    reject_dataset("dataset: size must be non-negative, or -1 for an iterable dataset, got " +
                   std::to_string(table.size));
  }
  if (table.size == -1) {
    require(table.begin, "begin of an iterable dataset");
    require(table.finish, "finish of an iterable dataset");
  }
}

template <class Body>
int32_t sample_to(int64_t** out, int64_t* out_len, Body&& body) {
  return guarded([&] {
    require(out, "out");
    require(out_len, "out_len");
    store_handles(core::with_error_context("dataset", core::kNoOperands, body), out, out_len);
  });
}

}  // namespace

namespace body {

int32_t dataset_new(const SptDataset* functions, int64_t* out) {
  return guarded([&] {
    require(functions, "functions");
    if (functions->version != SPT_DATASET_VERSION) {
      reject_dataset("dataset: version must be " + std::to_string(SPT_DATASET_VERSION) + ", got " +
                     std::to_string(functions->version));
    }
    DatasetPointer dataset =
        c10::make_intrusive<CalledDataset>(*functions);  // calls end() when it is destroyed
    require(out, "out");
    check_functions(*functions);
    *out = handles().insert(std::move(dataset));
  });
}

int32_t dataset_size(int64_t dataset, int64_t* out) {
  return guarded_result(out, [&] { return (*handles().get<DatasetPointer>(dataset))->size(); });
}

int32_t dataset_sample(int64_t dataset, int64_t index, int64_t** out, int64_t* out_len) {
  return sample_to(out, out_len, [&] {
    const auto held = handles().get<DatasetPointer>(dataset);
    return core::data::sample_of(**held, index);
  });
}

int32_t dataset_batch(int64_t dataset, const int64_t* indices, int64_t indices_len, int64_t** out,
                      int64_t* out_len) {
  return sample_to(out, out_len, [&] {
    const auto held = handles().get<DatasetPointer>(dataset);
    return core::data::batch_of(**held, dims_argument(indices, indices_len, "indices"));
  });
}

int32_t dataset_begin(int64_t dataset, int64_t worker, int64_t workers, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    if (workers < 1) {
      reject_dataset("workers must be at least 1, got " + std::to_string(workers));
    }
    if (worker < 0 || worker >= workers) {
      reject_dataset("worker must be between 0 and " + std::to_string(workers - 1) + ", got " +
                     std::to_string(worker));
    }
    const auto held = handles().get<DatasetPointer>(dataset);
    *out = handles().insert(std::make_unique<HeldPass>(HeldPass{*held, (*held)->begin(worker, workers)}));
  });
}

int32_t dataset_next(int64_t pass, int64_t** out, int64_t* out_len) {
  return sample_to(out, out_len, [&] {
    const auto held = handles().get<PassPointer>(pass);
    return (*held)->pass->next();
  });
}

}  // namespace body
}  // namespace simple_torch::abi
