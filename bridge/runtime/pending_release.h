// Queues of releases that need the GIL, from threads that must not wait for it.
#pragma once

namespace simple_torch::bridge {

enum class PendingKind {
  kReference,  // drained by the next call into Python: the object may be bound to the calling threads
  kMemory,     // drained soon, on any thread: memory that a tensor used
};

/// Queues `run(what)` for a thread that holds the GIL. Acquires no lock, never blocks, never fails. After
/// `leak_pending_releases`, and when out of memory, the release is dropped and its target leaks.
void queue_release(PendingKind kind, void (*run)(void*), void* what) noexcept;

struct PendingRelease {
  void (*run)(void*);
  void* what;
  PendingRelease* next;
};

/// While one lives, memory that its thread queues is freed by that thread at the end of the scope. The thread
/// holds the GIL and no lock. Freeing may run Python code, which may open another scope. Beyond a nesting
/// limit, inner scopes leave the work to outer ones: a tensor over an array over a tensor may recurse.
class ImmediateReleaseScope {
 public:
  ImmediateReleaseScope() noexcept;
  ~ImmediateReleaseScope();
  ImmediateReleaseScope(const ImmediateReleaseScope&) = delete;
  ImmediateReleaseScope& operator=(const ImmediateReleaseScope&) = delete;

  /// Adds a release; leaks its target when out of memory.
  void add(void (*run)(void*), void* what) noexcept;

 private:
  void run_all() noexcept;

  PendingRelease first_{nullptr, nullptr, nullptr};  // usually the only one; needs no allocation
  PendingRelease* others_ = nullptr;
  ImmediateReleaseScope* outer_;
  int depth_;
};

/// Runs both queues, oldest first, including what the releases queue themselves. The caller holds the GIL.
void drain_pending_releases() noexcept;

/// Drains for the last time, for at most ten seconds. What other threads queue from then on, and what is left
/// after the limit, leaks.
void drain_last_releases() noexcept;

/// Runs the memory queue once. Freeing may queue more.
void drain_pending_memory() noexcept;

/// Call before importing memory from Python, with the GIL held. Drains the memory queue, unless this thread
/// is already draining it. So everything in the queue was alive at the last import, which bounds the queue.
void drain_memory_before_import() noexcept;
bool has_pending_memory() noexcept;

/// Frees the calling thread's cached queue nodes, when it ends.
void free_node_cache() noexcept;

/// Drops every later release: the interpreter is finalizing.
void leak_pending_releases() noexcept;

}  // namespace simple_torch::bridge
