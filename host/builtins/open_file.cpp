#include "host/builtins/open_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

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
    fail_to("open");
  }
  char probe = 0;
  if (parsed.reads && ::read(descriptor, &probe, 0) < 0 && errno == EISDIR) {
    std::fclose(file_);
    errno = EISDIR;
    fail_to("open");
  }
}

OpenFile::~OpenFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
  }
}

void OpenFile::fail_to(const char* action) const {
  fail(std::string("cannot ") + action + " " + path_ + ": " + std::strerror(errno));
}

// The C library requires a seek between reading and writing.
void OpenFile::begin(Last action) {
  if (file_ == nullptr) {
    fail("I/O operation on closed file " + path_);
  }
  if (action == Last::kRead && !can_read_) {
    fail("cannot read " + path_ + ": it is not open for reading");
  }
  if (action == Last::kWrite && !can_write_) {
    fail("cannot write " + path_ + ": it is not open for writing");
  }
  if (action != Last::kNone && last_ != Last::kNone && action != last_) {
    std::fseek(file_, 0, SEEK_CUR);
  }
  last_ = action == Last::kNone ? last_ : action;
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

void OpenFile::check_read() {
  if (std::ferror(file_) != 0) {
    std::clearerr(file_);
    fail_to("read");
  }
  std::clearerr(file_);  // a file that grows has more later
}

std::string OpenFile::read(int64_t count, FileDecoding decoding) {
  begin(Last::kRead);
  std::string content;
  {
    const Unlocked unlocked;
    const auto is_first_byte = [&](int byte) { return !decoding.is_utf8 || (byte & 0xc0) != 0x80; };
    int64_t taken = 0;
    for (int byte = next(decoding); byte != EOF; byte = next(decoding)) {
      taken += is_first_byte(byte) ? 1 : 0;
      if (count >= 0 && taken > count) {
        std::ungetc(byte, file_);
        break;
      }
      content += static_cast<char>(byte);
    }
  }
  check_read();
  size_t fault = 0;
  if (decoding.is_utf8 && !is_valid_utf8(content, fault)) {
    fail("cannot read " + path_ + ": it is not UTF-8 at byte " + std::to_string(fault) + " of what was read",
         "open it with the mode 'rb', or with encoding: \"latin-1\"");
  }
  return content;
}

std::string OpenFile::read_line(FileDecoding decoding) {
  begin(Last::kRead);
  std::string line;
  {
    const Unlocked unlocked;
    for (int byte = next(decoding); byte != EOF; byte = next(decoding)) {
      line += static_cast<char>(byte);
      if (byte == '\n') {
        break;
      }
    }
  }
  check_read();
  size_t fault = 0;
  if (decoding.is_utf8 && !is_valid_utf8(line, fault)) {
    fail("cannot read " + path_ + ": a line is not UTF-8 at its byte " + std::to_string(fault),
         "open it with the mode 'rb', or with encoding: \"latin-1\"");
  }
  return line;
}

void OpenFile::write(const std::string& content) {
  begin(Last::kWrite);
  size_t written = 0;
  {
    const Unlocked unlocked;
    written = std::fwrite(content.data(), 1, content.size(), file_);
  }
  if (written != content.size()) {
    fail_to("write");
  }
}

int64_t OpenFile::seek(int64_t offset, int whence) {
  begin(Last::kNone);
  if (whence < 0 || whence > 2 || fseeko(file_, offset, whence) != 0) {
    errno = whence < 0 || whence > 2 ? EINVAL : errno;
    fail_to("seek in");
  }
  last_ = Last::kNone;
  return position();
}

int64_t OpenFile::position() {
  begin(Last::kNone);
  const off_t position = ftello(file_);
  if (position < 0) {
    fail_to("find the position in");
  }
  return position;
}

void OpenFile::flush() {
  begin(Last::kNone);
  if (last_ == Last::kWrite && std::fflush(file_) != 0) {
    fail_to("write");
  }
}

void OpenFile::truncate(int64_t size) {
  begin(Last::kNone);
  std::fflush(file_);
  if (!can_write_ || ftruncate(fileno(file_), size) != 0) {
    errno = can_write_ ? errno : EINVAL;
    fail_to("truncate");
  }
}

void OpenFile::close() {
  if (file_ == nullptr) {
    return;
  }
  if (std::fclose(std::exchange(file_, nullptr)) != 0) {
    fail_to("write");
  }
}

}  // namespace spl
