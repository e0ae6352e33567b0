#include "host/builtins/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "host/syntax/utf8.h"
#include "host/values/error.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"

namespace spl {
namespace {

struct OpenMode {
  int flags;
  const char* stream;
  bool reads, writes;
};

OpenMode parsed_mode(const std::string& mode) {
  std::string plain = mode;
  std::erase_if(plain, [](char c) { return c == 'b' || c == 't'; });
  const bool is_both = plain.size() == 2 && plain[1] == '+';
  const bool is_good =
      (plain.size() == 1 || is_both) && std::strchr("rwax", plain[0]) != nullptr &&
      std::count(mode.begin(), mode.end(), 'b') + std::count(mode.begin(), mode.end(), 't') <= 1;
  if (!is_good) {
    fail("open: invalid mode: '" + mode + "'");
  }
  const int access = is_both ? O_RDWR : plain[0] == 'r' ? O_RDONLY : O_WRONLY;
  switch (plain[0]) {
    case 'r':
      return {access, is_both ? "r+" : "r", true, is_both};
    case 'w':
      return {access | O_CREAT | O_TRUNC, is_both ? "w+" : "w", is_both, true};
    case 'a':
      return {access | O_CREAT | O_APPEND, is_both ? "a+" : "a", is_both, true};
    default:
      return {access | O_CREAT | O_EXCL, is_both ? "w+" : "w", is_both, true};
  }
}

bool is_valid_utf8(const std::string& content, size_t& fault) {
  for (fault = 0; fault < content.size();) {
    if (static_cast<unsigned char>(content[fault]) < 0x80) {
      ++fault;
      continue;
    }
    const size_t step = utf8_step(content, fault);
    if (step == 1) {
      return false;
    }
    fault += step;
  }
  return true;
}

// "\r\n" and "\r" become "\n".
void translate_line_ends(std::string& content) {
  size_t to = content.find('\r');
  if (to == std::string::npos) {
    return;
  }
  for (size_t from = to; from < content.size(); ++from) {
    const bool is_return = content[from] == '\r';
    if (is_return && from + 1 < content.size() && content[from + 1] == '\n') {
      ++from;
    }
    content[to++] = is_return ? '\n' : content[from];
  }
  content.resize(to);
}

bool is_fifo(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
}

/// Opens a FIFO on another thread, because open() waits for the other end and an interrupt must end the wait.
class FifoOpener {
 public:
  FifoOpener(const std::string& path, int flags) : path_(path) {
    thread_ = std::thread([this, flags] {
      const int opened = ::open(path_.c_str(), flags);
      const std::lock_guard guard(mutex_);
      code_ = errno;
      descriptor_ = opened;
      is_done_ = true;
      done_.notify_one();
    });
  }
  /// The descriptor, or -1 with errno.
  int wait() {
    while (!is_done_in_time()) {
      if (host_lock().wanted()) {
        safepoint();
      }
    }
    thread_.join();
    errno = code_;
    return descriptor_;
  }
  ~FifoOpener() {
    if (!thread_.joinable()) {
      return;
    }
    const int other_end = ::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);  // ends the wait
    thread_.join();
    for (const int descriptor : {other_end, descriptor_}) {
      if (descriptor >= 0) {
        ::close(descriptor);
      }
    }
  }
  FifoOpener(const FifoOpener&) = delete;
  FifoOpener& operator=(const FifoOpener&) = delete;

 private:
  bool is_done_in_time() {
    const Unlocked unlocked;
    std::unique_lock guard(mutex_);
    return done_.wait_for(guard, std::chrono::milliseconds(20), [this] { return is_done_; });
  }

  const std::string path_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  int descriptor_ = -1, code_ = 0;
};

}  // namespace

OpenFile::OpenFile(std::string path, const std::string& mode) : path_(std::move(path)) {
  const OpenMode parsed = parsed_mode(mode);
  can_read_ = parsed.reads;
  can_write_ = parsed.writes;
  int descriptor = -1;
  if (is_fifo(path_)) {
    descriptor = FifoOpener(path_, parsed.flags | O_CLOEXEC).wait();
  } else {
    const Unlocked unlocked;
    descriptor = ::open(path_.c_str(), parsed.flags | O_CLOEXEC, 0666);
  }
  file_ = descriptor < 0 ? nullptr : fdopen(descriptor, parsed.stream);
  if (file_ == nullptr) {
    fail_to("open", errno);
  }
  char probe = 0;
  if (parsed.reads && ::read(descriptor, &probe, 0) < 0 && errno == EISDIR) {
    std::fclose(file_);
    fail_to("open", EISDIR);
  }
}

OpenFile::~OpenFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
  }
}

void OpenFile::fail_to(const char* action, int code) const {
  fail(std::string("cannot ") + action + " " + path_ + ": " + std::strerror(code));
}

template <class Action>
void OpenFile::use(Last kind, const char* doing, Action action) {
  if (kind == Last::kRead && !can_read_) {
    fail("cannot read " + path_ + ": it is not open for reading");
  }
  if (kind == Last::kWrite && !can_write_) {
    fail("cannot write " + path_ + ": it is not open for writing");
  }
  bool is_open = false, is_done = false;
  int code = 0;
  {
    const Unlocked unlocked;
    const std::lock_guard guard(mutex_);
    is_open = file_ != nullptr;
    if (is_open) {
      // The C library requires a seek between reading and writing.
      if (kind != Last::kNone && last_ != Last::kNone && kind != last_) {
        fseeko(file_, -static_cast<off_t>(ahead_.size() - ahead_at_), SEEK_CUR);
        ahead_.clear();
        ahead_at_ = 0;
      }
      last_ = kind == Last::kNone ? last_ : kind;
      errno = 0;
      is_done = action();
      code = errno;
    }
  }
  if (!is_open) {
    fail("I/O operation on closed file " + path_);
  }
  if (!is_done) {
    fail_to(doing, code);
  }
}

int OpenFile::next() {
  return ahead_at_ < ahead_.size() ? static_cast<unsigned char>(ahead_[ahead_at_++]) : getc_unlocked(file_);
}

void OpenFile::put_back(int byte) {
  if (ahead_at_ > 0) {
    ahead_[--ahead_at_] = static_cast<char>(byte);
  } else {
    ahead_.insert(ahead_.begin(), static_cast<char>(byte));
  }
}

// A line of the bytes ahead, whose end may be "\r".
bool OpenFile::take_line_ahead(std::string& line, LineEnds line_ends) {
  const size_t end = ahead_.find_first_of("\r\n", ahead_at_);
  if (end == std::string::npos || end + 1 == ahead_.size()) {
    return false;
  }
  const size_t after = end + (ahead_.compare(end, 2, "\r\n") == 0 ? 2 : 1);
  line = line_ends == LineEnds::kTranslated ? ahead_.substr(ahead_at_, end - ahead_at_) + '\n'
                                            : ahead_.substr(ahead_at_, after - ahead_at_);
  ahead_at_ = after;
  return true;
}

int OpenFile::next(FileDecoding decoding) {
  const int byte = next();
  if (byte != '\r' || decoding.line_ends != LineEnds::kTranslated) {
    return byte;
  }
  const int after = next();
  if (after != '\n' && after != EOF) {
    put_back(after);
  }
  return '\n';
}

void OpenFile::read_rest(std::string& content) {
  constexpr size_t kChunk = size_t{256} * 1024;
  content = ahead_.substr(ahead_at_);
  ahead_.clear();
  ahead_at_ = 0;
  for (size_t count = 1; count > 0;) {
    const size_t size = content.size(), more = std::max(kChunk, size);
    content.resize(size + more);
    count = std::fread(content.data() + size, 1, more, file_);
    content.resize(size + count);
  }
}

void OpenFile::read_characters(std::string& content, int64_t count, FileDecoding decoding) {
  int64_t taken = 0;
  for (int byte = next(decoding); byte != EOF; byte = next(decoding)) {
    const bool begins_character = !decoding.is_utf8 || (byte & 0xc0) != 0x80;
    taken += begins_character ? 1 : 0;
    if (taken > count) {
      put_back(byte);
      break;
    }
    content += static_cast<char>(byte);
  }
}

std::string OpenFile::raw_line() {
  std::string line;
  if (ahead_at_ < ahead_.size()) {
    const size_t end = std::min(ahead_.find('\n', ahead_at_), ahead_.size() - 1) + 1;
    line = ahead_.substr(ahead_at_, end - ahead_at_);
    ahead_at_ = end;
    if (line.back() == '\n') {
      return line;
    }
  }
  ahead_.clear();
  ahead_at_ = 0;
  char* buffer = nullptr;
  size_t capacity = 0;
  const ssize_t size = getdelim(&buffer, &capacity, '\n', file_);
  if (size > 0) {
    line.append(buffer, static_cast<size_t>(size));
  }
  std::free(buffer);
  return line;
}

bool OpenFile::end_reads() {
  const int code = errno;
  const bool is_good = std::ferror(file_) == 0;
  std::clearerr(file_);  // a file that grows has more later
  errno = code;
  return is_good;
}

std::string OpenFile::read(int64_t count, FileDecoding decoding) {
  std::string content;
  use(Last::kRead, "read", [&] {
    if (count < 0) {
      read_rest(content);
    } else {
      read_characters(content, count, decoding);
    }
    return end_reads();
  });
  if (count < 0 && decoding.line_ends == LineEnds::kTranslated) {
    translate_line_ends(content);
  }
  size_t fault = 0;
  if (decoding.is_utf8 && !is_valid_utf8(content, fault)) {
    fail("cannot read " + path_ + ": it is not UTF-8 at byte " + std::to_string(fault) + " of what was read",
         "open it with the mode 'rb', or with encoding: \"latin-1\"");
  }
  return content;
}

std::string OpenFile::read_line(FileDecoding decoding) {
  std::string line;
  use(Last::kRead, "read", [&] {
    if (decoding.line_ends != LineEnds::kPlain && take_line_ahead(line, decoding.line_ends)) {
      return true;
    }
    line = raw_line();
    const size_t end = decoding.line_ends != LineEnds::kPlain ? line.find('\r') : std::string::npos;
    if (end != std::string::npos) {  // the line ends here
      const size_t after = end + (line.compare(end, 2, "\r\n") == 0 ? 2 : 1);
      ahead_ = line.substr(after) + ahead_.substr(ahead_at_);
      ahead_at_ = 0;
      line.resize(decoding.line_ends == LineEnds::kTranslated ? end : after);
      line += decoding.line_ends == LineEnds::kTranslated ? "\n" : "";
    }
    return end_reads();
  });
  size_t fault = 0;
  if (decoding.is_utf8 && !is_valid_utf8(line, fault)) {
    fail("cannot read " + path_ + ": a line is not UTF-8 at its byte " + std::to_string(fault),
         "open it with the mode 'rb', or with encoding: \"latin-1\"");
  }
  return line;
}

void OpenFile::write(const std::string& content) {
  use(Last::kWrite, "write",
      [&] { return std::fwrite(content.data(), 1, content.size(), file_) == content.size(); });
}

int64_t OpenFile::seek(int64_t offset, int whence) {
  int64_t position = 0;
  use(Last::kNone, "seek in", [&] {
    if (whence < 0 || whence > 2) {
      errno = EINVAL;
      return false;
    }
    const off_t ahead = whence == SEEK_CUR ? static_cast<off_t>(ahead_.size() - ahead_at_) : 0;
    if (fseeko(file_, offset - ahead, whence) != 0) {
      return false;
    }
    ahead_.clear();
    ahead_at_ = 0;
    last_ = Last::kNone;
    position = ftello(file_);
    return true;
  });
  return position;
}

int64_t OpenFile::position() {
  int64_t found = 0;
  use(Last::kNone, "find the position in", [&] {
    found = ftello(file_);
    const bool is_known = found >= 0;
    found -= static_cast<int64_t>(ahead_.size() - ahead_at_);
    return is_known;
  });
  return found;
}

void OpenFile::flush() {
  use(Last::kNone, "write", [&] { return last_ != Last::kWrite || std::fflush(file_) == 0; });
}

void OpenFile::truncate(int64_t size) {
  use(Last::kNone, "truncate", [&] {
    if (!can_write_) {
      errno = EINVAL;
      return false;
    }
    return std::fflush(file_) == 0 && ftruncate(fileno(file_), size) == 0;
  });
}

void OpenFile::close() {
  bool is_written = true;
  int code = 0;
  {
    const Unlocked unlocked;
    const std::lock_guard guard(mutex_);
    if (file_ != nullptr) {
      is_written = std::fclose(std::exchange(file_, nullptr)) == 0;
      code = errno;
    }
  }
  if (!is_written) {
    fail_to("write", code);
  }
}

}  // namespace spl
