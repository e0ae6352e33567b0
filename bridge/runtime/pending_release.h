// Work that needs the GIL, handed over by threads that must not wait for it.
#pragma once

namespace simple_torch::bridge {

enum class Deferred {
  kReference,  // runs with the next call of Python: what ends may be bound to the threads that call
  kMemory,     // runs soon, on whatever thread: what ends is memory that a tensor used
};

/// Queues `run(what)` for a thread that holds the GIL. Takes no lock, never waits, never fails: after
/// `leak_deferred_work` (and when memory is out) the work is dropped, which leaks what it would have freed.
void defer(Deferred kind, void (*run)(void*), void* what) noexcept;

struct Work {
  void (*run)(void*);
  void* what;
  Work* next;
};

/// While one lives, its thread frees by itself what it defers as memory: when this ends. The thread holds the
/// GIL, and no lock; Python code may run then, and may open another. Too deep in each other, the inner ones
/// leave it to the outer: a tensor over an array over a tensor may go on.
class FreesMemoryHere {
 public:
  FreesMemoryHere() noexcept;
  ~FreesMemoryHere();
  FreesMemoryHere(const FreesMemoryHere&) = delete;
  FreesMemoryHere& operator=(const FreesMemoryHere&) = delete;

  /// Takes it over; without memory it is leaked.
  void add(void (*run)(void*), void* what) noexcept;

 private:
  void run_all() noexcept;

  Work first_{nullptr, nullptr, nullptr};  // most often the only one: it needs no memory of its own
  Work* others_ = nullptr;
  FreesMemoryHere* outer_;
  int depth_;
};

/// Runs what is queued, the oldest of each kind first, and what this queues in its turn. The caller holds the
/// GIL.
void run_deferred_work() noexcept;

/// The same at the end: what other threads queue from now on is leaked, and
/// after ten seconds what is left.
void run_last_deferred_work() noexcept;

/// Runs the memory that is queued now. Freeing it may queue more.
void run_deferred_memory() noexcept;

/// For who is about to take in more of Python's memory, with the GIL: frees what is queued, unless this
/// thread is freeing it already. So what is queued was all alive when memory last came in, which is the
/// queue's bound.
void make_room_in_deferred_memory() noexcept;
bool has_deferred_memory() noexcept;

/// At the end of the calling thread: what it keeps for later is freed.
void free_spare_work() noexcept;

/// From now on nothing is queued any more: the interpreter is going.
void leak_deferred_work() noexcept;

}  // namespace simple_torch::bridge
