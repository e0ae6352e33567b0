#include "host/startup.h"

#include "host/builtins/builtins.h"
#include "host/ffi/extern.h"
#include "host/modules/loader.h"
#include "host/vm/machine_hooks.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"

namespace spl {

void install_components() {
  install_object_hooks();
  install_thread_methods();
  machine_hooks().run_import = run_import;
  machine_hooks().library_function = library_function;
  install_native_calls();
  install_builtins();
}

}  // namespace spl
