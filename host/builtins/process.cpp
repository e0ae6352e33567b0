// The natives behind simple/std: process, time, files, and the tally of specs.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <unordered_map>

#include "builtins.h"
#include "methods.h"

namespace spl {
namespace {

using Clock = std::chrono::steady_clock;

std::string reason() { return std::strerror(errno); }

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Value read_text(Thread&, Value* args, int) {
  const std::string& path = text_argument(args[0], "read_text");
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) fail("cannot read '" + path + "': " + reason());
  std::string content;
  char part[1 << 14];
  for (size_t got; (got = std::fread(part, 1, sizeof part, file.get())) > 0;) content.append(part, got);
  if (std::ferror(file.get()) != 0) fail("cannot read '" + path + "': " + reason());
  return make_text(std::move(content));
}

Value write_text(Thread&, Value* args, int) {
  const std::string& path = text_argument(args[0], "write_text");
  const std::string& content = text_argument(args[1], "write_text");
  File file(std::fopen(path.c_str(), "wb"));
  const bool written = file != nullptr && std::fwrite(content.data(), 1, content.size(), file.get()) == content.size() &&
                       std::fclose(file.release()) == 0;
  if (!written) fail("cannot write '" + path + "': " + reason());
  return Value::nil();
}

Value list_dir(Thread&, Value* args, int) {
  const std::string& path = text_argument(args[0], "list_dir");
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) fail("cannot read the folder '" + path + "': " + reason());
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  std::vector<Value> items;
  for (std::string& name : names) items.push_back(make_text(std::move(name)));
  return make_array(std::move(items));
}

Value env_get(Thread&, Value* args, int) {
  const char* value = std::getenv(text_argument(args[0], "env").c_str());
  return value == nullptr ? Value::nil() : make_text(value);
}

Value args(Thread&, Value*, int) {
  std::vector<Value> words;
  for (const std::string& word : program_arguments().words) words.push_back(make_text(word));
  return make_array(std::move(words));
}

Value cwd(Thread&, Value*, int) {
  char path[4096];
  if (getcwd(path, sizeof path) == nullptr) fail("the current folder cannot be named: " + reason());
  return make_text(path);
}

/// Pages in memory, by the kernel's count (Linux).
Value rss_bytes(Thread&, Value*, int) {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0;
  if (!(statm >> size >> resident)) fail("the kernel does not tell how much memory is used");
  return Value::integer(resident * sysconf(_SC_PAGESIZE));
}

Value file_exists(Thread&, Value* args, int) {
  struct stat facts {};
  return Value::boolean(stat(text_argument(args[0], "exists").c_str(), &facts) == 0);
}

Value spec_report(Thread&, Value* args, int) {
  SpecTotals& totals = spec_totals();
  totals.passed += int_argument(args[0], "rt_spec_report");
  totals.failed += int_argument(args[1], "rt_spec_report");
  totals.skipped += int_argument(args[2], "rt_spec_report");
  totals.pending += int_argument(args[3], "rt_spec_report");
  return Value::nil();
}

Value clock_ns(Thread&, Value*, int) {
  const auto now = Clock::now().time_since_epoch();
  return Value::integer(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

Value time_now(Thread&, Value*, int) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Value::number(std::chrono::duration<double>(now).count());
}

const std::unordered_map<std::string, const Native*>& table() {
  static const auto natives = [] {
    std::unordered_map<std::string, const Native*> made;
    const auto add = [&made](const char* name, int count, NativeFn fn) { made[name] = new Native(name, fn, count, count); };
    add("rt_args", 0, args);
    add("rt_program", 0, [](Thread&, Value*, int) { return make_text(program_arguments().program); });
    add("rt_env_get", 1, env_get);
    add("rt_cwd", 0, cwd);
    add("rt_getpid", 0, [](Thread&, Value*, int) { return Value::integer(getpid()); });
    add("rt_rss_bytes", 0, rss_bytes);
    add("rt_exit", 1, [](Thread&, Value* a, int) -> Value { throw ExitRequest{static_cast<int>(int_argument(a[0], "exit"))}; });
    add("rt_clock_ns", 0, clock_ns);
    add("rt_time", 0, time_now);
    add("rt_file_exists", 1, file_exists);
    add("rt_read_text", 1, read_text);
    add("rt_write_text", 2, write_text);
    add("rt_list_dir", 1, list_dir);
    add("rt_stdout_is_tty", 0, [](Thread&, Value*, int) { return Value::boolean(isatty(STDOUT_FILENO) != 0); });
    add("rt_flush", 0, [](Thread&, Value*, int) { std::fflush(stdout); return Value::nil(); });
    add("rt_spec_report", 4, spec_report);
    add("rt_spec_filter", 0, [](Thread&, Value*, int) { return make_text(program_arguments().spec_filter); });
    return made;
  }();
  return natives;
}

}  // namespace

const Native* host_extern(const std::string& name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : found->second;
}

SpecTotals& spec_totals() {
  static SpecTotals totals;
  return totals;
}

ProgramArguments& program_arguments() {
  static ProgramArguments arguments;
  return arguments;
}

}  // namespace spl
