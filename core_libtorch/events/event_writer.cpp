#include "core_libtorch/events/event_writer.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "core_libtorch/counted_lock.h"
#include "core_libtorch/error.h"
#include "core_libtorch/events/encoder_library.h"
#include "core_libtorch/events/events.h"

namespace simple_torch::core::events {
namespace {

namespace fs = std::filesystem;

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string file_name(const std::string& suffix) {
  static std::atomic<int64_t> count{0};  // distinguishes files of one process and second
  std::array<char, 16> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%010lld", static_cast<long long>(wall_time_now()));
  return std::string("events.out.tfevents.") + seconds.data() + "." + host_name() + "." +
         std::to_string(getpid()) + "." + std::to_string(count++) + suffix;
}

std::string new_file_in(const std::string& folder, const std::string& suffix) {
  if (suffix.find('/') != std::string::npos) {
    throw Error(ErrorKind::kInvalidArgument,
                "SummaryWriter: filename_suffix must not contain '/', got '" + suffix + "'");
  }
  static_cast<void>(encoder());  // throws before it creates a folder if there is no libprotobuf
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (std::error_code none; !fs::is_directory(folder, none)) {
    throw Error(ErrorKind::kIo, "SummaryWriter: cannot create directory " + folder + ": " +
                                    (problem ? problem.message() : std::string("a file has this name")));
  }
  return (fs::path(folder) / file_name(suffix)).string();
}

struct Writers {
  std::mutex mutex;
  std::set<EventWriter*> all;
};

/// Never destroyed, because handles may be released during exit. Programs that call exit(), as Python does,
/// flush.
Writers& writers() {
  static Writers& known = *[] {
    std::atexit(EventWriter::flush_all);
    return new Writers;
  }();
  return known;
}

}  // namespace

double wall_time_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

EventWriter::EventWriter(const std::string& log_dir, int64_t max_queue, double flush_secs,
                         const std::string& suffix)
    : path_(new_file_in(log_dir, suffix)), max_queue_(max_queue), flush_after_(flush_secs), owner_(getpid()) {
  const std::string first = version_event({wall_time_now(), 0});
  file_ = std::make_unique<RecordFile>(path_);
  file_->append(record_of(first));
  const CountedLockGuard lock(writers().mutex);
  writers().all.insert(this);
}

EventWriter::~EventWriter() {
  {
    const CountedLockGuard lock(writers().mutex);
    writers().all.erase(this);
  }
  flush_if_possible();
}

void EventWriter::flush_all() noexcept {
  const CountedLockGuard lock(writers().mutex);
  for (EventWriter* writer : writers().all) {
    writer->flush_if_possible();
  }
}

void EventWriter::flush_if_possible() noexcept {
  try {
    if (getpid() == owner_) {
      flush();
    }
  } catch (const Error&) {  // a writer that is destroyed without close() has no caller to report to
  }
}

void EventWriter::add(const std::string& event) {
  const std::string record = record_of(event);
  const CountedLockGuard lock(mutex_);
  if (file_ == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, "SummaryWriter: the writer of " + path_ + " is closed");
  }
  pending_ += record;
  ++pending_count_;
  if (pending_count_ >= max_queue_ || Clock::now() - written_at_ >= flush_after_) {
    write_pending();
  }
}

void EventWriter::flush() {
  const CountedLockGuard lock(mutex_);
  if (file_ != nullptr) {
    write_pending();
    file_->sync();
  }
}

void EventWriter::close() {
  flush();
  const CountedLockGuard lock(mutex_);
  file_.reset();
}

void EventWriter::write_pending() {
  file_->append(pending_);
  pending_.clear();
  pending_count_ = 0;
  written_at_ = Clock::now();
}

}  // namespace simple_torch::core::events
