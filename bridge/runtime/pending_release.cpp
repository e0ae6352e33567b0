// One lock-free stack per kind of release; a drain takes the whole stack at once.
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

std::atomic<PendingRelease*> references{nullptr};
std::atomic<PendingRelease*> memory{nullptr};
std::atomic<bool> leaking{false};

constexpr int kMaxDepth = 50;

constexpr auto kDrainLimit = std::chrono::seconds(10);  // deleters may sleep, and thousands may be queued
constexpr auto kNever = std::chrono::steady_clock::time_point::max();
std::chrono::steady_clock::time_point drain_deadline =
    kNever;  // set by the thread that drains last, with the GIL

bool is_past_deadline() {
  return drain_deadline != kNever && std::chrono::steady_clock::now() > drain_deadline;
}

thread_local bool is_last_drain = false;  // on the thread that drains last: its releases may queue more

// The innermost scope of this thread. The initial-exec model needs no call; it is safe because this library
// is never unloaded.
[[gnu::tls_model("initial-exec")]] thread_local ImmediateReleaseScope* release_scope = nullptr;

/// Nodes of this thread for reuse: allocating and freeing one costs more than the rest of a call.
struct NodeCache {
  static constexpr int kCapacity = 32;
  PendingRelease* first = nullptr;
  int count = 0;
};
[[gnu::tls_model("initial-exec")]] thread_local NodeCache node_cache;

/// NULL when out of memory.
PendingRelease* new_node(void (*run)(void*), void* what) noexcept {
  if (node_cache.first == nullptr) {
    return new (std::nothrow) PendingRelease{run, what, nullptr};
  }
  --node_cache.count;
  PendingRelease* work = std::exchange(node_cache.first, node_cache.first->next);
  *work = {run, what, nullptr};
  return work;
}

void recycle_node(PendingRelease* work) noexcept {
  if (node_cache.count == NodeCache::kCapacity) {
    delete work;
    return;
  }
  ++node_cache.count;
  work->next = std::exchange(node_cache.first, work);
}

void push(std::atomic<PendingRelease*>& newest, PendingRelease* work) {
  work->next = newest.load(std::memory_order_relaxed);
  while (
      !newest.compare_exchange_weak(work->next, work, std::memory_order_seq_cst, std::memory_order_relaxed)) {
  }
}

[[gnu::noinline]] void run_all(std::atomic<PendingRelease*>& newest) {
  if (newest.load(std::memory_order_relaxed) == nullptr) {
    return;  // an exchange of an empty stack costs as much as a full one
  }
  PendingRelease* list = newest.exchange(nullptr, std::memory_order_acquire);
  PendingRelease* oldest = nullptr;
  while (list != nullptr) {
    PendingRelease* next = list->next;
    list->next = oldest;
    oldest = list;
    list = next;
  }
  while (oldest != nullptr && !is_past_deadline()) {
    PendingRelease* work = std::exchange(oldest, oldest->next);
    const PendingRelease current = *work;
    recycle_node(work);
    park_on_forced_unwind([&] { current.run(current.what); });
  }
}

}  // namespace

void queue_release(PendingKind kind, void (*run)(void*), void* what) noexcept {
  if (leaking.load(std::memory_order_acquire) && !is_last_drain) {
    return;
  }
  if (kind == PendingKind::kMemory && release_scope != nullptr) {
    release_scope->add(run, what);
    return;
  }
  PendingRelease* work = new_node(run, what);
  if (work == nullptr) {
    return;
  }
  if (kind == PendingKind::kReference) {
    push(references, work);
  } else {
    push(memory, work);
    wake_worker();
  }
}

ImmediateReleaseScope::ImmediateReleaseScope() noexcept
    : outer_(release_scope), depth_(outer_ == nullptr ? 0 : outer_->depth_ + 1) {
  if (depth_ < kMaxDepth) {
    release_scope = this;
  }
}

ImmediateReleaseScope::~ImmediateReleaseScope() {
  if (depth_ < kMaxDepth) {
    run_all();
    release_scope = outer_;
  }
}

void ImmediateReleaseScope::add(void (*run)(void*), void* what) noexcept {
  if (first_.run == nullptr) {
    first_ = {run, what, nullptr};
  } else if (auto* work = new (std::nothrow) PendingRelease{run, what, others_}) {
    others_ = work;
  }
}

void ImmediateReleaseScope::run_all() noexcept {
  while (first_.run != nullptr || others_ != nullptr) {
    PendingRelease work = std::exchange(first_, PendingRelease{nullptr, nullptr, nullptr});
    if (work.run == nullptr) {
      const std::unique_ptr<PendingRelease> next(std::exchange(others_, others_->next));
      work = *next;
    }
    park_on_forced_unwind([&] { work.run(work.what); });
  }
}

void drain_pending_releases() noexcept {
  // Freeing an object may queue others: hence the loop.
  while (references.load(std::memory_order_relaxed) != nullptr || has_pending_memory()) {
    run_all(references);
    run_all(memory);
  }
}

void drain_last_releases() noexcept {
  leak_pending_releases();
  is_last_drain = true;
  drain_deadline = std::chrono::steady_clock::now() + kDrainLimit;
  drain_pending_releases();
  is_last_drain = false;
}

void drain_pending_memory() noexcept { run_all(memory); }

void drain_memory_before_import() noexcept {
  thread_local bool is_draining = false;
  if (has_pending_memory() && !is_draining) {
    is_draining = true;
    drain_pending_memory();
    is_draining = false;
  }
}

bool has_pending_memory() noexcept { return memory.load() != nullptr; }

void free_node_cache() noexcept {
  while (node_cache.first != nullptr) {
    delete std::exchange(node_cache.first, node_cache.first->next);
  }
  node_cache.count = NodeCache::kCapacity;  // later nodes are not cached
}

void leak_pending_releases() noexcept { leaking.store(true, std::memory_order_release); }

}  // namespace simple_torch::bridge
