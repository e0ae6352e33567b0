// A lock-free stack of each kind of deferred work; whoever drains one takes the whole stack at once.
#include "bridge/deferred.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

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

// Of a thread that frees its own. A list, and no recursion: a tensor over an array over a tensor may go on.
struct FreedHere {
  bool is_on = false;
  Work first{nullptr, nullptr, nullptr};  // most often the only one: it needs no memory
  Work* others = nullptr;
};
// Of the initial-exec model, which needs no call: this library is never unloaded.
[[gnu::tls_model("initial-exec")]] thread_local FreedHere freed_here;

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
  FreedHere* here = kind == Deferred::kMemory && freed_here.is_on ? &freed_here : nullptr;
  if (here != nullptr && here->first.run == nullptr) {
    here->first = {run, what, nullptr};
    return;
  }
  auto* work = new (std::nothrow) Work{run, what, nullptr};
  if (work == nullptr) {
    return;
  }
  if (here != nullptr) {
    work->next = std::exchange(here->others, work);
  } else if (kind == Deferred::kReference) {
    push(references, work);
  } else {
    push(memory, work);
    see_to_deferred_memory();
  }
}

FreesMemoryHere::FreesMemoryHere() noexcept : is_outermost_(!std::exchange(freed_here.is_on, true)) {}

FreesMemoryHere::~FreesMemoryHere() {
  if (!is_outermost_) {
    return;
  }
  FreedHere& here = freed_here;
  while (here.first.run != nullptr || here.others != nullptr) {
    if (here.first.run != nullptr) {
      const Work first = std::exchange(here.first, Work{nullptr, nullptr, nullptr});
      first.run(first.what);
    } else {
      const std::unique_ptr<Work> work(std::exchange(here.others, here.others->next));
      work->run(work->what);
    }
  }
  here.is_on = false;
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
