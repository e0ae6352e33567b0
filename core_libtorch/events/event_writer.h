// A file of events that grows while a program runs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core_libtorch/events/record_file.h"

namespace simple_torch::core::events {

/// Events wait in memory until `max_queue` of them do, or until one comes `flush_secs` after the last that
/// were written; flush() and close() write them at once, and have them on the disk. The file ends with a
/// whole record always. Any thread may call. Throws Error(kIo) where the file cannot be made or written;
/// events that could not be written wait on.
class EventWriter {
 public:
  /// Makes the folder, and in it a file `events.out.tfevents.<seconds>.<host>.<process>.<number><suffix>`
  /// with the record that TensorBoard knows such files by.
  EventWriter(const std::string& log_dir, int64_t max_queue, double flush_secs, const std::string& suffix);
  /// Writes what waits, if it can; a forked process, to which the file does not belong, writes nothing.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// Throws Error(kInvalidArgument) after close().
  void add(const std::string& event);
  void flush();
  void close();

  /// Flushes all writers of the process, as far as that is possible: it ends.
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
  std::unique_ptr<RecordFile> file_;  // none: it is closed
  std::string pending_;               // whole records
  int64_t pending_count_ = 0;
  Clock::time_point written_at_ = Clock::now();
};

/// Seconds since 1970.
double wall_time_now();

}  // namespace simple_torch::core::events
