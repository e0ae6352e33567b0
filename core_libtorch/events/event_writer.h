// An event file that grows while a program runs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core_libtorch/events/record_file.h"

namespace simple_torch::core::events {

/// Buffers events until `max_queue` are pending or `flush_secs` have passed since the last write. flush() and
/// close() write at once and sync to the disk. The file always ends with a complete record. Thread-safe.
/// Throws Error(kIo) if the file cannot be created or written; events that could not be written stay pending.
class EventWriter {
 public:
  /// Creates the folder and in it `events.out.tfevents.<seconds>.<host>.<process>.<number><suffix>` with the
  /// record that identifies an event file.
  EventWriter(const std::string& log_dir, int64_t max_queue, double flush_secs, const std::string& suffix);
  /// Writes pending events if possible. A forked process, which does not own the file, writes nothing.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// Throws Error(kInvalidArgument) after close().
  void add(const std::string& event);
  void flush();
  void close();

  /// Flushes all writers at exit and ignores failures.
  static void flush_all() noexcept;

  const std::string& path() const noexcept { return path_; }

 private:
  using Clock = std::chrono::steady_clock;

  void write_pending();
  void flush_if_possible() noexcept;

  const std::string path_;
  const int64_t max_queue_;
  const std::chrono::duration<double> flush_after_;
  const pid_t owner_;
  std::mutex mutex_;
  std::unique_ptr<RecordFile> file_;  // null after close()
  std::string pending_;               // complete records
  int64_t pending_count_ = 0;
  Clock::time_point written_at_ = Clock::now();
};

/// Seconds since 1970.
double wall_time_now();

}  // namespace simple_torch::core::events
