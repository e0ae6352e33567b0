// torch.Tensor objects by torch's own C++ functions. The only file that includes torch's Python headers:
// they draw in torch's pybind11, which nothing else here uses.
#include "bridge/tensors.h"

#include <ATen/dlpack.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

#include "bridge/interpreter.h"
#include "bridge/values.h"

namespace simple_torch::bridge {
namespace {

/// What __dlpack__ gives, asked in the newer way first: producers made before DLPack 1.0 know no max_version.
Ref capsule_from(PyObject* object) {
  const Ref method(PyObject_GetAttr(object, interned("__dlpack__").get()));
  if (!method) {
    PyErr_Format(PyExc_TypeError, "cannot make a tensor of a %s: it is no torch.Tensor and has no __dlpack__",
                 Py_TYPE(object)->tp_name);
    return Ref();
  }
  const Ref none(PyTuple_New(0));
  const Ref options(Py_BuildValue("{s:(ii)}", "max_version", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION));
  if (!none || !options) {
    return Ref();
  }
  Ref capsule(PyObject_Call(method.get(), none.get(), options.get()));
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
    PyErr_Clear();
    capsule = Ref(PyObject_CallNoArgs(method.get()));
  }
  return capsule;
}

}  // namespace

PyObject* tensor_to_python(const at::Tensor& tensor) {
  if (!ensure_torch()) {
    return nullptr;
  }
  try {
    return THPVariable_Wrap(tensor);
  } catch (python_error& error) {
    error.restore();
    return nullptr;
  }
}

bool is_torch_tensor(PyObject* object) { return THPVariableClass != nullptr && THPVariable_Check(object); }

bool tensor_from_python(PyObject* object, TensorResult& out) {
  if (!ensure_torch()) {
    return false;
  }
  if (is_torch_tensor(object)) {
    *out.tensor = THPVariable_Unpack(object);
    return true;
  }
  const Ref capsule = capsule_from(object);
  return capsule && take_capsule(capsule.get(), out);
}

}  // namespace simple_torch::bridge
