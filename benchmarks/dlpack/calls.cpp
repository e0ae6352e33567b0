// A Python module with native functions of three torch tensors, by pybind11 with torch's caster and by the
// bridge.
#include <torch/csrc/utils/pybind.h>

#include "bridge/tensors/tensors.h"

namespace {

namespace bridge = simple_torch::bridge;

int64_t elements(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
  return a.numel() + b.numel() + c.numel();
}

PyObject* elements_by_the_bridge(PyObject* /*module*/, PyObject* const* values, Py_ssize_t count) {
  if (count != 3) {
    PyErr_SetString(PyExc_TypeError, "three tensors are needed");
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!bridge::is_torch_tensor(values[i])) {
      PyErr_Format(PyExc_TypeError, "argument %zd is a %s, and no torch.Tensor", i,
                   Py_TYPE(values[i])->tp_name);
      return nullptr;
    }
  }
  return PyLong_FromLongLong(elements(bridge::torch_tensor_in(values[0]), bridge::torch_tensor_in(values[1]),
                                      bridge::torch_tensor_in(values[2])));
}

PyMethodDef by_the_bridge{"by_the_bridge",
                          reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(elements_by_the_bridge)),
                          METH_FASTCALL, nullptr};

}  // namespace

PYBIND11_MODULE(benchmark_calls, module) {
  module.def("by_pybind11", elements);
  module.attr("by_the_bridge") =
      pybind11::reinterpret_steal<pybind11::object>(PyCFunction_New(&by_the_bridge, nullptr));
}
