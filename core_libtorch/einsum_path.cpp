// The searches of opt_einsum (optimal and BranchBound of paths.py), so that results have the bits of
// torch.einsum. Contracted operands get the next number; the path converts numbers to positions at the end.
#include "core_libtorch/einsum_path.h"

#include <ATen/ops/einsum.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core_libtorch/einsum_equation.h"
#include "core_libtorch/ops.h"

namespace simple_torch::core {
namespace {

using Pair = std::pair<int64_t, int64_t>;
using Numbers = std::vector<int64_t>;  // of the operands that are left, ascending

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kMaxOptimal = 4;  // opt_einsum's choices for the strategy "auto"
constexpr size_t kMaxAllBranches = 6;
constexpr size_t kMaxTwoBranches = 8;
constexpr double kCutoff = 4;  // a path that is this much worse than the best one at its length ends

struct Contraction {
  Labels result;
  double flops;
};

/// What both searches share: the cost of contracting two operands, cached by their labels.
class Search {
 public:
  explicit Search(const EinsumEquation& equation) : equation_(equation), inputs_(equation.inputs) {}

  std::vector<Pair> best_path() const { return best_path_; }

 protected:
  const Contraction& contraction(const Numbers& left, int64_t i, int64_t j) {
    const auto key = std::pair(labels(i), labels(j));
    const auto found = cache_.find(key);
    return found != cache_.end() ? found->second : cache_.emplace(key, computed(left, i, j)).first->second;
  }

  Labels labels(int64_t number) const { return inputs_[static_cast<size_t>(number)]; }

  Contraction computed(const Numbers& left, int64_t i, int64_t j) const {
    Labels kept = equation_.output;
    for (const int64_t other : left) {
      kept |= other == i || other == j ? 0 : labels(other);
    }
    const Labels either = labels(i) | labels(j);
    const bool sums = (labels(i) & labels(j) & ~kept) != 0;
    return {either & kept, equation_.size_of(either) * (sums ? 2 : 1)};
  }

  /// Calls step() with the operands that are left after contracting i and j.
  template <class Step>
  void after(const Numbers& left, Pair pair, Labels result, Step&& step) {
    Numbers next;
    for (const int64_t number : left) {
      if (number != pair.first && number != pair.second) {
        next.push_back(number);
      }
    }
    next.push_back(static_cast<int64_t>(inputs_.size()));
    inputs_.push_back(result);
    path_.push_back(pair);
    step(next);
    path_.pop_back();
    inputs_.pop_back();
  }

  template <class Visit>
  static void each_pair(const Numbers& left, Visit&& visit) {
    for (size_t i = 0; i < left.size(); ++i) {
      for (size_t j = i + 1; j < left.size(); ++j) {
        visit(Pair(left[i], left[j]));
      }
    }
  }

  const EinsumEquation& equation_;
  std::vector<Labels> inputs_;
  std::vector<Pair> path_;
  std::vector<Pair> best_path_;

 private:
  std::map<std::pair<Labels, Labels>, Contraction> cache_;
};

class OptimalSearch : public Search {
 public:
  using Search::Search;

  // NOLINTNEXTLINE(misc-no-recursion): one level for each operand
  void run(const Numbers& left, double flops) {
    if (left.size() == 1) {
      best_flops_ = flops;
      best_path_ = path_;
      return;
    }
    each_pair(left, [&](Pair pair) {
      const Contraction made = contraction(left, pair.first, pair.second);
      if (flops + made.flops < best_flops_) {
        after(left, pair, made.result, [&](const Numbers& next) { run(next, flops + made.flops); });
      }
    });
  }

 private:
  double best_flops_ = kInfinity;
};

class BranchSearch : public Search {
 public:
  BranchSearch(const EinsumEquation& equation, size_t branches) : Search(equation), branches_(branches) {}

  // NOLINTNEXTLINE(misc-no-recursion)
  void run(const Numbers& left, double flops, double size) {
    if (left.size() == 1) {
      best_ = {flops, size};
      best_path_ = path_;
      return;
    }
    std::vector<Candidate> candidates = assessed(left, flops, size, false);
    if (candidates.empty()) {
      candidates = assessed(left, flops, size, true);
    }
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.order() < b.order(); });
    candidates.resize(std::min(candidates.size(), branches_));
    for (const Candidate& each : candidates) {
      after(left, each.pair, each.result, [&](const Numbers& next) { run(next, each.flops, each.size); });
    }
  }

 private:
  struct Candidate {
    double cost;
    double own_flops;
    double flops;
    double size;
    Pair pair;
    Labels result;

    std::tuple<double, double, double, double, Pair> order() const {
      return {cost, own_flops, flops, size, pair};
    }
  };

  /// Outer products only if nothing else is left.
  std::vector<Candidate> assessed(const Numbers& left, double flops, double size, bool with_outer) {
    std::vector<Candidate> candidates;
    each_pair(left, [&](Pair pair) {
      if (with_outer || (labels(pair.first) & labels(pair.second)) != 0) {
        if (const auto candidate = assess(left, pair, flops, size)) {
          candidates.push_back(*candidate);
        }
      }
    });
    return candidates;
  }

  std::optional<Candidate> assess(const Numbers& left, Pair pair, double flops, double size) {
    const Contraction made = contraction(left, pair.first, pair.second);
    const double result_size = equation_.size_of(made.result);
    const std::pair<double, double> total(flops + made.flops, std::max(size, result_size));
    if (total >= best_) {
      return std::nullopt;
    }
    double& progress = best_progress_.emplace(inputs_.size(), kInfinity).first->second;
    if (total.first < progress) {
      progress = total.first;
    } else if (total.first > kCutoff * progress) {
      return std::nullopt;
    }
    const double cost =
        result_size - equation_.size_of(labels(pair.first)) - equation_.size_of(labels(pair.second));
    return Candidate{cost, made.flops, total.first, total.second, pair, made.result};
  }

  size_t branches_;
  std::pair<double, double> best_{kInfinity, kInfinity};
  std::map<size_t, double> best_progress_;
};

std::vector<Pair> searched(const EinsumEquation& equation) {
  const size_t count = equation.inputs.size();
  Numbers all;
  for (size_t i = 0; i < count; ++i) {
    all.push_back(static_cast<int64_t>(i));
  }
  if (count <= kMaxOptimal) {
    OptimalSearch search(equation);
    search.run(all, 0);
    return search.best_path();
  }
  const size_t branches = count <= kMaxAllBranches   ? std::numeric_limits<size_t>::max()
                          : count <= kMaxTwoBranches ? 2
                                                     : 1;
  BranchSearch search(equation, branches);
  search.run(all, 0, 0);
  return search.best_path();
}

/// Contracted operands leave the list, and the result is appended to it.
std::vector<int64_t> positions(const std::vector<Pair>& path, size_t count) {
  Numbers list;
  for (size_t i = 0; i < count; ++i) {
    list.push_back(static_cast<int64_t>(i));
  }
  std::vector<int64_t> flat;
  auto next = static_cast<int64_t>(count);
  for (const auto& [i, j] : path) {
    for (const int64_t number : {i, j}) {
      flat.push_back(std::find(list.begin(), list.end(), number) - list.begin());
    }
    std::erase_if(list,
                  [first = i, second = j](int64_t number) { return number == first || number == second; });
    list.push_back(next++);
  }
  return flat;
}

}  // namespace

std::vector<int64_t> einsum_path(std::string_view equation, at::TensorList operands) {
  if (operands.size() < 3) {
    return {};
  }
  const auto parsed = parse_einsum(equation, operands);
  return parsed ? positions(searched(*parsed), operands.size()) : std::vector<int64_t>();
}

at::Tensor einsum(std::string_view equation, at::TensorList operands) {
  const std::vector<int64_t> path = einsum_path(equation, operands);
  return path.empty() ? at::einsum(equation, operands) : at::einsum(equation, operands, path);
}

}  // namespace simple_torch::core
