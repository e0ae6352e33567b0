// The state of these objects changes under the host lock only. A thread that waits sleeps without the lock,
// and is woken by the object's condition variable.
#include "host/builtins/sync_externs.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>

#include "host/builtins/builtins.h"
#include "host/builtins/numbered_objects.h"
#include "host/values/error.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"

namespace spl {
namespace {

using Clock = std::chrono::steady_clock;

/// Wakes threads that wait for a change of an object.
class Bell {
 public:
  void ring() {
    {
      const std::lock_guard guard(mutex_);
      ++rings_;
    }
    changed_.notify_all();
  }
  /// Waits until `is_done()`, which runs under the host lock, or the end. Returns whether it was done.
  template <class IsDone>
  bool wait(std::optional<Clock::time_point> end, IsDone is_done) {
    constexpr auto kPart = std::chrono::milliseconds(50);  // an interrupt is noticed after this time
    while (!is_done()) {
      if (end.has_value() && Clock::now() >= *end) {
        return false;
      }
      const uint64_t seen = rings();  // before the host lock is released: no change is missed
      {
        const Unlocked unlocked;
        std::unique_lock guard(mutex_);
        const auto part_end = Clock::now() + kPart;
        changed_.wait_until(guard, end.has_value() ? std::min(*end, part_end) : part_end,
                            [&] { return rings_ != seen; });
      }
      if (host_lock().wanted()) {
        safepoint();
      }
    }
    return true;
  }

 private:
  uint64_t rings() {
    const std::lock_guard guard(mutex_);
    return rings_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t rings_ = 0;
};

struct Mutex {
  bool is_held = false;
  Bell bell;
};
struct Condition {
  int64_t last = 0;
  std::deque<int64_t> waiting;  // tickets, in the order of arrival
  std::set<int64_t> woken;
  Bell bell;
};
using Mutexes = NumberedObjects<Mutex>;
using Conditions = NumberedObjects<Condition>;

std::shared_ptr<Mutex> mutex_of(Value number) {
  return Mutexes::all().get(number, "std.sync: no such mutex");
}
std::shared_ptr<Condition> condition_of(Value number) {
  return Conditions::all().get(number, "std.sync: no such condition");
}

// Seconds; a negative number is no limit.
std::optional<Clock::time_point> end_after(Value seconds) {
  const double limit = to_number(seconds);
  if (!(limit >= 0)) {
    return std::nullopt;
  }
  const std::chrono::duration<double> time(std::min(limit, 1e9));
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
}

Value mutex_new(Thread&, Value*, int) { return Mutexes::all().insert(std::make_shared<Mutex>()); }
Value mutex_free(Thread&, Value* args, int) {
  Mutexes::all().remove(args[0]);
  return Value();
}
// (mutex, seconds): whether it was taken.
Value mutex_lock(Thread&, Value* args, int) {
  const auto mutex = mutex_of(args[0]);
  const bool is_free = mutex->bell.wait(end_after(args[1]), [&] { return !mutex->is_held; });
  mutex->is_held = mutex->is_held || is_free;
  return Value::boolean(is_free);
}
Value mutex_unlock(Thread&, Value* args, int) {
  const auto mutex = mutex_of(args[0]);
  if (!mutex->is_held) {
    fail("release unlocked lock");
  }
  mutex->is_held = false;
  mutex->bell.ring();
  return Value();
}
Value mutex_is_held(Thread&, Value* args, int) { return Value::boolean(mutex_of(args[0])->is_held); }

Value condition_new(Thread&, Value*, int) { return Conditions::all().insert(std::make_shared<Condition>()); }
Value condition_free(Thread&, Value* args, int) {
  Conditions::all().remove(args[0]);
  return Value();
}
// A ticket for condition_wait(). A notification after this call counts, also before the wait begins.
Value condition_enter(Thread&, Value* args, int) {
  const auto condition = condition_of(args[0]);
  condition->waiting.push_back(++condition->last);
  return Value::integer(condition->last);
}
// (condition, ticket, seconds): whether it was notified.
Value condition_wait(Thread&, Value* args, int) {
  const auto condition = condition_of(args[0]);
  const int64_t ticket = to_integer(args[1]);
  const auto leave = [&] { std::erase(condition->waiting, ticket); };
  try {
    condition->bell.wait(end_after(args[2]), [&] { return condition->woken.contains(ticket); });
  } catch (...) {
    leave();
    throw;
  }
  leave();
  return Value::boolean(condition->woken.erase(ticket) > 0);
}
// (condition, count): wakes the first ones.
Value condition_notify(Thread&, Value* args, int) {
  const auto condition = condition_of(args[0]);
  for (int64_t left = to_integer(args[1]); left > 0 && !condition->waiting.empty(); --left) {
    condition->woken.insert(condition->waiting.front());
    condition->waiting.pop_front();
  }
  condition->bell.ring();
  return Value();
}

constexpr NativeEntry kSyncExterns[] = {
    {"rt_mutex_new", mutex_new, 0, 0},           {"rt_mutex_free", mutex_free, 1, 1},
    {"rt_mutex_lock", mutex_lock, 2, 2},         {"rt_mutex_unlock", mutex_unlock, 1, 1},
    {"rt_mutex_is_held", mutex_is_held, 1, 1},   {"rt_condition_new", condition_new, 0, 0},
    {"rt_condition_free", condition_free, 1, 1}, {"rt_condition_enter", condition_enter, 1, 1},
    {"rt_condition_wait", condition_wait, 3, 3}, {"rt_condition_notify", condition_notify, 2, 2},
};

}  // namespace

std::span<const NativeEntry> sync_externs() { return kSyncExterns; }

}  // namespace spl
