#include "core_libtorch/downloads/transfer.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <new>
#include <optional>
#include <string_view>

#include "core_libtorch/error.h"

namespace simple_torch::core::downloads {
namespace {

constexpr int64_t kMaxLimit = 1'000'000;
constexpr long kOk = 200;
constexpr long kPartial = 206;
constexpr long kRangeNotSatisfiable = 416;

int64_t number_in(std::string_view digits) {
  int64_t number = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// The value of the header `name`; nothing for another header.
std::optional<std::string_view> value_of(std::string_view line, std::string_view name) {
  const bool is_it = line.size() > name.size() && line[name.size()] == ':' &&
                     std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) {
                       return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
                     });
  if (!is_it) {
    return std::nullopt;
  }
  line.remove_prefix(name.size() + 1);
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) {
    line.remove_prefix(1);
  }
  return line;
}

Limits validated(Limits limits) {
  const auto is_valid = [](int64_t limit, int64_t min) { return limit >= min && limit <= kMaxLimit; };
  if (!is_valid(limits.stall_seconds, 1) || !is_valid(limits.max_redirects, 0)) {
    throw Error(ErrorKind::kInvalidArgument,
                "download: stall_seconds must be in [1, 1000000] and max_redirects in [0, 1000000]");
  }
  return limits;
}

}  // namespace

Transfer::Transfer(const std::string& url, const std::string& path, bool resumed, Limits limits)
    : limits_(validated(limits)),
      file_(path, resumed),
      easy_(curl().easy_init()),
      multi_(curl().multi_init()) {
  if (!easy_ || !multi_) {
    throw std::bad_alloc();
  }
  set_up(url);
  begin();
}

Transfer::~Transfer() { curl().multi_remove_handle(multi_.get(), easy_.get()); }

template <class Value>
void Transfer::set(CURLoption option, Value value) {
  const CURLcode code = curl().easy_setopt(easy_.get(), option, value);
  if (code != CURLE_OK) {
    fail_to_get(curl().easy_strerror(code));
  }
}

void Transfer::set_up(const std::string& url) {
  set(CURLOPT_ERRORBUFFER, error_text_.data());
  set(CURLOPT_URL, url.c_str());
  allow_web_only();
  if (const char* const certificates = certificate_file()) {
    set(CURLOPT_CAINFO, certificates);
  }
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_MAXREDIRS, static_cast<long>(limits_.max_redirects));
  set(CURLOPT_USERAGENT, "simple-torch");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(limits_.stall_seconds));
  set(CURLOPT_WRITEFUNCTION, &Transfer::on_bytes);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  set(CURLOPT_HEADERDATA, this);
}

// No other protocol, such as local files, also after a redirect.
void Transfer::allow_web_only() {
#if LIBCURL_VERSION_NUM >= 0x075500
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
  set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  set(CURLOPT_REDIR_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

void Transfer::begin() {
  requested_from_ = file_.size();
  last_activity_ = Clock::now();
  const std::string range = std::to_string(requested_from_) + "-";
  // CURLOPT_RESUME_FROM would reject servers that send the whole file.
  set(CURLOPT_RANGE, requested_from_ > 0 ? range.c_str() : nullptr);
  const CURLMcode code = curl().multi_add_handle(multi_.get(), easy_.get());
  if (code != CURLM_OK) {
    fail_to_get(curl().multi_strerror(code));
  }
}

Progress Transfer::step(int64_t wait_ms) {
  const std::lock_guard<std::mutex> one_at_a_time(stepping_);
  if (failure_) {
    throw *failure_;  // libcurl would wait for a connection that no longer exists
  }
  try {
    if (!is_done_) {
      advance(wait_ms);
    }
  } catch (const Error& error) {
    failure_ = error;
    throw;
  }
  return {is_done_, file_.size(), is_done_ ? file_.size() : total()};
}

void Transfer::advance(int64_t wait_ms) {
  int running = 0;
  const CURLMcode waited = curl().multi_poll(
      multi_.get(), nullptr, 0, static_cast<int>(std::clamp<int64_t>(wait_ms, 0, 60'000)), nullptr);
  const CURLMcode went = waited == CURLM_OK ? curl().multi_perform(multi_.get(), &running) : waited;
  if (went != CURLM_OK) {
    fail_to_get(curl().multi_strerror(went));
  }
  int left = 0;
  while (const CURLMsg* const message = curl().multi_info_read(multi_.get(), &left)) {
    if (message->msg == CURLMSG_DONE) {
      finish(message->data.result);
    }
  }
  check_stall();
}

// libcurl's own limit uses means over several seconds.
void Transfer::check_stall() const {
  if (!is_done_ && Clock::now() - last_activity_ > std::chrono::seconds(limits_.stall_seconds)) {
    fail_to_get("no data for " + std::to_string(limits_.stall_seconds) + " s");
  }
}

size_t Transfer::on_bytes(char* bytes, size_t one, size_t count, void* self) noexcept {
  static_cast<Transfer*>(self)->last_activity_ = Clock::now();
  return static_cast<Transfer*>(self)->write(bytes, one * count) ? one * count : 0;
}

size_t Transfer::on_header(char* line, size_t one, size_t count, void* self) noexcept {
  static_cast<Transfer*>(self)->read_header({line, one * count});
  return one * count;
}

// "content-range: bytes 5-9/10", "content-range: bytes */10"
void Transfer::read_header(std::string_view line) {
  if (line.starts_with("HTTP/")) {  // another response, after a redirect
    range_begin_ = -1;
    range_total_ = -1;
    return;
  }
  const auto range = value_of(line, "content-range");
  if (!range || !range->starts_with("bytes ")) {
    return;
  }
  range_begin_ = number_in(range->substr(6));
  const size_t slash = range->find('/');
  range_total_ = slash == std::string_view::npos ? -1 : number_in(range->substr(slash + 1));
}

// The body of an error response is ignored.
bool Transfer::write(const char* bytes, size_t count) {
  const long code = status();
  if (code != kOk && code != kPartial) {
    return true;
  }
  return (has_begun_ || start_body()) && file_.append(bytes, count);
}

bool Transfer::start_body() {
  has_begun_ = true;
  if (status() == kPartial) {
    return range_begin_ == requested_from_;
  }
  try {
    file_.clear();
    return true;
  } catch (const Error&) {
    return false;
  }
}

void Transfer::finish(CURLcode code) {
  curl().multi_remove_handle(multi_.get(), easy_.get());
  file_.require_written();
  const long answer = status();
  if (code == CURLE_OK && answer == kRangeNotSatisfiable) {
    return finish_range_not_satisfiable();
  }
  if (answer == kPartial && range_begin_ != requested_from_) {
    fail_to_get("the server did not send the range from byte " + std::to_string(requested_from_));
  }
  if (code != CURLE_OK) {
    fail_to_get(error_text_[0] != '\0' ? error_text_.data() : curl().easy_strerror(code));
  }
  if (answer != kOk && answer != kPartial) {
    fail_to_get("HTTP status " + std::to_string(answer));
  }
  if (!has_begun_ && answer == kOk) {
    file_.clear();  // the remote file is empty
  }
  file_.sync();
  is_done_ = true;
}

// The server has no bytes after the file's content: the file is complete, or its content is not a prefix.
void Transfer::finish_range_not_satisfiable() {
  if (requested_from_ == 0) {
    fail_to_get("HTTP status 416");
  }
  if (range_total_ == requested_from_) {
    file_.sync();
    is_done_ = true;
    return;
  }
  file_.clear();
  begin();
}

long Transfer::status() const {
  long code = 0;
  curl().easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &code);
  return code;
}

int64_t Transfer::total() const {
  curl_off_t length = -1;
  curl().easy_getinfo(easy_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  if (length < 0 || !has_begun_) {
    return -1;
  }
  return length + (status() == kPartial ? requested_from_ : 0);
}

void Transfer::fail_to_get(const std::string& why) const { throw Error(ErrorKind::kUnavailable, why); }

}  // namespace simple_torch::core::downloads
