// A lock-free stack of deferred work; whoever drains it takes the whole stack at once.
#include "bridge/deferred.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "bridge/drainer.h"

namespace simple_torch::bridge {
namespace {

struct Work {
  void (*run)(void*);
  void* what;
  Work* next;
};

std::atomic<Work*> newest{nullptr};
std::atomic<bool> leaking{false};

}  // namespace

void defer(void (*run)(void*), void* what) noexcept {
  if (leaking.load(std::memory_order_acquire)) {
    return;
  }
  auto* work = new (std::nothrow) Work{run, what, nullptr};
  if (work == nullptr) {
    return;
  }
  work->next = newest.load(std::memory_order_relaxed);
  while (
      !newest.compare_exchange_weak(work->next, work, std::memory_order_seq_cst, std::memory_order_relaxed)) {
  }
  see_to_deferred_work();
}

bool has_deferred_work() noexcept { return newest.load() != nullptr; }

void run_deferred_work() noexcept {
  // Freeing an object may free others, which are deferred in their turn: hence the outer loop.
  while (newest.load(std::memory_order_relaxed) != nullptr) {
    Work* list = newest.exchange(nullptr, std::memory_order_acquire);
    Work* oldest = nullptr;
    while (list != nullptr) {
      Work* next = list->next;
      list->next = oldest;
      oldest = list;
      list = next;
    }
    while (oldest != nullptr) {
      Work* work = oldest;
      oldest = work->next;
      work->run(work->what);
      delete work;
    }
  }
}

void leak_deferred_work() noexcept { leaking.store(true, std::memory_order_release); }

}  // namespace simple_torch::bridge
