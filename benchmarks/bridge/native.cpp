// Compares calls of Python through the C ABI with direct calls of Python's C API, on a separate thread.
//
// A library for a Python process: the caller (ctypes.CDLL) does not hold the GIL. Prints one row a line:
// name, nanoseconds of the direct call, nanoseconds through the ABI.
#include <Python.h>
#include <torch/csrc/autograd/python_variable.h>

#include <cstdio>
#include <thread>

#include "benchmarks/measure.h"
#include "simple_torch/c_api.h"

namespace {

using simple_torch::benchmarks::compare;

constexpr int kRounds = 200;
constexpr int64_t kCalls = 1000;

int64_t evaluated(const char* code) {
  int64_t out = 0;
  if (spt_py_eval(code, "", nullptr, nullptr, 0, &out) != SPT_OK) {
    std::fprintf(stderr, "%s\n", spt_last_error_message());
  }
  return out;
}

/// Holds the GIL in a scope, with the thread's own thread state.
class Gil {
 public:
  explicit Gil(PyThreadState* state) { PyEval_RestoreThread(state); }
  ~Gil() { PyEval_SaveThread(); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;
};

void call(PyThreadState* state, PyObject* function) {
  const int64_t ours = evaluated("len.__call__ and (lambda: None)");
  compare(
      "call", kRounds, kCalls,
      [&] {
        const Gil gil(state);
        Py_XDECREF(PyObject_Vectorcall(function, nullptr, 0, nullptr));
      },
      [&] {
        int64_t out = 0;
        spt_py_call(ours, "", nullptr, nullptr, 0, &out);
        spt_release(out);
      });
  spt_release(ours);
}

void attribute_and_call(PyThreadState* state, PyObject* module, PyObject* name) {
  const int64_t ours = evaluated("__import__('math')");
  SplArray* arguments = spl_array_new();
  SplValue two{SPL_FLOAT, {}};
  two.as_float = 2.0;
  spl_array_push(arguments, two);
  compare(
      "attribute-and-call", kRounds, kCalls,
      [&] {
        const Gil gil(state);
        PyObject* number = PyFloat_FromDouble(2.0);
        PyObject* values[] = {module, number};
        Py_XDECREF(PyObject_VectorcallMethod(name, values, 2, nullptr));
        Py_DECREF(number);
      },
      [&] {
        int64_t out = 0;
        spt_py_call_method(ours, "sqrt", "v", arguments, nullptr, 0, &out);
        spt_release(out);
      });
  spl_array_free(arguments);
  spt_release(ours);
}

void tensor_across(PyThreadState* state, const at::Tensor& tensor, int64_t handle) {
  compare(
      "tensor-across-and-back", kRounds, kCalls,
      [&] {
        const Gil gil(state);
        PyObject* object = THPVariable_Wrap(tensor);
        const at::Tensor back = THPVariable_Unpack(object);
        Py_DECREF(object);
      },
      [&] {
        int64_t object = 0, back = 0;
        spt_py_from_tensor(handle, &object);
        spt_py_to_tensor(object, &back);
        spt_release(object);
        spt_release(back);
      });
}

/// Through Python code, which uses the tensor's object.
void tensor_through_call(PyThreadState* state, PyObject* identity, const at::Tensor& tensor, int64_t handle) {
  const int64_t ours = evaluated("lambda t: t");
  SplArray* arguments = spl_array_new();
  spl_array_push_i64(arguments, handle);
  compare(
      "tensor-through-a-call", kRounds, kCalls,
      [&] {
        const Gil gil(state);
        PyObject* object = THPVariable_Wrap(tensor);
        PyObject* result = PyObject_Vectorcall(identity, &object, 1, nullptr);
        const at::Tensor back = THPVariable_Unpack(result);
        Py_DECREF(result);
        Py_DECREF(object);
      },
      [&] {
        int64_t result = 0, back = 0;
        spt_py_call(ours, "t", arguments, nullptr, 0, &result);
        spt_py_to_tensor(result, &back);
        spt_release(result);
        spt_release(back);
      });
  spl_array_free(arguments);
  spt_release(ours);
}

void error(PyThreadState* state, PyObject* function) {
  const int64_t ours = evaluated("(lambda: None).nothing if False else {}.__getitem__");
  SplArray* arguments = spl_array_new();
  spl_array_push_i64(arguments, 1);
  compare(
      "error-with-message", kRounds, kCalls,
      [&] {
        const Gil gil(state);
        PyObject* key = PyLong_FromLong(1);
        Py_XDECREF(PyObject_Vectorcall(function, &key, 1, nullptr));
        Py_DECREF(key);
        PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
        PyErr_Fetch(&type, &value, &traceback);
        PyErr_NormalizeException(&type, &value, &traceback);
        PyObject* text = PyObject_Str(value);
        PyUnicode_AsUTF8(text);
        Py_XDECREF(text);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
      },
      [&] {
        int64_t out = 0;
        spt_py_call(ours, "v", arguments, nullptr, 0, &out);
        spt_last_error_message();
      });
  spl_array_free(arguments);
  spt_release(ours);
}

PyObject* made(const char* code) {
  PyObject* main = PyImport_AddModule("__main__");
  return PyRun_String(code, Py_eval_input, PyModule_GetDict(main), PyModule_GetDict(main));
}

void run() {
  const PyGILState_STATE held = PyGILState_Ensure();
  PyObject* nothing = made("lambda: None");
  PyObject* math = made("__import__('math')");
  PyObject* name = PyUnicode_InternFromString("sqrt");
  PyObject* identity = made("lambda t: t");
  PyObject* missing = made("{}.__getitem__");
  const at::Tensor tensor = THPVariable_Unpack(made("__import__('torch').ones(3)"));
  PyThreadState* state = PyEval_SaveThread();
  int64_t handle = 0;
  const double values[] = {1, 2, 3};
  const int64_t dims[] = {3};
  spt_from_data(values, 3, dims, 1, &handle);
  call(state, nothing);
  attribute_and_call(state, math, name);
  tensor_across(state, tensor, handle);
  tensor_through_call(state, identity, tensor, handle);
  error(state, missing);
  spt_release(handle);
  PyEval_RestoreThread(state);
  PyGILState_Release(held);
  std::fflush(stdout);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void measure() { std::thread(run).join(); }
