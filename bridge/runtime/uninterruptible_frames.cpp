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

bool is_uninterruptible_file(std::string_view file) noexcept {
  constexpr std::array<std::string_view, 2> kEndings{"/threading.py", "/logging/__init__.py"};
  return is_import_file(file) ||
         std::ranges::any_of(kEndings, [&](std::string_view ending) { return file.ends_with(ending); });
}

/// Whether the file of the thread's innermost frame satisfies `predicate`. False without a frame.
bool is_innermost_file(const PythonThread& thread, bool (*predicate)(std::string_view) noexcept) noexcept {
  PyThreadState* const state = state_of(thread);
  const Ref frame(state == nullptr ? nullptr : reinterpret_cast<PyObject*>(PyThreadState_GetFrame(state)));
  if (!frame) {
    return false;
  }
  const Ref code(reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame.get()))));
  Py_ssize_t size = 0;
  const char* const file =
      PyUnicode_AsUTF8AndSize(reinterpret_cast<PyCodeObject*>(code.get())->co_filename, &size);
  if (file == nullptr) {
    PyErr_Clear();  // not valid UTF-8, so none of those files
    return false;
  }
  return predicate({file, static_cast<size_t>(size)});
}

}  // namespace

bool is_in_uninterruptible_frame(const PythonThread& thread) noexcept {
  return is_innermost_file(thread, is_uninterruptible_file);
}

bool is_in_import_frame(const PythonThread& thread) noexcept {
  return is_innermost_file(thread, is_import_file);
}

}  // namespace simple_torch::bridge
