#include "bridge/objects/base_frame.h"

#include <frameobject.h>

#include <array>

namespace simple_torch::bridge {
namespace {

constexpr size_t kCallers = 5;  // for 0 to 3 positional arguments, and for any

/// Created once, under the GIL; never freed.
std::array<PyObject*, kCallers> callers{};

bool load_callers() {
  if (callers[0] != nullptr) {
    return true;
  }
  const Ref helper(PyImport_ImportModule("simple_torch_helpers.base_frame"));
  const Ref made(helper ? PyObject_CallMethod(helper.get(), "callers", nullptr) : nullptr);
  if (!made || PyList_Check(made.get()) == 0 || PyList_GET_SIZE(made.get()) != kCallers) {
    return false;
  }
  for (size_t i = kCallers; i > 0; --i) {  // the first one last: with it, all are there
    callers[i - 1] = Ref::borrowed(PyList_GET_ITEM(made.get(), static_cast<Py_ssize_t>(i - 1))).release();
  }
  return true;
}

/// Functions and types in C do not look at frames, except `type`, which reads the module's name.
bool needs_frame(PyObject* callable) noexcept {
  if (PyCFunction_Check(callable)) {
    return false;
  }
  if (callable == reinterpret_cast<PyObject*>(&PyType_Type)) {
    return true;
  }
  return PyType_Check(callable) == 0 ||
         PyType_HasFeature(reinterpret_cast<PyTypeObject*>(callable), Py_TPFLAGS_HEAPTYPE) != 0;
}

bool is_caller_code(PyCodeObject* code) noexcept {
  for (PyObject* caller : callers) {
    if (caller != nullptr && reinterpret_cast<PyObject*>(code) == PyFunction_GET_CODE(caller)) {
      return true;
    }
  }
  return false;
}

}  // namespace

PyObject* call_on_frame(PyObject* callable, PyObject* const* arguments, size_t count_and_flag,
                        PyObject* names) {
  if (!needs_frame(callable) || PyEval_GetFrame() != nullptr) {
    return PyObject_Vectorcall(callable, arguments, count_and_flag, names);
  }
  if (!load_callers()) {
    return nullptr;
  }
  const auto count = static_cast<size_t>(PyVectorcall_NARGS(count_and_flag));
  PyObject** const with_callable = const_cast<PyObject**>(arguments) - 1;
  PyObject* const before = *with_callable;
  *with_callable = callable;
  const size_t which = names != nullptr || count >= kCallers - 1 ? kCallers - 1 : count;
  PyObject* const result = PyObject_Vectorcall(callers[which], with_callable, count + 1, names);
  *with_callable = before;
  return result;
}

void remove_base_frame(PyObject* exception) noexcept {
  const Ref traceback(PyException_GetTraceback(exception));
  if (!traceback || PyTraceBack_Check(traceback.get()) == 0) {
    return;
  }
  auto* const outermost = reinterpret_cast<PyTracebackObject*>(traceback.get());
  const Ref code(reinterpret_cast<PyObject*>(PyFrame_GetCode(outermost->tb_frame)));
  if (is_caller_code(reinterpret_cast<PyCodeObject*>(code.get()))) {
    auto* const inner = reinterpret_cast<PyObject*>(outermost->tb_next);
    PyException_SetTraceback(exception, inner == nullptr ? Py_None : inner);
  }
}

}  // namespace simple_torch::bridge
