// The command line of simple-host.
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "host/builtins/host_externs.h"
#include "host/ffi/libraries.h"
#include "host/interrupts/interrupts.h"
#include "host/malloc_tuning.h"
#include "host/modules/loader.h"
#include "host/output.h"
#include "host/report.h"
#include "host/startup.h"
#include "host/vm/cycles.h"
#include "host/vm/lock.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"

namespace {

using namespace spl;
namespace fs = std::filesystem;

const char kHelp[] =
    "usage: simple-host [--verbose] FILE [ARGUMENTS]   run a .spl file\n"
    "       simple-host [--verbose] run FILE [ARGUMENTS]\n"
    "       simple-host -e CODE                        run statements; ; separates them\n"
    "       simple-host test [PATHS] [--filter TEXT]   run *_spec.spl files\n"
    "       simple-host --version | --help\n";

// Prints the error and returns the exit code. The report calls methods of the error's payload, which an
// interrupt ends, too.
int report_error(const SimpleError& error) {
  try {
    if (const auto code = exit_code_of(error)) {
      return *code;
    }
    flush_or_note();
    std::fputs(report_of(error, program_info().verbose).c_str(), stderr);
    note_shown(error);
  } catch (const ExitRequest& request) {
    program_info().called_exit = true;
    return request.code;
  }
  return 1;
}

// Runs `body`, prints its errors and returns the exit code.
template <class Body>
int guarded(Body&& body) {
  try {
    return body();
  } catch (const SimpleError& error) {
    return report_error(error);
  } catch (const LoadError& error) {
    flush_or_note();
    std::fputs(error.report.c_str(), stderr);
  } catch (const ExitRequest& request) {
    program_info().called_exit = true;
    return request.code;
  } catch (const std::exception& error) {
    flush_or_note();
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  return 1;
}

bool is_call_of_main(const Expr& expr) {
  if (expr.kind != ExprKind::kCall) {
    return false;
  }
  const Expr& callee = *as<CallExpr>(expr).callee;
  return callee.kind == ExprKind::kName && name_of(as<NameExpr>(callee).name) == "main";
}

// Whether the statements call main(), also within `if`, as in `if __name__ == "__main__":`.
bool call_main(const std::vector<StmtPtr>& statements) {
  return std::any_of(statements.begin(), statements.end(), [](const StmtPtr& stmt) {
    if (stmt->kind == StmtKind::kBind || stmt->kind == StmtKind::kAssign) {
      const ExprPtr& value =
          stmt->kind == StmtKind::kBind ? as<BindStmt>(*stmt).value : as<AssignStmt>(*stmt).value;
      return value != nullptr && is_call_of_main(*value);
    }
    if (stmt->kind != StmtKind::kExpr) {
      return false;
    }
    const Expr& value = *as<ExprStmt>(*stmt).value;
    if (value.kind != ExprKind::kIf) {
      return is_call_of_main(value);
    }
    const auto& branches = as<IfExpr>(value);
    return std::any_of(branches.clauses.begin(), branches.clauses.end(),
                       [](const IfClause& clause) { return call_main(clause.body.statements); }) ||
           (branches.otherwise && call_main(branches.otherwise->statements));
  });
}

// The declaration of main(), which may be decorated; null without one.
const FunctionDecl* declared_main(const LoadedModule& module) {
  for (const auto& stmt : module.tree().module.statements) {
    if (stmt->kind == StmtKind::kFunction && name_of(as<FunctionDecl>(*stmt).info.name) == "main") {
      return &as<FunctionDecl>(*stmt);
    }
  }
  return nullptr;
}

// Calls the program's main() unless its statements do. A parameter receives the program's arguments; an
// integer result is the exit code.
int run_main(LoadedModule& module) {
  const auto found = module.names.find(intern("main"));
  const FunctionDecl* declared = declared_main(module);
  const bool is_function =
      found != module.names.end() && (declared != nullptr || module.slots[found->second].is(Kind::kClosure));
  if (!is_function || call_main(module.tree().module.statements)) {
    return 0;
  }
  std::vector<Value> arguments;
  for (const std::string& argument : program_info().arguments) {
    arguments.push_back(make_text(argument));
  }
  const Ref array = Ref::owned(make_array(std::move(arguments)));
  const Value entry = module.slots[found->second];
  const bool has_parameter =
      declared != nullptr ? !declared->params.empty() : !as_object<Closure>(entry)->proto->parameters.empty();
  const Value argument = array.get();
  const Ref called = Ref::owned(current_thread().call(entry, &argument, has_parameter ? 1 : 0));
  const Ref result = Ref::owned(awaited(called.get()));
  return result.get().is_int() ? static_cast<int>(result.get().as_int) : 0;
}

// Runs main() and releases the program's variables, unless other threads may still use them.
int run_to_end(LoadedModule& module) {
  const int code = run_main(module);
  if (!host_lock().shared()) {
    module.release_variables();
    collect_cycles();
  }
  report_unseen_failures();
  return code;
}

int run_file(const std::string& path) {
  return guarded([&] { return run_to_end(load_program(path)); });
}

int run_code(const std::string& code) {
  return guarded([&] { return run_to_end(load_source("command line", code)); });
}

void collect_specs(const std::string& path, std::vector<std::string>& files) {
  if (!fs::is_directory(path)) {
    files.push_back(path);
    return;
  }
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file() && entry.path().string().ends_with("_spec.spl")) {
      found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

// `bin/simple test` reads the last line. The line `Results:` is printed only if an example ran.
void print_totals(const ProgramInfo& info) {
  if (!info.failures.empty()) {
    std::printf("\nFailures:\n");
  }
  for (const auto& failure : info.failures) {
    std::printf("  %s\n    %s\n", failure.example.c_str(), failure.message.c_str());
  }
  const auto number = [](int64_t n) { return static_cast<long long>(n); };
  const int64_t total = info.passed + info.failed + info.skipped + info.pending;
  std::printf("\n");
  if (total != 0) {
    std::printf("Results: %lld total, %lld passed, %lld failed\n", number(total), number(info.passed),
                number(info.failed));
  }
  if (info.pending != 0) {
    std::printf("%lld pending\n", number(info.pending));
  }
  std::printf("%lld passed, %lld failed, %lld skipped\n", number(info.passed), number(info.failed),
              number(info.skipped));
}

int run_specs(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  ProgramInfo& info = program_info();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--filter" && i + 1 == arguments.size()) {
      return std::fputs("error: --filter: expected an argument\n", stderr), 2;
    }
    if (arguments[i] == "--filter") {
      info.spec_filter = arguments[++i];
    } else if (fs::exists(arguments[i])) {
      collect_specs(arguments[i], files);
    } else {
      return std::fprintf(stderr, "error: no such file or directory: %s\n", arguments[i].c_str()), 2;
    }
  }
  if (files.empty() && (arguments.empty() || arguments[0] == "--filter")) {
    collect_specs(".", files);
  }
  for (const std::string& file : files) {
    info.path = file;
    info.called_exit = false;
    const int code = run_file(file);
    if (code == kInterruptedCode) {
      return code;
    }
    if (info.called_exit) {
      info.failures.push_back(
          {file, "exit(" + std::to_string(code) + ") called: the rest of the file did not run"});
    }
    if (info.called_exit || code != 0) {
      ++info.failed;
    }
  }
  print_totals(info);
  return info.failed == 0 ? 0 : 1;
}

int dispatch(std::vector<std::string> arguments) {
  while (!arguments.empty() && arguments[0] == "--verbose") {
    program_info().verbose = true;
    arguments.erase(arguments.begin());
  }
  const bool is_command = !arguments.empty() && (arguments[0] == "run" || arguments[0] == "test");
  if (const size_t first = is_command && arguments.size() > 1 ? 1 : 0;
      arguments.empty() || arguments[first] == "--help" || arguments[first] == "-h") {
    std::fputs(kHelp, arguments.empty() ? stderr : stdout);
    return arguments.empty() ? 2 : 0;
  }
  if (arguments[0] == "--version") {
    std::printf("simple-host %s\n", SPL_VERSION);
    return 0;
  }
  ProgramInfo& info = program_info();
  if (arguments[0] == "-e") {
    if (arguments.size() < 2) {
      return std::fputs("error: -e: expected an argument\n", stderr), 2;
    }
    info.arguments.assign(arguments.begin() + 2, arguments.end());
    return run_code(arguments[1]);
  }
  if (arguments[0] == "test") {
    return run_specs({arguments.begin() + 1, arguments.end()});
  }
  if (arguments[0] == "run") {
    arguments.erase(arguments.begin());
  }
  if (arguments.empty()) {
    return std::fputs(kHelp, stderr), 2;
  }
  if (arguments[0].starts_with("--")) {
    return std::fprintf(stderr, "error: unknown option %s; see --help\n", arguments[0].c_str()), 2;
  }
  if (arguments[0].find_first_of("./") == std::string::npos && !fs::exists(arguments[0])) {
    return std::fprintf(stderr, "error: no command or file named '%s'\n\n%s", arguments[0].c_str(), kHelp), 2;
  }
  info.path = arguments[0];
  info.arguments.assign(arguments.begin() + 1, arguments.end());
  const int code = run_file(arguments[0]);
  return code == 0 && info.failed != 0 ? 1 : code;  // a spec run as a program
}

}  // namespace

int main(int count, char** arguments) {
  tune_malloc();
  note_pipe_signal();
  const char* setting = std::getenv("SIMPLE_VERBOSE");
  program_info().verbose = setting != nullptr && std::strcmp(setting, "1") == 0;
  host_lock().acquire();
  static Thread main_thread;
  install_components();
  install_interrupt_handler();
  pthread_atfork(flush_or_note, nullptr, nullptr);  // or the child would print it again
  int code = dispatch({arguments + 1, arguments + count});
  if (code == 0) {
    code = guarded([] {
      flush_output();
      return 0;
    });
  }
  {
    const Unlocked unlocked;
    notify_libraries_of_exit();
  }
  code = flush_at_end(code);
  std::fflush(nullptr);
  // Without destructors: other threads, native libraries and Python may still be running.
  std::_Exit(code);
}
