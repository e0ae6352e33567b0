// torch.Tensor objects by torch's own C++ functions. The only file that includes torch's Python headers:
// they draw in torch's pybind11, which nothing else here uses.
#include "bridge/tensors/tensors.h"

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/autograd/python_variable.h>

#include <cstdlib>
#include <cstring>

#include "bridge/runtime/entry.h"
#include "bridge/runtime/interpreter.h"
#include "bridge/tensors/dlpack_import.h"

namespace simple_torch::bridge {

void restore_python_exception() noexcept {
  try {
    throw;
  } catch (python_error& error) {
    error.restore();  // nothing where it pends still
  } catch (const std::exception&) {
    return;
  }
}

int32_t report_python_exception() noexcept {
  try {
    throw;
  } catch (python_error& error) {
    char* words = strdup(error.what());
    error.persist();  // before other code of Python's runs; autograd's engine has let it pend again
    const bool is_lost = error.type == nullptr;  // with the state of a thread that Python did not know
    const int32_t kind =
        is_lost ? report_plain(ErrorKind::kPython, words == nullptr ? "" : words) : in_python([&] {
          error.restore();
          return false;
        });
    std::free(words);
    return kind;
  } catch (const std::exception&) {
    return 0;
  }
}

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

/// By the type alone, unlike THPVariable_Check: what merely says that its class is torch.Tensor has no tensor
/// in it, and isinstance() takes as long as all else that is done for an array.
bool is_torch_tensor(PyObject* object) {
  return THPVariableClass != nullptr &&
         PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(THPVariableClass)) != 0;
}

const at::Tensor& torch_tensor_in(PyObject* object) { return THPVariable_Unpack(object); }

bool tensor_from_python(PyObject* object, const Wanted& wanted, TensorResult& out) {
  if (!ensure_torch()) {
    return false;
  }
  if (is_torch_tensor(object)) {
    *out.tensor = THPVariable_Unpack(object);
    return true;
  }
  return take_foreign_tensor(object, wanted, out);
}

PyObject* generator_to_python(const at::Generator& generator) {
  return ensure_torch() ? THPGenerator_Wrap(generator) : nullptr;
}

bool generator_from_python(PyObject* object, at::Generator& out) {
  if (!ensure_torch()) {
    return false;
  }
  if (PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(THPGeneratorClass)) == 0) {
    PyErr_Format(PyExc_TypeError, "a torch.Generator is needed, not %s", Py_TYPE(object)->tp_name);
    return false;
  }
  out = reinterpret_cast<THPGenerator*>(object)->cdata;
  return true;
}

}  // namespace simple_torch::bridge
