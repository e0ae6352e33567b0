// A dataset library as a user would write it: libspl_squares.so, with only simple_torch/dataset.hpp.
#include <simple_torch/dataset.hpp>

#include <atomic>

namespace {

using simple_torch::Sample;

std::atomic<int64_t> live{0};

/// Counts live objects.
struct Counted {
  Counted() { ++live; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --live; }
};

int64_t tensor_of(const std::vector<double>& values, const std::vector<int64_t>& shape) {
  int64_t tensor = 0;
  simple_torch::check(spt_from_data(values.data(), static_cast<int64_t>(values.size()), shape.data(),
                                    static_cast<int64_t>(shape.size()), &tensor));
  return tensor;
}

/// Sample i: the numbers i and i + 1, and the square of i. Some samples fail, in different ways.
class Squares : public simple_torch::Dataset, Counted {
 public:
  explicit Squares(int64_t count) : count_(count) {}
  int64_t size() const override { return count_; }
  Sample get(int64_t index) const override {
    const auto number = static_cast<double>(index);
    switch (index) {
      case 100:
        throw std::out_of_range("no sample 100");
      case 101:
        throw std::ios_base::failure("the file of 101 is gone");
      case 102:
        tensor_of({1.0}, {2});
        return {};
      case 103:
        throw std::runtime_error("103 is unlucky");
      case 104:
        return {tensor_of({number}, {1})};
      case 105:
        return {tensor_of({number, number, number}, {3}), tensor_of({number}, {})};
      case 106:
        return Sample(SPT_MAX_SAMPLE_TENSORS + 1, 0);
      default:
        return {tensor_of({number, number + 1}, {2}), tensor_of({number * number}, {})};
    }
  }

 private:
  int64_t count_;
};

/// 0, 1 …; each worker reads its share.
class Counter : public simple_torch::IterableDataset, Counted {
 public:
  explicit Counter(int64_t count) : count_(count) {}
  std::unique_ptr<Pass> begin(int64_t worker, int64_t workers) const override {
    if (count_ == 13) {
      throw std::invalid_argument("13 is not counted to");
    }
    return std::make_unique<Share>(worker, workers, count_);
  }

 private:
  class Share : public Pass, Counted {
   public:
    Share(int64_t at, int64_t step, int64_t end) : at_(at), step_(step), end_(end) {}
    Sample next() override {
      if (at_ >= end_) {
        return {};
      }
      const auto number = static_cast<double>(at_);
      at_ += step_;
      return {tensor_of({number}, {})};
    }

   private:
    int64_t at_, step_, end_;
  };

  int64_t count_;
};

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int64_t rt_squares_new(int64_t count) {
  return simple_torch::dataset_handle(std::make_unique<Squares>(count));
}
__attribute__((visibility("default"))) int64_t rt_squares_counter(int64_t count) {
  return simple_torch::dataset_handle(std::make_unique<Counter>(count));
}
__attribute__((visibility("default"))) int64_t rt_squares_live() { return live; }
}
