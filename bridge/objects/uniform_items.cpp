#include "bridge/objects/uniform_items.h"

#include <cstddef>

namespace simple_torch::bridge {
namespace {

/// Whether an integer is within the bounds. Runs no Python code.
bool is_within(PyObject* integer, long long low, long long high) noexcept {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
  return overflow == 0 && low <= value && value <= high;
}

/// The index of the first item that is not exactly of the type, or is an int beyond the bounds; -1 for none.
PyObject* first_misfit(PyObject* /*module*/, PyObject* arguments) {
  PyObject *items = nullptr, *type = nullptr;
  long long low = 0, high = 0;
  if (PyArg_ParseTuple(arguments, "OOLL", &items, &type, &low, &high) == 0) {
    return nullptr;
  }
  if (!PyList_Check(items) && !PyTuple_Check(items)) {
    PyErr_SetString(PyExc_TypeError, "first_misfit: items must be a list or a tuple");
    return nullptr;
  }
  const bool is_integer = type == reinterpret_cast<PyObject*>(&PyLong_Type);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); ++i) {
    PyObject* const item = PySequence_Fast_GET_ITEM(items, i);
    const bool is_exact = reinterpret_cast<PyObject*>(Py_TYPE(item)) == type;
    if (!is_exact || (is_integer && !is_within(item, low, high))) {
      return PyLong_FromSsize_t(i);
    }
  }
  return PyLong_FromLong(-1);
}

}  // namespace

bool add_uniform_items_function(PyObject* module) {
  static PyMethodDef definition{
      "first_misfit", first_misfit, METH_VARARGS,
      "first_misfit(items, type, low, high): returns the index of the first item that is not exactly of the "
      "type, or is an int beyond the bounds; -1 for none."};
  const Ref made(PyCFunction_New(&definition, nullptr));
  return made && PyObject_SetAttrString(module, definition.ml_name, made.get()) == 0;
}

}  // namespace simple_torch::bridge
