// torch.Tensor objects, created by torch's own C++ functions. The only file that includes torch's Python
// headers, which include torch's pybind11.
#include "bridge/tensors/tensors.h"

#include <c10/core/impl/COW.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/autograd/python_variable.h>

#include <cstdlib>
#include <cstring>

#include "bridge/runtime/entry.h"
#include "bridge/runtime/interpreter.h"
#include "bridge/tensors/dlpack_import.h"

namespace simple_torch::bridge {
namespace {

/// Imports torch. Its types do not exist if sys.modules holds another module as "torch", such as the mock of
/// a documentation build. False with an exception set.
bool ensure_torch_types() {
  static bool is_ready = false;  // guarded by the GIL
  if (is_ready) {
    return true;
  }
  if (!import_torch()) {
    return false;
  }
  is_ready = THPVariableClass != nullptr && THPGeneratorClass != nullptr;
  if (!is_ready) {
    PyErr_SetString(PyExc_ImportError,
                    "sys.modules['torch'] is not PyTorch; remove it from sys.modules and try again");
  }
  return is_ready;
}

/// Whether LibTorch rejects a writable pointer to the memory. LibTorch 2.11 has no query for it.
template <class Storage>
bool is_protected(Storage& storage) {
  if constexpr (requires { storage.throw_on_mutable_data_ptr(); }) {
    return storage.throw_on_mutable_data_ptr();
  } else {
    if (c10::impl::cow::is_cow_data_ptr(storage.data_ptr())) {
      return false;  // a writable pointer would copy the memory
    }
    try {
      storage.mutable_data();
      return false;
    } catch (const c10::Error&) {
      return true;
    }
  }
}

bool rejects_writes(const at::Tensor& tensor) {
  return tensor.has_storage() && is_protected(*tensor.storage().unsafeGetStorageImpl());
}

/// Lets numpy() return a read-only array; torch's own method demands a writable pointer.
void extend_numpy_method() {
  static bool is_done = false;  // guarded by the GIL
  if (is_done) {
    return;
  }
  is_done = true;
  const Ref helpers(PyImport_ImportModule("simple_torch_helpers.read_only"));
  const Ref done(helpers ? PyObject_CallMethod(helpers.get(), "extend_numpy_method", nullptr) : nullptr);
  PyErr_Clear();  // numpy() then raises torch's error
}

}  // namespace

void restore_python_exception() noexcept {
  try {
    throw;
  } catch (python_error& error) {
    error.restore();  // no effect when it is still set
  } catch (const std::exception&) {
    return;
  }
}

int32_t report_python_exception() noexcept {
  try {
    throw;
  } catch (python_error& error) {
    char* message = strdup(error.what());
    error.persist();  // before other Python code runs; autograd's engine has set it as the Python error
    const bool is_lost = error.type == nullptr;  // destroyed with a temporary thread state
    const int32_t kind =
        is_lost ? report_plain(ErrorKind::kPython, message == nullptr ? "" : message) : in_python([&] {
          error.restore();
          return false;
        });
    std::free(message);
    return kind;
  } catch (const std::exception&) {
    return 0;
  }
}

PyObject* tensor_to_python(const at::Tensor& tensor) {
  if (!ensure_torch_types()) {
    return nullptr;
  }
  if (rejects_writes(tensor)) [[unlikely]] {
    extend_numpy_method();
  }
  try {
    return THPVariable_Wrap(tensor);
  } catch (python_error& error) {
    error.restore();
    return nullptr;
  }
}

/// Checks the type only, unlike THPVariable_Check: an object whose __class__ claims torch.Tensor holds no
/// tensor, and isinstance() takes as long as the rest of an array's import.
bool is_torch_tensor(PyObject* object) {
  return THPVariableClass != nullptr &&
         PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(THPVariableClass)) != 0;
}

const at::Tensor& torch_tensor_in(PyObject* object) { return THPVariable_Unpack(object); }

bool tensor_from_python(PyObject* object, const ImportOptions& wanted, TensorResult& out) {
  if (!ensure_torch_types()) {
    return false;
  }
  if (is_torch_tensor(object)) {
    *out.tensor = THPVariable_Unpack(object);
    return true;
  }
  return import_foreign_tensor(object, wanted, out);
}

PyObject* generator_to_python(const at::Generator& generator) {
  return ensure_torch_types() ? THPGenerator_Wrap(generator) : nullptr;
}

bool generator_from_python(PyObject* object, at::Generator& out) {
  if (!ensure_torch_types()) {
    return false;
  }
  if (PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(THPGeneratorClass)) == 0) {
    PyErr_Format(PyExc_TypeError, "expected torch.Generator, got %s", Py_TYPE(object)->tp_name);
    return false;
  }
  out = reinterpret_cast<THPGenerator*>(object)->cdata;
  return true;
}

}  // namespace simple_torch::bridge
