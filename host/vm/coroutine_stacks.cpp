#include "host/vm/coroutine_stacks.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "host/vm/current_thread.h"

namespace spl {
namespace {

struct CoroutineStack {
  uint64_t coroutine;
  Thread* thread;
  int calls;  // nested callbacks of the coroutine
};

/// Of one native thread. When the thread ends, the stacks in use leak: a coroutine that was never resumed
/// still has frames there.
struct CoroutineStacks {
  std::vector<CoroutineStack> in_use;
  std::vector<std::unique_ptr<Thread>> idle;

  auto find(uint64_t coroutine) { return std::ranges::find(in_use, coroutine, &CoroutineStack::coroutine); }
};

CoroutineStacks& stacks() {
  static thread_local CoroutineStacks of_this_thread;
  return of_this_thread;
}

constexpr size_t kMaxIdle = 8;

Thread* take_stack(const Thread& base) {
  std::vector<std::unique_ptr<Thread>>& idle = stacks().idle;
  std::unique_ptr<Thread> thread = idle.empty() ? std::make_unique<Thread>() : std::move(idle.back());
  if (!idle.empty()) {
    idle.pop_back();
  }
  thread->start_above(base);
  return thread.release();
}

/// A stack whose frames were not unwound, because the program exits, is never used again.
void recycle_stack(Thread* thread) {
  if (!thread->is_idle()) {
    return;
  }
  std::unique_ptr<Thread> owned(thread);
  if (stacks().idle.size() < kMaxIdle) {
    stacks().idle.push_back(std::move(owned));
  }
}

Thread* enter_coroutine(const Thread& base, uint64_t coroutine) {
  const auto found = stacks().find(coroutine);
  if (found != stacks().in_use.end()) {
    ++found->calls;
    return found->thread;
  }
  Thread* thread = take_stack(base);
  stacks().in_use.push_back({coroutine, thread, 1});
  return thread;
}

void leave_coroutine(uint64_t coroutine) {
  const auto found = stacks().find(coroutine);
  if (--found->calls == 0) {
    Thread* thread = found->thread;
    stacks().in_use.erase(found);
    recycle_stack(thread);
  }
}

}  // namespace

CoroutineScope::CoroutineScope(Thread& base, uint64_t coroutine)
    : base_(&base),
      coroutine_(coroutine),
      thread_(coroutine == 0 ? &base : enter_coroutine(base, coroutine)) {
  active_thread = thread_;
}

CoroutineScope::~CoroutineScope() {
  active_thread = base_;
  if (coroutine_ != 0) {
    leave_coroutine(coroutine_);
  }
}

}  // namespace spl
