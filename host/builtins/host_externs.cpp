// Externs of the host itself: process, files, clocks, and spec reports.
#include "host/builtins/host_externs.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "host/builtins/builtins.h"
#include "host/builtins/byte_text_externs.h"
#include "host/builtins/computed_fields.h"
#include "host/builtins/datetime_externs.h"
#include "host/builtins/digest_externs.h"
#include "host/builtins/embedding.h"
#include "host/builtins/file_externs.h"
#include "host/builtins/generator_externs.h"
#include "host/builtins/http_externs.h"
#include "host/builtins/interrupt_mark.h"
#include "host/builtins/json_externs.h"
#include "host/builtins/member_tree.h"
#include "host/builtins/plain_values.h"
#include "host/builtins/process_run.h"
#include "host/builtins/random_externs.h"
#include "host/builtins/regex_externs.h"
#include "host/builtins/sessions.h"
#include "host/builtins/signatures.h"
#include "host/builtins/socket_externs.h"
#include "host/builtins/sqlite_externs.h"
#include "host/builtins/sync_externs.h"
#include "host/builtins/tables.h"
#include "host/builtins/tokenizer_externs.h"
#include "host/builtins/unicode_externs.h"
#include "host/builtins/zlib_externs.h"
#include "host/installation.h"
#include "host/output.h"
#include "host/report.h"
#include "host/sdn/sdn_values.h"
#include "host/values/error.h"
#include "host/values/tracking.h"
#include "host/vm/cycles.h"
#include "host/vm/failure.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"
#include "host/vm/thread.h"

namespace spl {

namespace fs = std::filesystem;

ProgramInfo& program_info() {
  static ProgramInfo info;
  return info;
}

namespace {

Value args_fn(Thread&, Value*, int) {
  std::vector<Value> items;
  for (const std::string& argument : program_info().arguments) {
    items.push_back(make_text(argument));
  }
  return make_array(std::move(items));
}
Value env_get(Thread&, Value* args, int) {
  const char* value = std::getenv(expect_text(args[0], "the name").c_str());
  return value == nullptr ? Value() : make_text(value);
}
Value exit_fn(Thread&, Value* args, int) { throw ExitRequest{static_cast<int>(to_integer(args[0]))}; }

Value clock_ns(Thread&, Value*, int) {
  using namespace std::chrono;
  return Value::integer(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}
Value time_fn(Thread&, Value*, int) {
  using namespace std::chrono;
  return Value::number(duration<double>(system_clock::now().time_since_epoch()).count());
}
Value formatted_time(std::time_t seconds, Value format) {
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[256];
  const size_t size = std::strftime(text, sizeof(text), expect_text(format, "the format").c_str(), &parts);
  return make_text(std::string(text, size));
}
// The current local time, formatted by strftime().
Value local_time_text(Thread&, Value* args, int) { return formatted_time(std::time(nullptr), args[0]); }
// (format, seconds since 1970): that local time.
Value time_text(Thread&, Value* args, int) {
  return formatted_time(static_cast<std::time_t>(to_number(args[1])), args[0]);
}
Value host_name(Thread&, Value*, int) {
  char name[256] = {};
  return make_text(gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost");
}

// Sleeps in short intervals, so that SIGINT can end it.
Value sleep_fn(Thread&, Value* args, int) {
  using namespace std::chrono;
  constexpr auto kPart = duration_cast<steady_clock::duration>(milliseconds(20));
  const double seconds = to_number(args[0]);
  if (!(seconds >= 0)) {
    fail("sleep length must be non-negative");
  }
  const duration<double> whole(std::min(seconds, 1e9));
  const auto end = steady_clock::now() + duration_cast<steady_clock::duration>(whole);
  for (auto now = steady_clock::now(); now < end; now = steady_clock::now()) {
    {
      const Unlocked unlocked;
      std::this_thread::sleep_for(std::min(kPart, end - now));
    }
    if (host_lock().wanted()) {
      safepoint();
    }
  }
  return Value();
}

Value file_exists(Thread&, Value* args, int) {
  std::error_code ignored;
  return Value::boolean(fs::exists(expect_text(args[0], "the path"), ignored));
}
Value is_folder(Thread&, Value* args, int) {
  std::error_code ignored;
  return Value::boolean(fs::is_directory(expect_text(args[0], "the path"), ignored));
}
Value file_size(Thread&, Value* args, int) {
  const std::string& path = expect_text(args[0], "the path");
  std::error_code problem;
  const auto size = fs::file_size(path, problem);
  if (problem) {
    fail("cannot read the size of " + path + ": " + problem.message());
  }
  return Value::integer(static_cast<int64_t>(size));
}
// Library code calls it between the steps of a long loop, where no handle is without an owner.
Value stop_if_interrupted(Thread&, Value*, int) {
  safepoint();
  return Value();
}
Value executable(Thread&, Value*, int) {
  std::error_code problem;
  const fs::path path = fs::read_symlink("/proc/self/exe", problem);
  return make_text(problem ? "" : path.string());
}
Value installation(Thread&, Value*, int) { return make_text(installation_folder()); }
Value read_text(Thread&, Value* args, int) {
  const std::string& path = expect_text(args[0], "the path");
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    fail("cannot read " + path + ": it is a directory");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail("cannot read " + path + ": " + std::strerror(errno));
  }
  std::ostringstream content;
  content << file.rdbuf();
  return make_text(content.str());
}
Value write_text(Thread&, Value* args, int) {
  const std::string& path = expect_text(args[0], "the path");
  const std::string& content = expect_text(args[1], "the content");
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) {
    fail("cannot write " + path + ": " + std::strerror(errno));
  }
  return Value();
}
Value list_dir(Thread&, Value* args, int) {
  const std::string& path = expect_text(args[0], "the path");
  std::error_code problem;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(path, problem), end; !problem && entry != end; entry.increment(problem)) {
    names.push_back(entry->path().filename().string());
  }
  if (problem) {
    fail("cannot read the directory " + path + ": " + problem.message());
  }
  std::sort(names.begin(), names.end());
  std::vector<Value> items;
  items.reserve(names.size());
  for (std::string& name : names) {
    items.push_back(make_text(std::move(name)));
  }
  return make_array(std::move(items));
}
Value cwd(Thread&, Value*, int) { return make_text(fs::current_path().string()); }
Value stdout_is_tty(Thread&, Value*, int) { return Value::boolean(isatty(STDOUT_FILENO) == 1); }
Value flush(Thread&, Value*, int) {
  flush_output();
  return Value();
}
Value program(Thread&, Value*, int) { return make_text(program_info().path); }
Value getpid_fn(Thread&, Value*, int) { return Value::integer(getpid()); }
Value rss_bytes(Thread&, Value*, int) {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return Value::integer(resident * sysconf(_SC_PAGESIZE));
}
Value spec_filter(Thread&, Value*, int) { return make_text(program_info().spec_filter); }
Value spec_report(Thread&, Value* args, int) {
  ProgramInfo& info = program_info();
  info.passed += to_integer(args[0]);
  info.failed += to_integer(args[1]);
  info.skipped += to_integer(args[2]);
  info.pending += to_integer(args[3]);
  return Value();
}

Value verbose_fn(Thread&, Value*, int) { return Value::boolean(program_info().verbose); }
Value spec_failure(Thread&, Value* args, int) {
  program_info().failures.push_back({display(args[0]) + ": " + display(args[1]), display(args[2])});
  return Value();
}
// The current location outside the library: FILE:LINE.
Value user_location(Thread& thread, Value*, int) {
  SimpleError here("");
  here.stack = thread.stack();
  const StackEntry* entry = user_entry(here);
  return make_text(entry == nullptr ? "" : entry->file + ":" + std::to_string(entry->line));
}

Value collect(Thread&, Value*, int) { return Value::integer(collect_cycles()); }
Value tracked_count(Thread&, Value*, int) { return Value::integer(tracked().count); }

const SimpleError& failure_argument(Value array) {
  const auto* wrapper = array.is(Kind::kArray) ? as_object<Array>(array) : nullptr;
  const SimpleError* error =
      wrapper != nullptr && wrapper->items.size() == 1 ? error_behind(wrapper->items[0]) : nullptr;
  if (error == nullptr) {
    fail("expected an array with one Failure from attempt()");
  }
  return *error;
}

Value without_first_line(const std::string& report) {
  return make_text(report.substr(std::min(report.find('\n') + 1, report.size())));
}

// The error report of a failure without its first line, which has the location and the message.
Value failure_report(Thread&, Value* args, int) {
  return without_first_line(report_of(failure_argument(args[0]), program_info().verbose));
}

// Fails with a message and the value in args[1], an array of one.
Value raise_value(Thread&, Value* args, int) {
  SimpleError error(text_of(args[0]));
  error.payload = Ref::shared(as_object<Array>(args[1])->items.at(0));
  throw error;
}

// "index", "division", "value", "arguments", or an empty text for other failures.
Value failure_class(Thread&, Value* args, int) {
  switch (failure_argument(args[0]).error_class) {
    case ErrorClass::kIndexOutOfRange:
      return make_text("index");
    case ErrorClass::kKey:
      return make_text("key");
    case ErrorClass::kDivisionByZero:
      return make_text("division");
    case ErrorClass::kValue:
      return make_text("value");
    case ErrorClass::kArguments:
      return make_text("arguments");
    case ErrorClass::kOther:
      break;
  }
  return make_text("");
}

// The report for a failure that propagates into another language. The outermost calls, as many as args[1]
// (from rt_call_depth), are omitted. Empty if only calls of the library remain.
Value inner_failure_report(Thread&, Value* args, int) {
  SimpleError inner = failure_argument(args[0]);
  const auto outer = std::min(inner.stack.size(), static_cast<size_t>(std::max<int64_t>(args[1].as_int, 0)));
  inner.stack.resize(inner.stack.size() - outer);
  if (std::all_of(inner.stack.begin(), inner.stack.end(),
                  [](const StackEntry& call) { return call.library; })) {
    return make_text("");
  }
  return without_first_line(note_of(inner));
}

// [the result of the method `args[1]` of `args[0][0]`], for the arguments `args[2]`.
Value call_method_by_name(Thread& thread, Value* args, int) {
  const Ref object = Ref::shared(as_object<Array>(args[0])->items[0]);
  const Ref arguments = Ref::shared(args[2]);
  std::vector<Value> values;
  for (const Value value : as_object<Array>(arguments.get())->items) {
    values.push_back(value);
  }
  const Symbol name = intern(expect_text(args[1], "the method's name"));
  const Value result = thread.call_method(object.get(), name, values.data(), static_cast<int>(values.size()));
  return make_array({result});
}

Value call_depth(Thread& thread, Value*, int) { return Value::integer(thread.stack_size()); }

// A tuple of the items; a named tuple if there are names.
Value tuple_of(Thread&, Value* args, int) {
  if (!args[0].is(Kind::kArray) || !args[1].is(Kind::kArray)) {
    fail("rt_tuple: arguments must be an array of items and an array of names, got " + type_name(args[0]) +
         " and " + type_name(args[1]));
  }
  const auto& elements = as_object<Array>(args[0])->items;
  std::vector<Value> items(elements.begin(), elements.end());
  const auto& names = as_object<Array>(args[1])->items;
  if (!names.empty() && names.size() != items.size() && names.size() != items.size() + 1) {
    fail("rt_tuple: got " + std::to_string(names.size()) + " names for " + std::to_string(items.size()) +
         " items");
  }
  std::vector<Symbol> symbols;
  symbols.reserve(names.size());
  for (const Value name : names) {
    symbols.push_back(intern(expect_text(name, "a name")));
  }
  for (const Value item : items) {
    retained(item);
  }
  const Value tuple = make_tuple(std::move(items));
  as_object<Tuple>(tuple)->names = std::move(symbols);
  return tuple;
}

// (an array of the value, format spec): the value as in "{value:spec}".
Value formatted_value(Thread&, Value* args, int) {
  return make_text(format_value(element(args[0]), expect_text(args[1], "format: the spec")));
}

// The names of a tuple, which is passed in an array; empty for an unnamed tuple.
Value tuple_names(Thread&, Value* args, int) {
  const auto* wrapper = args[0].is(Kind::kArray) ? as_object<Array>(args[0]) : nullptr;
  if (wrapper == nullptr || wrapper->items.size() != 1 || !wrapper->items[0].is(Kind::kTuple)) {
    fail("rt_tuple_names: argument must be an array of one tuple");
  }
  std::vector<Value> names;
  const auto* tuple = as_object<Tuple>(wrapper->items[0]);
  for (size_t i = 0; i < std::min(tuple->names.size(), tuple->items.size()); ++i) {
    names.push_back(make_text(name_of(tuple->names[i])));
  }
  return make_array(std::move(names));
}

const NativeEntry kExterns[] = {
    {"rt_args", args_fn, 0, 0},
    {"rt_env_get", env_get, 1, 1},
    {"rt_exit", exit_fn, 1, 1},
    {"rt_clock_ns", clock_ns, 0, 0},
    {"rt_time", time_fn, 0, 0},
    {"rt_local_time_text", local_time_text, 1, 1},
    {"rt_time_text", time_text, 2, 2},
    {"rt_host_name", host_name, 0, 0},
    {"rt_sleep", sleep_fn, 1, 1},
    {"rt_file_exists", file_exists, 1, 1},
    {"rt_is_folder", is_folder, 1, 1},
    {"rt_read_text", read_text, 1, 1},
    {"rt_write_text", write_text, 2, 2},
    {"rt_list_dir", list_dir, 1, 1},
    {"rt_cwd", cwd, 0, 0},
    {"rt_stdout_is_tty", stdout_is_tty, 0, 0},
    {"rt_flush", flush, 0, 0},
    {"rt_program", program, 0, 0},
    {"rt_getpid", getpid_fn, 0, 0},
    {"rt_rss_bytes", rss_bytes, 0, 0},
    {"rt_spec_filter", spec_filter, 0, 0},
    {"rt_spec_report", spec_report, 4, 4},
    {"rt_verbose", verbose_fn, 0, 0},
    {"rt_collect_cycles", collect, 0, 0},
    {"rt_tracked_objects", tracked_count, 0, 0},
    {"rt_sdn_parse", sdn_parse, 1, 1},
    {"rt_run_process", process_run, 2, 2},
    {"rt_process_execute", process_execute, 1, 1},
    {"rt_interrupt_mark_begin", interrupt_mark_begin, 0, 0},
    {"rt_interrupt_mark_end", interrupt_mark_end, 0, 0},
    {"rt_interrupt_mark_is_set", interrupt_mark_is_set, 0, 0},
    {"rt_safepoint", stop_if_interrupted, 0, 0},
    {"rt_file_size", file_size, 1, 1},
    {"rt_executable", executable, 0, 0},
    {"rt_installation", installation, 0, 0},
    {"rt_spec_failure", spec_failure, 3, 3},
    {"rt_user_location", user_location, 0, 0},
    {"rt_tuple", tuple_of, 2, 2},
    {"rt_format", formatted_value, 2, 2},
    {"rt_csv_records", csv_records, 2, 2},
    {"rt_is_utf8", is_utf8, 1, 1},
    {"rt_numbers_in", numbers_in, 3, 3},
    {"rt_text_of_latin1", text_of_latin1, 1, 1},
    {"rt_tuple_names", tuple_names, 1, 1},
    {"rt_failure_report", failure_report, 1, 1},
    {"rt_failure_class", failure_class, 1, 1},
    {"rt_raise", raise_value, 2, 2},
    {"rt_inner_failure_report", inner_failure_report, 2, 2},
    {"rt_call_depth", call_depth, 0, 0},
    {"rt_call_method", call_method_by_name, 3, 3},
};

}  // namespace

void install_host_externs() {
  add_host_externs(kExterns);
  add_host_externs(embedding_externs());
  add_host_externs(member_tree_externs());
  add_host_externs(signature_externs());
  add_host_externs(session_externs());
  add_host_externs(generator_externs());
  add_host_externs(plain_value_externs());
  add_host_externs(computed_field_externs());
  add_host_externs(random_externs());
  add_host_externs(json_externs());
  add_host_externs(regex_externs());
  add_host_externs(datetime_externs());
  add_host_externs(tokenizer_externs());
  add_host_externs(unicode_externs());
  add_host_externs(file_externs());
  add_host_externs(digest_externs());
  add_host_externs(byte_text_externs());
  add_host_externs(zlib_externs());
  add_host_externs(http_externs());
  add_host_externs(socket_externs());
  add_host_externs(sqlite_externs());
  add_host_externs(sync_externs());
}

}  // namespace spl
