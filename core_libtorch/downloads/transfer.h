// One file from one address, a piece at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "core_libtorch/downloads/curl_library.h"
#include "core_libtorch/downloads/partial_file.h"

namespace simple_torch::core::downloads {

struct Limits {
  int64_t stall_seconds;  // without a byte, or until there is a connection
  int64_t most_redirects;
};

struct Progress {
  bool is_done;
  int64_t bytes;  // in the file
  int64_t total;  // -1 where the server has not said it
};

/// Fills a file from an http or https address. The file stays as far as it came, also when this ends early;
/// with `resumed` what it holds is the beginning, and the server is asked for the rest. A server that gives
/// the whole instead begins it anew.
class Transfer {
 public:
  /// Throws Error(kIo) for the file, Error(kInvalidArgument) for limits, Error(kUnavailable) without libcurl.
  Transfer(const std::string& url, const std::string& path, bool resumed, Limits limits);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Goes on until bytes came, or for that long. Throws Error(kIo) where the file cannot be written,
  /// Error(kUnavailable) for what the server or the network did not give.
  Progress step(int64_t wait_ms);

 private:
  static size_t on_bytes(char* bytes, size_t one, size_t count, void* self) noexcept;
  static size_t on_header(char* line, size_t one, size_t count, void* self) noexcept;

  template <class Value>
  void set(CURLoption option, Value value);
  void set_up(const std::string& url);
  void allow_web_only();
  void begin();
  void note_header(std::string_view line);
  bool take(const char* bytes, size_t count);
  bool place_first_bytes();
  void finish(CURLcode code);
  void finish_range_refused();
  void require_heard() const;
  long status() const;
  int64_t total() const;
  [[noreturn]] void fail_to_get(const std::string& why) const;

  using Clock = std::chrono::steady_clock;

  const Limits limits_;
  std::mutex stepping_;
  PartialFile file_;
  Clock::time_point heard_;  // when the last bytes came, or were asked for
  std::array<char, CURL_ERROR_SIZE> words_{};
  Easy easy_;
  Multi multi_;
  int64_t asked_from_ = 0;    // the file's size when this was asked for
  int64_t range_begin_ = -1;  // the answer's, by Content-Range
  int64_t range_total_ = -1;
  bool has_begun_ = false;  // bytes of the answer are in the file
  bool is_done_ = false;
};

}  // namespace simple_torch::core::downloads
