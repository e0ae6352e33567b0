#include "host/builtins/file_externs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "host/builtins/builtins.h"
#include "host/builtins/numbered_objects.h"
#include "host/builtins/open_file.h"
#include "host/values/error.h"

namespace spl {
namespace {

using OpenFiles = NumberedObjects<OpenFile>;

std::shared_ptr<OpenFile> open_file(Value number) {
  return OpenFiles::all().get(number, "I/O operation on closed file");
}

const std::string& path_argument(Value path) {
  const std::string& text = expect_text(path, "the path");
  if (text.find('\0') != std::string::npos) {
    fail("the path contains a character with code 0");
  }
  return text;
}

[[noreturn]] void fail_at_path(const char* action, const std::string& path, int code) {
  fail(std::string("cannot ") + action + " " + path + ": " + std::strerror(code));
}

Value file_open(Thread&, Value* args, int) {
  return OpenFiles::all().insert(
      std::make_shared<OpenFile>(path_argument(args[0]), expect_text(args[1], "open: the mode")));
}

FileDecoding decoding_of(Value* args) {
  return {truthy(args[0]), static_cast<LineEnds>(to_integer(args[1]))};
}

// (file, count, is_utf8, LineEnds)
Value file_read(Thread&, Value* args, int) {
  return make_text(open_file(args[0])->read(to_integer(args[1]), decoding_of(args + 2)));
}
// (file, is_utf8, LineEnds)
Value file_read_line(Thread&, Value* args, int) {
  return make_text(open_file(args[0])->read_line(decoding_of(args + 1)));
}
Value file_write(Thread&, Value* args, int) {
  open_file(args[0])->write(expect_text(args[1], "write: the content"));
  return Value();
}
Value file_seek(Thread&, Value* args, int) {
  return Value::integer(open_file(args[0])->seek(to_integer(args[1]), static_cast<int>(to_integer(args[2]))));
}
Value file_position(Thread&, Value* args, int) { return Value::integer(open_file(args[0])->position()); }
Value file_flush(Thread&, Value* args, int) {
  open_file(args[0])->flush();
  return Value();
}
Value file_truncate(Thread&, Value* args, int) {
  open_file(args[0])->truncate(to_integer(args[1]));
  return Value();
}
Value file_close(Thread&, Value* args, int) {
  if (const std::shared_ptr<OpenFile> file = OpenFiles::all().remove(args[0])) {
    file->close();
  }
  return Value();
}

// (folder, prefix, suffix): the path of a new file that only this user may read.
Value temporary_file(Thread&, Value* args, int) {
  const std::string& suffix = expect_text(args[2], "the suffix");
  std::string path = path_argument(args[0]) + "/" + expect_text(args[1], "the prefix") + "XXXXXX" + suffix;
  const int descriptor = mkstemps(path.data(), static_cast<int>(suffix.size()));
  if (descriptor < 0) {
    fail_at_path("make a temporary file", path, errno);
  }
  ::close(descriptor);
  return make_text(path);
}
Value temporary_folder(Thread&, Value* args, int) {
  std::string path = path_argument(args[0]) + "/" + expect_text(args[1], "the prefix") + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    fail_at_path("make a temporary folder", path, errno);
  }
  return make_text(path);
}

// (path, follows links): [size, seconds of the last change, mode]; empty if there is none.
Value file_status(Thread&, Value* args, int) {
  const std::string& path = path_argument(args[0]);
  struct stat status {};
  const int failed = truthy(args[1]) ? stat(path.c_str(), &status) : lstat(path.c_str(), &status);
  if (failed != 0 && errno != ENOENT && errno != ENOTDIR) {
    fail_at_path("read the status of", path, errno);
  }
  if (failed != 0) {
    return make_array({});
  }
  const double seconds =
      static_cast<double>(status.st_mtim.tv_sec) + static_cast<double>(status.st_mtim.tv_nsec) * 1e-9;
  return make_array({Value::integer(status.st_size), Value::number(seconds), Value::integer(status.st_mode)});
}

Value copy_file(Thread&, Value* args, int) {
  const std::string& source = path_argument(args[0]);
  const std::string& target = path_argument(args[1]);
  std::error_code problem;
  std::filesystem::copy_file(source, target, std::filesystem::copy_options::overwrite_existing, problem);
  if (problem) {
    fail("cannot copy " + source + " to " + target + ": " + problem.message());
  }
  return Value();
}

// Removes a file, or a folder with all that is in it. Links are removed, not followed.
Value remove_tree(Thread&, Value* args, int) {
  const std::string& path = path_argument(args[0]);
  std::error_code problem;
  if (std::filesystem::remove_all(path, problem) == 0 && !problem) {
    problem = std::make_error_code(std::errc::no_such_file_or_directory);
  }
  if (problem) {
    fail("cannot remove " + path + ": " + problem.message());
  }
  return Value();
}

Value touch_file(Thread&, Value* args, int) {
  const std::string& path = path_argument(args[0]);
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  const bool is_touched = descriptor >= 0 && futimens(descriptor, nullptr) == 0;
  const int code = errno;
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  if (!is_touched) {
    fail_at_path("touch", path, code);
  }
  return Value();
}

constexpr NativeEntry kFileExterns[] = {
    {"rt_file_open", file_open, 2, 2},
    {"rt_file_read", file_read, 4, 4},
    {"rt_file_read_line", file_read_line, 3, 3},
    {"rt_file_write", file_write, 2, 2},
    {"rt_file_seek", file_seek, 3, 3},
    {"rt_file_position", file_position, 1, 1},
    {"rt_file_flush", file_flush, 1, 1},
    {"rt_file_truncate", file_truncate, 2, 2},
    {"rt_file_close", file_close, 1, 1},
    {"rt_temporary_file", temporary_file, 3, 3},
    {"rt_temporary_folder", temporary_folder, 2, 2},
    {"rt_file_status", file_status, 2, 2},
    {"rt_copy_file", copy_file, 2, 2},
    {"rt_remove_tree", remove_tree, 1, 1},
    {"rt_touch_file", touch_file, 1, 1},
};

}  // namespace

std::span<const NativeEntry> file_externs() { return kFileExterns; }

}  // namespace spl
