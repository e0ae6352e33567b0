// Downloads one file from one URL in steps.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core_libtorch/downloads/curl_library.h"
#include "core_libtorch/downloads/partial_file.h"
#include "core_libtorch/error.h"

namespace simple_torch::core::downloads {

struct Limits {
  int64_t stall_seconds;  // without data or a connection
  int64_t max_redirects;
};

struct Progress {
  bool is_done;
  int64_t bytes;  // in the file
  int64_t total;  // -1 if the server has not sent it
};

/// Downloads an http or https URL into a file. A partial file stays after a failure. With `resumed` it
/// requests only the rest after the file's content. If the server sends the whole file, the download starts
/// over.
class Transfer {
 public:
  /// Throws Error(kIo) for the file, Error(kInvalidArgument) for limits, Error(kUnavailable) without libcurl.
  Transfer(const std::string& url, const std::string& path, bool resumed, Limits limits);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Runs until data arrives, at most `wait_ms`. Throws Error(kIo) if the file cannot be written,
  /// Error(kUnavailable) for a failure of the server or the network. After a failure each call throws it
  /// again at once.
  Progress step(int64_t wait_ms);

 private:
  static size_t on_bytes(char* bytes, size_t one, size_t count, void* self) noexcept;
  static size_t on_header(char* line, size_t one, size_t count, void* self) noexcept;

  template <class Value>
  void set(CURLoption option, Value value);
  void set_up(const std::string& url);
  void allow_web_only();
  void begin();
  void advance(int64_t wait_ms);
  void read_header(std::string_view line);
  bool write(const char* bytes, size_t count);
  bool start_body();
  void finish(CURLcode code);
  void finish_range_not_satisfiable();
  void check_stall() const;
  long status() const;
  int64_t total() const;
  [[noreturn]] void fail_to_get(const std::string& why) const;

  using Clock = std::chrono::steady_clock;

  const Limits limits_;
  std::mutex stepping_;
  PartialFile file_;
  Clock::time_point last_activity_;  // the request, or the last data
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  Easy easy_;
  Multi multi_;
  int64_t requested_from_ = 0;  // the file's size at the request
  int64_t range_begin_ = -1;    // the response's, from Content-Range
  int64_t range_total_ = -1;
  bool has_begun_ = false;  // the file has data of the response
  bool is_done_ = false;
  std::optional<Error> failure_;
};

}  // namespace simple_torch::core::downloads
