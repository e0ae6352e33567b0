#include "bridge/objects/shared_names.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "bridge/objects/errors.h"
#include "bridge/objects/references.h"

namespace simple_torch::bridge {

std::atomic<bool> shares_names{false};

namespace {

/// The references are owned.
struct Sharing {
  PyObject* names;        // a dict
  PyObject* synchronize;  // copies the changes of both sides
  uint64_t version;       // of the dict when both sides were equal
};

std::vector<Sharing> sharings;  // guarded by the GIL
std::atomic<bool> program_changed{false};
thread_local bool is_synchronizing = false;

#if PY_VERSION_HEX >= 0x030C0000
uint64_t changes_of_dicts = 0;  // guarded by the GIL

int count_change(PyDict_WatchEvent, PyObject*, PyObject*, PyObject*) {
  ++changes_of_dicts;
  return 0;
}

bool watch_changes(PyObject* dict) {
  static const int watcher = PyDict_AddWatcher(count_change);
  return watcher >= 0 && PyDict_Watch(watcher, dict) == 0;
}

uint64_t version_of(PyObject* /*dict*/) { return changes_of_dicts; }
#else
bool watch_changes(PyObject* /*dict*/) { return true; }

uint64_t version_of(PyObject* dict) { return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag; }
#endif

/// An interrupt that arrived in the function is raised by the code that runs next.
void call_to_synchronize(PyObject* function) noexcept {
  const Ref result(PyObject_CallNoArgs(function));
  if (result) {
    return;
  }
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0) {
    PyErr_Clear();
    PyErr_SetInterrupt();
    return;
  }
  PyErr_WriteUnraisable(function);
}

PyObject* share_names(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || PyDict_CheckExact(arguments[0]) == 0 || PyCallable_Check(arguments[1]) == 0) {
    PyErr_SetString(PyExc_TypeError, "share_names(names, synchronize): expected a dict and a callable");
    return nullptr;
  }
  if (!watch_changes(arguments[0])) {
    return nullptr;
  }
  sharings.push_back({Ref::borrowed(arguments[0]).release(), Ref::borrowed(arguments[1]).release(),
                      version_of(arguments[0])});
  shares_names = true;
  return Py_NewRef(Py_None);
}

PyObject* stop_sharing_names(PyObject* /*module*/, PyObject* synchronize) {
  const auto ended = std::find_if(sharings.begin(), sharings.end(),
                                  [&](const Sharing& sharing) { return sharing.synchronize == synchronize; });
  if (ended != sharings.end()) {
    const Ref held_names(ended->names);
    const Ref held_function(ended->synchronize);
    sharings.erase(ended);
    shares_names = !sharings.empty();
  }
  return Py_NewRef(Py_None);
}

bool add_function(PyObject* module, PyMethodDef& function) {
  const Ref made(PyCFunction_New(&function, nullptr));
  return made && PyObject_SetAttrString(module, function.ml_name, made.get()) == 0;
}

}  // namespace

void note_program_change() noexcept { program_changed.store(true, std::memory_order_relaxed); }

void synchronize_names() noexcept {
  if (is_synchronizing) {
    return;
  }
  const bool is_due = program_changed.exchange(false, std::memory_order_relaxed);
  for (size_t i = 0; i < sharings.size(); ++i) {  // the function may open and close sessions
    if (!is_due && version_of(sharings[i].names) == sharings[i].version) {
      continue;
    }
    const PendingException pending;
    const Ref names = Ref::borrowed(sharings[i].names);
    const Ref function = Ref::borrowed(sharings[i].synchronize);
    is_synchronizing = true;
    call_to_synchronize(function.get());
    is_synchronizing = false;
    if (i < sharings.size() && sharings[i].synchronize == function.get()) {
      sharings[i].version = version_of(names.get());
    }
  }
}

bool add_sharing_functions(PyObject* module) {
  static PyMethodDef share{
      "share_names", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(share_names)), METH_FASTCALL,
      "share_names(names, synchronize): calls synchronize() when control crosses between the languages "
      "after a variable changed."};
  static PyMethodDef stop{"stop_sharing_names", stop_sharing_names, METH_O,
                          "stop_sharing_names(synchronize): ends what share_names() began with it."};
  const Ref address(PyLong_FromVoidPtr(reinterpret_cast<void*>(note_program_change)));
  return address && PyObject_SetAttrString(module, "note_change_address", address.get()) == 0 &&
         add_function(module, share) && add_function(module, stop);
}

}  // namespace simple_torch::bridge
