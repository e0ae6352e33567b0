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

/// While one lives, its thread frees by itself what it defers as memory: when the outermost ends. The thread
/// holds the GIL, and no lock; Python code may run then.
class FreesMemoryHere {
 public:
  FreesMemoryHere() noexcept;
  ~FreesMemoryHere();
  FreesMemoryHere(const FreesMemoryHere&) = delete;
  FreesMemoryHere& operator=(const FreesMemoryHere&) = delete;

 private:
  bool is_outermost_;
};

/// Runs what is queued, the oldest of each kind first. The caller holds the GIL.
void run_deferred_work() noexcept;

/// The same for memory alone.
void run_deferred_memory() noexcept;
bool has_deferred_memory() noexcept;

/// From now on nothing is queued any more: the interpreter is going.
void leak_deferred_work() noexcept;

}  // namespace simple_torch::bridge
