#include "host/builtins/open_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/syntax/utf8.h"
#include "host/values/error.h"
#include "host/vm/lock.h"

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
    const size_t step = utf8_step(content, fault);
    if (step == 1 && static_cast<unsigned char>(content[fault]) >= 0x80) {
      return false;
    }
    fault += step;
  }
  return true;
}

}  // namespace

OpenFile::OpenFile(std::string path, const std::string& mode) : path_(std::move(path)) {
  const OpenMode parsed = parsed_mode(mode);
  can_read_ = parsed.reads;
  can_write_ = parsed.writes;
  int descriptor = -1;
  {
    const Unlocked unlocked;  // opening a FIFO waits for its other end
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
        std::fseek(file_, 0, SEEK_CUR);
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

int OpenFile::next(FileDecoding decoding) {
  const int byte = getc_unlocked(file_);
  if (byte != '\r' || !decoding.translates_line_ends) {
    return byte;
  }
  const int after = getc_unlocked(file_);
  if (after != '\n' && after != EOF) {
    std::ungetc(after, file_);
  }
  return '\n';
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
    int64_t taken = 0;
    for (int byte = next(decoding); byte != EOF; byte = next(decoding)) {
      const bool begins_character = !decoding.is_utf8 || (byte & 0xc0) != 0x80;
      taken += begins_character ? 1 : 0;
      if (count >= 0 && taken > count) {
        std::ungetc(byte, file_);
        break;
      }
      content += static_cast<char>(byte);
    }
    return end_reads();
  });
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
    for (int byte = next(decoding); byte != EOF; byte = next(decoding)) {
      line += static_cast<char>(byte);
      if (byte == '\n') {
        break;
      }
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
    last_ = Last::kNone;
    if (fseeko(file_, offset, whence) != 0) {
      return false;
    }
    position = ftello(file_);
    return true;
  });
  return position;
}

int64_t OpenFile::position() {
  int64_t found = 0;
  use(Last::kNone, "find the position in", [&] {
    found = ftello(file_);
    return found >= 0;
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
