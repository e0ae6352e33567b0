// The contract of datasets in native code: required functions, lifetime, and errors of samples.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capi_test.h"

namespace {

/// The context of the table's functions, one for each test.
struct Source {
  int64_t tensors_per_sample = 1;  // number of tensors of a sample; -1 is a failure
  bool returns_released_handle = false;
  bool begins = true;
  int ended = 0;
  int finished = 0;
};

int64_t sample(void* context, int64_t index, int64_t* tensors) {
  const auto& source = *static_cast<const Source*>(context);
  if (source.tensors_per_sample < 0) {
    return source.tensors_per_sample;
  }
  for (int64_t i = 0; i < source.tensors_per_sample && i < SPT_MAX_SAMPLE_TENSORS; ++i) {
    const auto value = static_cast<double>(index);
    EXPECT_EQ(spt_from_data(&value, 1, nullptr, 0, &tensors[i]), SPT_OK);
  }
  if (source.returns_released_handle) {
    EXPECT_EQ(spt_release(tensors[0]), SPT_OK);
  }
  return source.tensors_per_sample;
}

void* begin(void* context, int64_t, int64_t) {
  return static_cast<const Source*>(context)->begins ? context : nullptr;
}
void finish(void* context) { ++static_cast<Source*>(context)->finished; }
void end(void* context) { ++static_cast<Source*>(context)->ended; }

class Datasets : public CApiTest {
 protected:
  SptDataset functions(int64_t size) {
    SptDataset table{};
    table.version = SPT_DATASET_VERSION;
    table.context = &source_;
    table.size = size;
    table.sample = sample;
    table.begin = size < 0 ? begin : nullptr;
    table.finish = size < 0 ? finish : nullptr;
    table.end = end;
    return table;
  }

  Handle dataset(int64_t size) {
    const SptDataset table = functions(size);
    int64_t handle = 0;
    EXPECT_EQ(spt_dataset_new(&table, &handle), SPT_OK) << spt_last_error_message();
    return Handle(handle);
  }

  void expect_error(const SptDataset& table, const std::string& message) {
    int64_t handle = kUntouched;
    EXPECT_EQ(spt_dataset_new(&table, &handle), SPT_INVALID_ARGUMENT);
    EXPECT_EQ(handle, kUntouched);
    EXPECT_EQ(spt_last_error_message(), message);
  }

  Source source_;
};

TEST_F(Datasets, MissingFunctionsAreNamed) {
  SptDataset table = functions(3);
  table.sample = nullptr;
  expect_error(table, "sample is NULL");
  table = functions(-1);
  table.begin = nullptr;
  expect_error(table, "begin of an iterable dataset is NULL");
  table = functions(-1);
  table.finish = nullptr;
  expect_error(table, "finish of an iterable dataset is NULL");
  expect_error(functions(-2), "dataset: size must be non-negative, or -1 for an iterable dataset, got -2");
  EXPECT_EQ(source_.ended, 4) << "end() of each rejected dataset is called";
  table = functions(3);
  table.version = 2;
  expect_error(table, "dataset: version must be 1, got 2");
  EXPECT_EQ(source_.ended, 4) << "end() is not called for an unknown version of the struct";
  int64_t handle = kUntouched;
  EXPECT_EQ(spt_dataset_new(nullptr, &handle), SPT_INVALID_ARGUMENT);
}

TEST_F(Datasets, EndIsCalledAfterTheLastUse) {
  Handle stream = dataset(-1);
  int64_t pass = 0;
  ASSERT_EQ(spt_dataset_begin(stream, 1, 2, &pass), SPT_OK);
  stream = Handle();
  EXPECT_EQ(source_.ended, 0) << "the pass keeps it alive";
  ASSERT_EQ(spt_release(pass), SPT_OK);
  EXPECT_EQ(source_.finished, 1);
  EXPECT_EQ(source_.ended, 1);
}

TEST_F(Datasets, APassStaysAtItsEnd) {
  const Handle stream = dataset(-1);
  int64_t handle = 0;
  ASSERT_EQ(spt_dataset_begin(stream, 0, 1, &handle), SPT_OK);
  const Handle pass(handle);
  source_.tensors_per_sample = 0;
  int64_t* tensors = nullptr;
  int64_t count = kUntouched;
  ASSERT_EQ(spt_dataset_next(pass, &tensors, &count), SPT_OK);
  EXPECT_EQ(count, 0);
  spt_free(tensors);
  source_.tensors_per_sample = 1;
  ASSERT_EQ(spt_dataset_next(pass, &tensors, &count), SPT_OK);
  EXPECT_EQ(count, 0) << "the library does not call sample() again";
  spt_free(tensors);
}

TEST_F(Datasets, WorkersOutOfRangeAreRejected) {
  const Handle stream = dataset(-1);
  for (const auto& [worker, workers] :
       std::vector<std::array<int64_t, 2>>{{2, 2}, {-1, 2}, {0, 0}, {0, INT64_MIN}}) {
    int64_t pass = kUntouched;
    EXPECT_EQ(spt_dataset_begin(stream, worker, workers, &pass), SPT_INVALID_ARGUMENT);
    EXPECT_EQ(pass, kUntouched);
  }
}

TEST_F(Datasets, InvalidSamplesAreErrors) {
  const Handle numbered = dataset(3);
  int64_t* tensors = nullptr;
  int64_t count = kUntouched;
  source_.tensors_per_sample = SPT_MAX_SAMPLE_TENSORS + 1;
  ASSERT_EQ(spt_scope_begin(), SPT_OK);
  EXPECT_EQ(spt_dataset_sample(numbered, 0, &tensors, &count), SPT_INVALID_ARGUMENT);
  EXPECT_STREQ(spt_last_error_message(), "dataset: a sample must have at most 32 tensors, got 33");
  int64_t left = 0;
  ASSERT_EQ(spt_scope_end(&left), SPT_OK);
  EXPECT_EQ(left, SPT_MAX_SAMPLE_TENSORS) << "the program keeps the handles that it has written";
  source_.tensors_per_sample = 1;
  source_.returns_released_handle = true;
  EXPECT_EQ(spt_dataset_sample(numbered, 0, &tensors, &count), SPT_INVALID_HANDLE);
  source_.tensors_per_sample = -1;
  EXPECT_EQ(spt_dataset_sample(numbered, 0, &tensors, &count), SPT_INTERRUPTED) << "no error was recorded";
  source_.tensors_per_sample = -2;
  EXPECT_EQ(spt_dataset_sample(numbered, 0, &tensors, &count), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(count, kUntouched);
}

TEST_F(Datasets, FailureOfBeginIsAnError) {
  source_.begins = false;
  const Handle stream = dataset(-1);
  int64_t pass = kUntouched;
  EXPECT_EQ(spt_dataset_begin(stream, 0, 1, &pass), SPT_INTERRUPTED);
  EXPECT_EQ(pass, kUntouched);
  EXPECT_EQ(source_.finished, 0);
}

TEST_F(Datasets, OtherHandlesAreRejected) {
  const Handle numbered = dataset(3);
  int64_t* tensors = nullptr;
  int64_t count = kUntouched;
  EXPECT_EQ(spt_dataset_next(numbered, &tensors, &count), SPT_INVALID_HANDLE);
  int64_t size = kUntouched;
  EXPECT_EQ(spt_dataset_size(numbered, &size), SPT_OK);
  EXPECT_EQ(size, 3);
  EXPECT_EQ(spt_dataset_size(0, &size), SPT_INVALID_HANDLE);
  const int64_t index = 1;
  EXPECT_EQ(spt_dataset_batch(numbered, &index, -1, &tensors, &count), SPT_INVALID_ARGUMENT);
}

}  // namespace
