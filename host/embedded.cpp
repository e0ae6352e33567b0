#include "host/embedded.h"

#include <dlfcn.h>

#include <exception>
#include <string>
#include <utility>

#include "host/builtins/host_externs.h"
#include "host/ffi/callback.h"
#include "host/installation.h"
#include "host/interrupts/interrupts.h"
#include "host/modules/loader.h"
#include "host/output.h"
#include "host/report.h"
#include "host/startup.h"
#include "host/values/module.h"
#include "host/vm/lock.h"
#include "host/vm/signal_check.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"

namespace {

using namespace spl;

void start_host() {
  static bool is_started = false;
  if (!std::exchange(is_started, true)) {
    bool ignored = false;
    attached_thread(ignored);
    install_components();
  }
}

constexpr const char* kInterrupted = "interrupted during startup";

// The report calls methods of the error's payload, which an interrupt ends, too.
std::string reported(const SimpleError& error) {
  try {
    return report_of(error, program_info().verbose);
  } catch (const ExitRequest&) {
    return kInterrupted;
  }
}

// Runs a file as main() does, but without exiting, and calls its function. Returns the error message, or "".
std::string run_file(const char* file) {
  try {
    start_host();
    LoadedModule& module = load_program(file);
    release(current_thread().call(module.lookup(intern("register")), nullptr, 0));
    return "";
  } catch (const SimpleError& error) {
    return reported(error);
  } catch (const LoadError& error) {
    return error.report;
  } catch (const ExitRequest&) {
    return kInterrupted;
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string own_path() {
  Dl_info found{};
  const bool is_known = dladdr(reinterpret_cast<void*>(spl_embedded_start), &found) != 0;
  return is_known ? found.dli_fname : "lib/libsimple_host.so";
}

}  // namespace

#define SPL_EMBEDDED_API __attribute__((visibility("default")))

extern "C" {

SPL_EMBEDDED_API const char* spl_embedded_start(const char* file, SplWriter writer) {
  static std::string problem;
  set_embedded(own_path());
  set_writer(writer);
  host_lock().become_shared();
  host_lock().acquire();
  problem = run_file(file);
  host_lock().release();
  return problem.empty() ? nullptr : problem.c_str();
}

SPL_EMBEDDED_API void spl_embedded_interrupt(void) { request_interrupt(); }

SPL_EMBEDDED_API void spl_embedded_signal(void) { request_signal_check(); }

SPL_EMBEDDED_API void spl_embedded_on_session_change(void (*note)(void)) {
  session_watch.on_change.store(note);
}

SPL_EMBEDDED_API void spl_embedded_end(void) {
  if (host_lock().is_closed() || !host_lock().acquire_unless_closed()) {
    return;
  }
  report_unseen_failures();
  host_lock().close();
}

}  // extern "C"
