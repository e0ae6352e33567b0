// A lock-free stack of each kind of deferred work; whoever drains one takes the whole stack at once.
#include "bridge/runtime/pending_release.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "bridge/runtime/decref_worker.h"
#include "bridge/runtime/forced_unwind.h"

namespace simple_torch::bridge {
namespace {

std::atomic<Work*> references{nullptr};
std::atomic<Work*> memory{nullptr};
std::atomic<bool> leaking{false};

constexpr int kMostDepth = 50;

constexpr auto kLongestEnd = std::chrono::seconds(10);  // deleters may sleep, and thousands may be queued
constexpr auto kNever = std::chrono::steady_clock::time_point::max();
std::chrono::steady_clock::time_point last_run =
    kNever;  // set by the thread that ends the queues, with the GIL

bool is_too_late() { return last_run != kNever && std::chrono::steady_clock::now() > last_run; }

thread_local bool queues_last = false;  // of the thread that ends the queues: what it frees may free more

// The innermost of this thread. Of the initial-exec model, which needs no call: this library is never
// unloaded.
[[gnu::tls_model("initial-exec")]] thread_local FreesMemoryHere* frees_here = nullptr;

/// Some nodes of what ran on this thread, for what it defers next: making and freeing one costs more than a
/// call's other work.
struct SpareWork {
  static constexpr int kMost = 32;
  Work* first = nullptr;
  int count = 0;
};
[[gnu::tls_model("initial-exec")]] thread_local SpareWork spare;

/// NULL without memory.
Work* new_work(void (*run)(void*), void* what) noexcept {
  if (spare.first == nullptr) {
    return new (std::nothrow) Work{run, what, nullptr};
  }
  --spare.count;
  Work* work = std::exchange(spare.first, spare.first->next);
  *work = {run, what, nullptr};
  return work;
}

void keep_or_delete(Work* work) noexcept {
  if (spare.count == SpareWork::kMost) {
    delete work;
    return;
  }
  ++spare.count;
  work->next = std::exchange(spare.first, work);
}

void push(std::atomic<Work*>& newest, Work* work) {
  work->next = newest.load(std::memory_order_relaxed);
  while (
      !newest.compare_exchange_weak(work->next, work, std::memory_order_seq_cst, std::memory_order_relaxed)) {
  }
}

void run_all(std::atomic<Work*>& newest) {
  if (newest.load(std::memory_order_relaxed) == nullptr) {
    return;  // taking nothing costs as much as taking something
  }
  Work* list = newest.exchange(nullptr, std::memory_order_acquire);
  Work* oldest = nullptr;
  while (list != nullptr) {
    Work* next = list->next;
    list->next = oldest;
    oldest = list;
    list = next;
  }
  while (oldest != nullptr && !is_too_late()) {
    Work* work = std::exchange(oldest, oldest->next);
    const Work now = *work;
    keep_or_delete(work);
    park_on_forced_unwind([&] { now.run(now.what); });
  }
}

}  // namespace

void defer(Deferred kind, void (*run)(void*), void* what) noexcept {
  if (leaking.load(std::memory_order_acquire) && !queues_last) {
    return;
  }
  if (kind == Deferred::kMemory && frees_here != nullptr) {
    frees_here->add(run, what);
    return;
  }
  Work* work = new_work(run, what);
  if (work == nullptr) {
    return;
  }
  if (kind == Deferred::kReference) {
    push(references, work);
  } else {
    push(memory, work);
    wake_worker();
  }
}

FreesMemoryHere::FreesMemoryHere() noexcept
    : outer_(frees_here), depth_(outer_ == nullptr ? 0 : outer_->depth_ + 1) {
  if (depth_ < kMostDepth) {
    frees_here = this;
  }
}

FreesMemoryHere::~FreesMemoryHere() {
  if (depth_ < kMostDepth) {
    run_all();
    frees_here = outer_;
  }
}

void FreesMemoryHere::add(void (*run)(void*), void* what) noexcept {
  if (first_.run == nullptr) {
    first_ = {run, what, nullptr};
  } else if (auto* work = new (std::nothrow) Work{run, what, others_}) {
    others_ = work;
  }
}

void FreesMemoryHere::run_all() noexcept {
  while (first_.run != nullptr || others_ != nullptr) {
    Work work = std::exchange(first_, Work{nullptr, nullptr, nullptr});
    if (work.run == nullptr) {
      const std::unique_ptr<Work> next(std::exchange(others_, others_->next));
      work = *next;
    }
    park_on_forced_unwind([&] { work.run(work.what); });
  }
}

void run_deferred_work() noexcept {
  // Freeing an object may free others, which are deferred in their turn: hence the loop.
  while (references.load(std::memory_order_relaxed) != nullptr || has_deferred_memory()) {
    run_all(references);
    run_all(memory);
  }
}

void run_last_deferred_work() noexcept {
  leak_deferred_work();
  queues_last = true;
  last_run = std::chrono::steady_clock::now() + kLongestEnd;
  run_deferred_work();
  queues_last = false;
}

void run_deferred_memory() noexcept { run_all(memory); }

void make_room_in_deferred_memory() noexcept {
  thread_local bool makes_room = false;
  if (has_deferred_memory() && !makes_room) {
    makes_room = true;
    run_deferred_memory();
    makes_room = false;
  }
}

bool has_deferred_memory() noexcept { return memory.load() != nullptr; }

void free_spare_work() noexcept {
  while (spare.first != nullptr) {
    delete std::exchange(spare.first, spare.first->next);
  }
  spare.count = SpareWork::kMost;  // what comes later is not kept
}

void leak_deferred_work() noexcept { leaking.store(true, std::memory_order_release); }

}  // namespace simple_torch::bridge
