#include "bridge/runtime/uninterruptible_frames.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "bridge/objects/references.h"

namespace simple_torch::bridge {
namespace {

/// NULL when the thread has ended.
PyThreadState* state_of(const PythonThread& thread) noexcept {
  if (thread.cached != nullptr) {
    return thread.cached;
  }
  PyThreadState* candidate = PyInterpreterState_ThreadHead(PyThreadState_GetInterpreter(PyThreadState_Get()));
  while (candidate != nullptr && candidate->thread_id != thread.python_id) {
    candidate = PyThreadState_Next(candidate);
  }
  return candidate;
}

bool is_import_file(std::string_view file) noexcept {
  constexpr std::array<std::string_view, 2> kFrozen{"<frozen importlib._bootstrap>",
                                                    "<frozen importlib._bootstrap_external>"};
  return std::ranges::find(kFrozen, file) != kFrozen.end();
}

/// Functions of threading that wait, and release what they hold if the wait is interrupted. A thread that
/// polls with a timeout releases the GIL only in them.
bool is_wait(std::string_view function) noexcept {
  constexpr std::array<std::string_view, 3> kWaits{"wait", "_wait_for_tstate_lock", "join"};
  return std::ranges::find(kWaits, function) != kWaits.end();
}

/// The folder of Python's library, from the module os; empty when it is not known. Never freed: read at exit.
std::string_view library_folder() noexcept {
  static const std::string_view folder = [] {
    const Ref os(PyImport_ImportModule("os"));
    PyObject* const file = os ? PyObject_GetAttrString(os.get(), "__file__") : nullptr;
    const char* const text = file != nullptr ? PyUnicode_AsUTF8(file) : nullptr;
    const std::string_view path = text == nullptr ? "" : text;
    PyErr_Clear();
    return path.substr(0, path.rfind('/') + 1);
  }();
  return folder;
}

bool is_uninterruptible(std::string_view file, std::string_view function) noexcept {
  if (is_import_file(file)) {
    return true;
  }
  const std::string_view folder = library_folder();
  if (folder.empty() || !file.starts_with(folder)) {
    return false;
  }
  const std::string_view name = file.substr(folder.size());
  return (name == "threading.py" && !is_wait(function)) || name == "logging/__init__.py";
}

/// Callbacks have no common name: those are meant of Python's weak collections, and our own.
bool is_finalizer(std::string_view file, std::string_view function) noexcept {
  if (function == "__del__") {
    return true;
  }
  if (function == "remove" || function == "_remove") {
    const std::string_view folder = library_folder();
    const bool is_library = !folder.empty() && file.starts_with(folder);
    return is_library && (file.ends_with("/weakref.py") || file.ends_with("/_weakrefset.py"));
  }
  const bool is_ours = function == "forget" || function == "release_unheld";
  return is_ours && file.ends_with("/simple_torch_helpers/instances.py");
}

/// "" when the text is not valid UTF-8, so none of those names.
std::string_view view_of(PyObject* text) noexcept {
  Py_ssize_t size = 0;
  const char* const utf8 = PyUnicode_AsUTF8AndSize(text, &size);
  if (utf8 == nullptr) {
    PyErr_Clear();
    return "";
  }
  return {utf8, static_cast<size_t>(size)};
}

/// The innermost frame, or empty.
Ref innermost_frame(const PythonThread& thread) noexcept {
  PyThreadState* const state = state_of(thread);
  return Ref(state == nullptr ? nullptr : reinterpret_cast<PyObject*>(PyThreadState_GetFrame(state)));
}

PyFrameObject* as_frame(const Ref& frame) noexcept { return reinterpret_cast<PyFrameObject*>(frame.get()); }

/// The file and the name of a frame's function are those of its code, which the frame keeps alive.
struct Place {
  explicit Place(const Ref& frame) noexcept {
    const Ref code(reinterpret_cast<PyObject*>(PyFrame_GetCode(as_frame(frame))));
    const auto* const fields = reinterpret_cast<PyCodeObject*>(code.get());
    file = view_of(fields->co_filename);
    function = view_of(fields->co_name);
  }
  std::string_view file, function;
};

/// The frame that called this one, or empty.
Ref frame_below(const Ref& frame) noexcept {
  return Ref(reinterpret_cast<PyObject*>(PyFrame_GetBack(as_frame(frame))));
}

PythonStep import_step(const Place& place) noexcept {
  if (!is_import_file(place.file)) {
    return PythonStep::kOther;
  }
  return place.function == "_call_with_frames_removed" ? PythonStep::kModuleBody : PythonStep::kImportlib;
}

}  // namespace

bool is_in_uninterruptible_frame(const PythonThread& thread) noexcept {
  const Ref frame = innermost_frame(thread);
  if (!frame) {
    return false;
  }
  const Place place(frame);
  return is_uninterruptible(place.file, place.function) || python_step(thread) == PythonStep::kFinalizer;
}

PythonStep python_step(const PythonThread& thread) noexcept {
  PythonStep found = PythonStep::kOther;  // the innermost one
  for (Ref frame = innermost_frame(thread); frame; frame = frame_below(frame)) {
    const Place place(frame);
    if (is_finalizer(place.file, place.function)) {
      return PythonStep::kFinalizer;
    }
    found = found == PythonStep::kOther ? import_step(place) : found;
  }
  return found;
}

}  // namespace simple_torch::bridge
