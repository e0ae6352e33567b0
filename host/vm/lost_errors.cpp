#include "host/vm/lost_errors.h"

#include <array>

#include "host/interrupts/scopes.h"
#include "host/output.h"
#include "host/vm/failure.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"

namespace spl {
namespace {

Value lost_error_function;                            // guarded by the host lock
thread_local bool is_in_lost_error_function = false;  // an error of it goes to stderr

// The callers may be destructors or the ends of threads, through which no exception can propagate: interrupts
// wait, and exit() ends the program here.
bool is_reported_by_function(const SimpleError& error, const std::string& where) {
  if (lost_error_function.is_nil() || is_in_lost_error_function) {
    return false;
  }
  const InterruptsMasked masked;
  is_in_lost_error_function = true;
  bool is_reported = false;
  try {
    const Ref failure = Ref::owned(to_failure(error));
    const Ref place = Ref::owned(make_text(where));
    const std::array<Value, 2> arguments{failure.get(), place.get()};
    const Ref answer = Ref::owned(current_thread().call(lost_error_function, arguments.data(), 2));
    is_reported = answer.get().is_bool() && answer.get().as_bool;
  } catch (const SimpleError&) {
    is_reported = false;
  } catch (const ExitRequest& request) {
    end_own_program(request.code);
  }
  is_in_lost_error_function = false;
  return is_reported;
}

}  // namespace

void report_lost(const SimpleError& error, const std::string& where) {
  if (is_reported_by_function(error, where)) {
    return;
  }
  const StackEntry* entry = user_entry(error);
  const std::string location =
      entry == nullptr ? "" : " (" + entry->file + ":" + std::to_string(entry->line) + ")";
  print_diagnostic("warning: error ignored in " + where + ": " + error.message + location + "\n");
}

void report_lost_exit(const ExitRequest& request, const std::string& where) {
  end_own_program(request.code);
  report_lost(exit_not_allowed(request.code), where);
}

void set_lost_error_function(Value function) { lost_error_function = retained(function); }

}  // namespace spl
