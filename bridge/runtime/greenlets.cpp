#include "bridge/runtime/greenlets.h"

#include <link.h>

#include <atomic>
#include <cstring>

#include "bridge/runtime/forced_unwind.h"
#include "bridge/runtime/gil.h"
#include "bridge/runtime/interpreter.h"

namespace simple_torch::bridge {
namespace {

/// The state of one search through the loaded libraries.
struct Search {
  unsigned long long already_searched;  // the count of libraries at the last search
  unsigned long long count = 0;
  bool is_found = false;
};

/// Stops at the first library if none was loaded since the last search.
int visit_library(dl_phdr_info* info, size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  search.count = info->dlpi_adds;
  if (search.count == search.already_searched) {
    return 1;
  }
  search.is_found = info->dlpi_name != nullptr && std::strstr(info->dlpi_name, "/_greenlet.") != nullptr;
  return search.is_found ? 1 : 0;
}

/// Whether the process has loaded the extension module. Needs no GIL, and costs less than a look at
/// sys.modules, from which it may have been removed.
bool is_extension_loaded() noexcept {
  static std::atomic<bool> is_loaded{false};
  static std::atomic<unsigned long long> searched{0};
  if (is_loaded.load(std::memory_order_relaxed)) {
    return true;
  }
  Search search{.already_searched = searched.load(std::memory_order_relaxed)};
  dl_iterate_phdr(visit_library, &search);
  searched.store(search.count, std::memory_order_relaxed);
  is_loaded.store(search.is_found, std::memory_order_relaxed);
  return search.is_found;
}

/// greenlet.getcurrent, borrowed; NULL while the module is being imported. Runs no Python code.
PyObject* getcurrent() {
  static PyObject* function = nullptr;  // guarded by the GIL; never freed
  if (function == nullptr) {
    PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "greenlet._greenlet");
    function = module == nullptr ? nullptr : PyObject_GetAttrString(module, "getcurrent");
  }
  return function;
}

uint64_t current_greenlet_with_gil() {
  const PendingException pending;
  PyObject* function = getcurrent();
  const Ref current(function == nullptr ? nullptr : PyObject_CallNoArgs(function));
  const Ref parent(current ? PyObject_GetAttrString(current.get(), "parent") : nullptr);
  PyErr_Clear();  // the module is being imported, or memory is exhausted
  return !parent || parent.get() == Py_None ? 0 : reinterpret_cast<uintptr_t>(current.get());
}

}  // namespace

uint64_t current_greenlet() noexcept {
  if (!is_extension_loaded() || unavailable_reason() != nullptr ||
      PyGILState_GetThisThreadState() == nullptr) {
    return 0;
  }
  return park_on_forced_unwind([] {
    const GilScope gil(GilScope::OnEnter::kSkipDrain);
    return current_greenlet_with_gil();
  });
}

}  // namespace simple_torch::bridge
