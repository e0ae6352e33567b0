// A file that std.io has opened.
#pragma once

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

namespace spl {

/// What ends a line: "\n" only; "\r" and "\r\n", too; or these, which are then read as "\n".
enum class LineEnds : int64_t { kPlain, kUniversal, kTranslated };

/// How the bytes of a file become text.
struct FileDecoding {
  bool is_utf8 = false;  // the bytes must be UTF-8, and counts are of characters
  LineEnds line_ends = LineEnds::kPlain;
};

class OpenFile {
 public:
  /// `mode` is one of Python's: r, w, a or x, with + and b. Fails with the path and the reason.
  OpenFile(std::string path, const std::string& mode);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const std::string& path() const { return path_; }
  /// At most `count` bytes or characters; all that remain if it is negative.
  std::string read(int64_t count, FileDecoding decoding);
  /// The next line with its end; empty at the end of the file.
  std::string read_line(FileDecoding decoding);
  void write(const std::string& content);
  int64_t seek(int64_t offset, int whence);
  int64_t position();
  void flush();
  void truncate(int64_t size);
  /// Fails if the rest of the buffer cannot be written.
  void close();

 private:
  enum class Last : uint8_t { kNone, kRead, kWrite };

  /// Runs `action` without the host lock, while no other thread uses the file; returns its result. Fails if
  /// the file is closed. `action` returns false for a failure of the system, which `doing` describes.
  template <class Action>
  void use(Last kind, const char* doing, Action action);
  /// The next byte; EOF at the end.
  int next();
  /// The same after the translation of line ends.
  int next(FileDecoding decoding);
  void put_back(int byte);
  bool take_line_ahead(std::string& line, LineEnds line_ends);
  void read_rest(std::string& content);
  void read_characters(std::string& content, int64_t count, FileDecoding decoding);
  /// The next line, to its "\n".
  std::string raw_line();
  /// Whether the last reads had no error.
  bool end_reads();
  [[noreturn]] void fail_to(const char* action, int code) const;

  std::string path_;
  std::mutex mutex_;  // taken after the host lock is released, so that a waiting thread does not keep it
  std::FILE* file_ = nullptr;
  std::string ahead_;    // bytes that were read from the file, but not returned
  size_t ahead_at_ = 0;  // the first of them
  bool can_read_, can_write_;
  Last last_ = Last::kNone;
};

}  // namespace spl
