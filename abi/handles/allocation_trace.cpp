#include "abi/handles/allocation_trace.h"

#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "abi/handles/handle_table.h"
#include "core_libtorch/counted_lock.h"

namespace simple_torch::abi::allocation_trace {
namespace {

thread_local const char* running = "";
thread_local bool asking = false;  // a place that makes handles itself is not asked about those

std::string answer_of(SptPlace place) {
  if (place == nullptr || asking) {
    return "";
  }
  asking = true;
  char* const told = place();
  asking = false;
  std::string text = told != nullptr ? told : "";
  std::free(told);
  return text;
}

class Notes {
 public:
  void ask(SptPlace place) { place_ = place; }

  void forget() {
    const core::CountedLockGuard lock(mutex_);
    known_.clear();
    place_ = nullptr;
  }

  void record(int64_t handle) {
    Allocation allocation{std::string("spt_") + running, answer_of(place_.load(std::memory_order_relaxed))};
    const core::CountedLockGuard lock(mutex_);
    known_[handle] = std::move(allocation);
    if (known_.size() > prune_above_) {
      std::erase_if(known_, [](const auto& each) { return !handles().is_live(each.first); });
      prune_above_ = kFirst + 2 * known_.size();
    }
  }

  std::optional<Allocation> of(int64_t handle) {
    const core::CountedLockGuard lock(mutex_);
    const auto found = known_.find(handle);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  static constexpr size_t kFirst = 4096;

  std::mutex mutex_;
  std::unordered_map<int64_t, Allocation> known_;  // dead ones too, until there are many
  size_t prune_above_ = kFirst;
  std::atomic<SptPlace> place_{nullptr};
};

Notes& notes() {
  static Notes& all = *new Notes;  // used by threads that may outlive main
  return all;
}

}  // namespace

constinit std::atomic<bool> traced{false};

void start(SptPlace place) {
  notes().ask(place);
  if (!traced.exchange(true)) {
    HandleTable::watch(+1);
  }
}

void stop() {
  if (traced.exchange(false)) {
    HandleTable::watch(-1);
  }
  notes().forget();
}

void record_function(const char* name) noexcept { running = name; }

void record(int64_t handle) noexcept {
  try {
    notes().record(handle);
  } catch (const std::bad_alloc&) {
    return;  // the report says that it was not traced
  }
}

std::optional<Allocation> of(int64_t handle) { return notes().of(handle); }

}  // namespace simple_torch::abi::allocation_trace
