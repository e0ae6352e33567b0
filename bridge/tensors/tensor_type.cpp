// The type simple_torch.Tensor, and the module that it is in.
#include "bridge/tensors/tensor_type.h"

#include <array>
#include <new>
#include <utility>

#include "bridge/objects/errors.h"
#include "bridge/runtime/pending_release.h"
#include "bridge/tensors/dlpack_export.h"
#include "bridge/tensors/from_dlpack.h"
#include "bridge/tensors/tensor_exchange_api.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

struct TensorObject {
  PyObject ob_base;  // what PyObject_HEAD stands for
  at::Tensor tensor;
};

PyTypeObject* type = nullptr;  // made once, under the GIL; never freed

at::Tensor& tensor_in(PyObject* self) { return reinterpret_cast<TensorObject*>(self)->tensor; }

/// NULL with a ValueError pending for one that was given away.
const at::Tensor* tensor_of(PyObject* self) {
  const at::Tensor& tensor = tensor_in(self);
  return is_still_here(tensor) ? &tensor : nullptr;
}

/// Memory of objects that were let go, for the next ones: Python takes a tenth of an import to find some.
struct {
  std::array<PyObject*, 64> objects;
  size_t count = 0;
} kept;  // guarded by the GIL

PyObject* take_object() {
  return kept.count != 0 ? PyObject_Init(kept.objects[--kept.count], type) : type->tp_alloc(type, 0);
}

void give_object(PyObject* object) {
  if (kept.count < kept.objects.size()) {
    kept.objects[kept.count++] = object;
  } else {
    type->tp_free(object);
  }
}

void deallocate(PyObject* self) {
  {
    const PendingException pending;
    const FreesMemoryHere here;
    reinterpret_cast<TensorObject*>(self)->tensor.~Tensor();
  }
  give_object(self);
  Py_DECREF(type);
}

PyObject* dlpack(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  const at::Tensor* tensor = tensor_of(self);
  return tensor == nullptr ? nullptr : lend_to_python(*tensor, values, count, names);
}

PyObject* dlpack_device(PyObject* self, PyObject* /*none*/) {
  const at::Tensor* tensor = tensor_of(self);
  return tensor == nullptr ? nullptr : device_for_python(*tensor);
}

PyObject* into_dlpack(PyObject* self, PyObject* values, PyObject* names) {
  static std::array<char*, 2> known{const_cast<char*>("stream"), nullptr};
  PyObject* stream = Py_None;
  if (tensor_of(self) == nullptr ||
      PyArg_ParseTupleAndKeywords(values, names, "|$O:into_dlpack", known.data(), &stream) == 0) {
    return nullptr;
  }
  return give_to_python(tensor_in(self), stream);
}

// ---- what a tensor tells

PyObject* shape(PyObject* self, void* /*closure*/) {
  const at::Tensor* tensor = tensor_of(self);
  if (tensor == nullptr) {
    return nullptr;
  }
  const at::IntArrayRef sizes = tensor->sizes();
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(sizes.size())));
  for (size_t i = 0; tuple && i < sizes.size(); ++i) {
    PyObject* size = PyLong_FromLongLong(sizes[i]);
    if (size == nullptr) {
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), size);
  }
  return tuple.give();
}

/// The torch.Tensor that is this tensor, the same each time: for all that this type does not tell itself.
PyObject* torch_tensor(PyObject* self, PyObject* /*none*/) {
  const at::Tensor* tensor = tensor_of(self);
  return tensor == nullptr ? nullptr : tensor_to_python(*tensor);
}

/// A pickle holds the numbers: the tensor that comes out of it has memory of its own.
PyObject* reduce(PyObject* self, PyObject* /*none*/) {
  const Ref core(PyImport_ImportModule("simple_torch._core"));
  const Ref make(core ? PyObject_GetAttrString(core.get(), "from_dlpack") : nullptr);
  const Ref same(make ? torch_tensor(self, nullptr) : nullptr);
  return same ? Py_BuildValue("O(O)", make.get(), same.get()) : nullptr;
}

PyObject* data_ptr(PyObject* self, PyObject* /*none*/) {
  const at::Tensor* tensor = tensor_of(self);
  return tensor == nullptr ? nullptr : PyLong_FromVoidPtr(const_cast<void*>(tensor->const_data_ptr()));
}

PyObject* shown(PyObject* self) {
  if (!tensor_in(self).defined()) {
    return PyUnicode_FromString("simple_torch.Tensor(given away by into_dlpack())");
  }
  const Ref same(torch_tensor(self, nullptr));
  return same ? PyUnicode_FromFormat("simple_torch.%R", same.get()) : nullptr;
}

// ---- the type and the module

template <class Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef* methods() {
  static std::array<PyMethodDef, 7> list{{
      {"__dlpack__", as_method(dlpack), METH_FASTCALL | METH_KEYWORDS,
       "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None): the memory, as a DLPack "
       "capsule."},
      {"__dlpack_device__", dlpack_device, METH_NOARGS, "Device type and index, by DLPack's numbers."},
      {"into_dlpack", as_method(into_dlpack), METH_VARARGS | METH_KEYWORDS,
       "into_dlpack(*, stream=None): the memory, as a DLPack capsule that the tensor goes into. Nobody else "
       "has "
       "it where its flag IS_COPIED says so. Using the tensor afterwards is a ValueError."},
      {"torch", torch_tensor, METH_NOARGS,
       "The torch.Tensor that is this tensor, the same object each time."},
      {"__reduce__", reduce, METH_NOARGS, "For pickles, which hold the numbers."},
      {"data_ptr", data_ptr, METH_NOARGS, "The address of the first element."},
      {nullptr, nullptr, 0, nullptr},
  }};
  return list.data();
}

bool make_type() {
  static std::array<PyGetSetDef, 2> getters{{
      {"shape", shape, nullptr, "The sizes, as a tuple.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr},
  }};
  static std::array<PyType_Slot, 6> slots{{
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_methods, methods()},
      {Py_tp_getset, getters.data()},
      {Py_tp_repr, reinterpret_cast<void*>(shown)},
      {Py_tp_doc, const_cast<char*>("A tensor of PyTorch for Simple. Made by simple_torch.from_dlpack().")},
      {0, nullptr},
  }};
  static PyType_Spec spec{"simple_torch.Tensor", sizeof(TensorObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  const Ref table(own_exchange_table());
  Ref made(PyType_FromSpec(&spec));
  if (!table || !made || PyObject_SetAttrString(made.get(), "__dlpack_c_exchange_api__", table.get()) != 0) {
    return false;
  }
  type = reinterpret_cast<PyTypeObject*>(made.give());
  return true;
}

}  // namespace

PyObject* wrap_tensor(at::Tensor tensor) {
  PyObject* object = take_object();
  if (object != nullptr) {
    new (&reinterpret_cast<TensorObject*>(object)->tensor) at::Tensor(std::move(tensor));
  }
  return object;
}

const at::Tensor* unwrap_tensor(PyObject* object) noexcept {
  return Py_TYPE(object) == type ? &tensor_in(object) : nullptr;
}

bool is_still_here(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    PyErr_SetString(PyExc_ValueError, "this tensor was given away by into_dlpack(), and is no more");
  }
  return tensor.defined();
}

void raise_refusal(const Refusal& refusal) {
  Ref below = take_exception();
  if (below && PyErr_GivenExceptionMatches(below.get(), PyExc_Exception) == 0) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(below.get())), below.get());
    return;
  }
  PyErr_SetString(PyExc_BufferError, refusal.message);
  if (below) {
    const Ref raised = take_exception();
    PyException_SetCause(raised.get(), below.give());
    PyErr_SetObject(PyExc_BufferError, raised.get());
  }
}

bool add_core_module() {
  static PyMethodDef function{
      "from_dlpack", as_method(from_dlpack), METH_FASTCALL | METH_KEYWORDS,
      "from_dlpack(x, *, device=None, copy=None): a tensor over the memory of any array that can be lent."};
  const Ref name(PyUnicode_FromString("simple_torch._core"));
  const Ref module(name ? PyModule_NewObject(name.get()) : nullptr);
  PyObject* modules = PyImport_GetModuleDict();  // borrowed
  if (!module || (type == nullptr && !make_type())) {
    return false;
  }
  const Ref made(PyCFunction_NewEx(&function, nullptr, name.get()));
  return made && PyObject_SetAttrString(module.get(), "Tensor", reinterpret_cast<PyObject*>(type)) == 0 &&
         PyObject_SetAttrString(module.get(), "from_dlpack", made.get()) == 0 &&
         PyDict_SetItem(modules, name.get(), module.get()) == 0;
}

}  // namespace simple_torch::bridge
