// Finds out whether Python code has replaced sys.stdout or sys.stderr of a program that started Python.
#include <array>

#include "bridge/objects/errors.h"
#include "bridge/objects/python_output.h"
#include "bridge/objects/references.h"
#include "bridge/runtime/backend.h"
#include "bridge/runtime/entry.h"

namespace simple_torch::bridge {
namespace {

struct Stream {
  int number;
  const char* text;
  PyObject* name = nullptr;      // owned, never freed
  PyObject* original = nullptr;  // owned, never freed
};

// Guarded by the GIL.
std::array<Stream, 2> streams{{{1, "stdout"}, {2, "stderr"}}};
PyObject* sys_dict = nullptr;  // borrowed; NULL while the streams are not watched

int write_to_replacement(int stream, const char* text, size_t size) noexcept {
  bool is_written = false;
  const int32_t status = in_python([&] { return is_written = write_to_stream(stream, text, size); });
  if (status == static_cast<int32_t>(ErrorKind::kUnavailable)) {
    return -1;
  }
  return is_written && status == 0 ? 0 : 1;
}

void follow(const Stream& stream, PyObject* current) noexcept {
  const bool is_replaced = current != nullptr && current != stream.original;
  services().set_output_writer(stream.number, is_replaced ? write_to_replacement : nullptr);
}

#if PY_VERSION_HEX >= 0x030C0000
int on_change_of_sys(PyDict_WatchEvent event, PyObject* dict, PyObject* key, PyObject* value) {
  if (dict != sys_dict || (event != PyDict_EVENT_ADDED && event != PyDict_EVENT_MODIFIED)) {
    return 0;
  }
  for (const Stream& stream : streams) {
    if (PyUnicode_Check(key) != 0 && PyUnicode_CompareWithASCIIString(key, stream.text) == 0) {
      follow(stream, value);
    }
  }
  return 0;
}

bool watch_sys(PyObject* dict) {
  const int watcher = PyDict_AddWatcher(on_change_of_sys);
  return watcher >= 0 && PyDict_Watch(watcher, dict) == 0;
}
#else
uint64_t version_seen = 0;

bool watch_sys(PyObject* dict) {
  version_seen = reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
  return true;
}
#endif

}  // namespace

bool watch_streams() {
  PyObject* const module = PyImport_AddModule("sys");  // borrowed, as all below
  PyObject* const dict = module == nullptr ? nullptr : PyModule_GetDict(module);
  for (Stream& stream : streams) {
    stream.name = PyUnicode_InternFromString(stream.text);
    if (dict == nullptr || stream.name == nullptr) {
      return false;
    }
    stream.original = Ref::borrowed(PyDict_GetItemWithError(dict, stream.name)).release();
  }
  if (!watch_sys(dict)) {
    return false;
  }
  sys_dict = dict;
  return true;
}

void unwatch_streams() noexcept {
  sys_dict = nullptr;
  for (const Stream& stream : streams) {
    services().set_output_writer(stream.number, nullptr);
  }
}

#if PY_VERSION_HEX < 0x030C0000
void look_at_streams() noexcept {
  if (sys_dict == nullptr) {
    return;
  }
  const uint64_t version = reinterpret_cast<PyDictObject*>(sys_dict)->ma_version_tag;
  if (version == version_seen) [[likely]] {
    return;
  }
  version_seen = version;
  for (const Stream& stream : streams) {
    follow(stream, PyDict_GetItemWithError(sys_dict, stream.name));
  }
}
#endif

}  // namespace simple_torch::bridge
