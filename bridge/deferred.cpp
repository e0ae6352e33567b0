// A lock-free stack of each kind of deferred work; whoever drains one takes the whole stack at once.
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

std::atomic<Work*> references{nullptr};
std::atomic<Work*> memory{nullptr};
std::atomic<bool> leaking{false};

void push(std::atomic<Work*>& newest, Work* work) {
  work->next = newest.load(std::memory_order_relaxed);
  while (
      !newest.compare_exchange_weak(work->next, work, std::memory_order_seq_cst, std::memory_order_relaxed)) {
  }
}

void run_all(std::atomic<Work*>& newest) {
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

}  // namespace

void defer(Deferred kind, void (*run)(void*), void* what) noexcept {
  if (leaking.load(std::memory_order_acquire)) {
    return;
  }
  auto* work = new (std::nothrow) Work{run, what, nullptr};
  if (work == nullptr) {
    return;
  }
  if (kind == Deferred::kReference) {
    push(references, work);
    return;
  }
  push(memory, work);
  see_to_deferred_memory();
}

void run_deferred_work() noexcept {
  // Freeing an object may free others, which are deferred in their turn: hence the loop.
  while (references.load(std::memory_order_relaxed) != nullptr || has_deferred_memory()) {
    run_all(references);
    run_all(memory);
  }
}

void run_deferred_memory() noexcept {
  while (has_deferred_memory()) {
    run_all(memory);
  }
}

bool has_deferred_memory() noexcept { return memory.load() != nullptr; }

void leak_deferred_work() noexcept { leaking.store(true, std::memory_order_release); }

}  // namespace simple_torch::bridge
