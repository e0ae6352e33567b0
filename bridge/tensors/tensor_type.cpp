// The type simple_torch.Tensor and its module, simple_torch._core.
#include "bridge/tensors/tensor_type.h"

#include <array>
#include <new>
#include <utility>

#include "bridge/objects/errors.h"
#include "bridge/objects/python_output.h"
#include "bridge/objects/shared_names.h"
#include "bridge/objects/uniform_items.h"
#include "bridge/runtime/pending_release.h"
#include "bridge/tensors/dlpack_export.h"
#include "bridge/tensors/from_dlpack.h"
#include "bridge/tensors/tensor_exchange_api.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

struct TensorObject {
  PyObject ob_base;  // PyObject_HEAD
  at::Tensor tensor;
};

PyTypeObject* tensor_type = nullptr;  // created once, under the GIL; never freed

at::Tensor& tensor_in(PyObject* self) { return reinterpret_cast<TensorObject*>(self)->tensor; }

/// A reference to the tensor; undefined, with a ValueError set, for a moved tensor. The caller may run Python
/// code, such as a finalizer that the garbage collector calls at an allocation. That code may move the tensor
/// out of the object and release it.
at::Tensor hold_tensor(PyObject* self) {
  at::Tensor tensor = tensor_in(self);
  check_not_moved(tensor);
  return tensor;
}

/// Freed objects for reuse: allocating one takes a tenth of an import.
struct {
  std::array<PyObject*, 64> objects;
  size_t count = 0;
} free_list;  // guarded by the GIL

PyObject* allocate_object() {
  return free_list.count != 0 ? PyObject_Init(free_list.objects[--free_list.count], tensor_type)
                              : tensor_type->tp_alloc(tensor_type, 0);
}

void recycle_object(PyObject* object) {
  if (free_list.count < free_list.objects.size()) {
    free_list.objects[free_list.count++] = object;
  } else {
    tensor_type->tp_free(object);
  }
}

void deallocate_tensor(PyObject* self) {
  {
    const PendingException pending;
    const ImmediateReleaseScope here;
    reinterpret_cast<TensorObject*>(self)->tensor.~Tensor();
  }
  recycle_object(self);
  Py_DECREF(tensor_type);
}

PyObject* dlpack(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  return export_to_python(tensor_in(self), values, count, names);
}

PyObject* dlpack_device(PyObject* self, PyObject* /*none*/) {
  const at::Tensor tensor = hold_tensor(self);
  return tensor.defined() ? device_for_python(tensor) : nullptr;
}

PyObject* into_dlpack(PyObject* self, PyObject* values, PyObject* names) {
  static std::array<char*, 2> known{const_cast<char*>("stream"), nullptr};
  PyObject* stream = Py_None;
  const bool is_read =
      PyArg_ParseTupleAndKeywords(values, names, "|$O:into_dlpack", known.data(), &stream) != 0;
  return is_read ? move_to_python(tensor_in(self), stream) : nullptr;
}

// ---- properties and methods

PyObject* shape(PyObject* self, void* /*closure*/) {
  const at::Tensor tensor = hold_tensor(self);
  if (!tensor.defined()) {
    return nullptr;
  }
  const at::IntArrayRef sizes = tensor.sizes();
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(sizes.size())));
  for (size_t i = 0; tuple && i < sizes.size(); ++i) {
    PyObject* size = PyLong_FromLongLong(sizes[i]);
    if (size == nullptr) {
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), size);
  }
  return tuple.release();
}

/// The torch.Tensor of this tensor, the same object each time; for everything that this type does not
/// provide.
PyObject* torch_tensor(PyObject* self, PyObject* /*none*/) {
  const at::Tensor tensor = hold_tensor(self);
  return tensor.defined() ? tensor_to_python(tensor) : nullptr;
}

bool is_read_only(const at::Tensor& tensor) {
  DLManagedTensorVersioned* exported = nullptr;
  ServiceError error;
  if (!backend_services().export_tensor(tensor, /*copy=*/false, &exported, error)) {
    return false;
  }
  const bool is_read_only = (exported->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  delete_now(exported);
  return is_read_only;
}

/// The torch.Tensor to pickle. Torch pickles by a writable data pointer, which read-only memory does not
/// have.
PyObject* picklable(PyObject* self) {
  const at::Tensor tensor = hold_tensor(self);
  if (!tensor.defined() || !is_read_only(tensor)) {
    return tensor.defined() ? tensor_to_python(tensor) : nullptr;
  }
  at::Tensor copy;
  ServiceError error;
  if (!backend_services().share(tensor, CopyRule::kAlways, copy, error)) {
    raise_buffer_error(error);
    return nullptr;
  }
  return tensor_to_python(copy);
}

/// Pickles by value: the unpickled tensor has its own memory, which is writable.
PyObject* reduce(PyObject* self, PyObject* /*none*/) {
  const Ref core(PyImport_ImportModule("simple_torch._core"));
  const Ref from(core ? PyObject_GetAttrString(core.get(), "from_dlpack") : nullptr);
  const Ref same(from ? picklable(self) : nullptr);
  return same ? Py_BuildValue("O(O)", from.get(), same.get()) : nullptr;
}

PyObject* data_ptr(PyObject* self, PyObject* /*none*/) {
  const at::Tensor tensor = hold_tensor(self);
  return tensor.defined() ? PyLong_FromVoidPtr(const_cast<void*>(tensor.const_data_ptr())) : nullptr;
}

PyObject* tensor_repr(PyObject* self) {
  if (!tensor_in(self).defined()) {
    return PyUnicode_FromString("simple_torch.Tensor(moved by into_dlpack())");
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
       "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None): returns the memory as a "
       "DLPack capsule."},
      {"__dlpack_device__", dlpack_device, METH_NOARGS, "Returns the DLPack device type and index."},
      {"into_dlpack", as_method(into_dlpack), METH_VARARGS | METH_KEYWORDS,
       "into_dlpack(*, stream=None): moves the tensor into a DLPack capsule. The flag IS_COPIED is set when "
       "nothing else shares the memory. Using the tensor afterwards raises ValueError."},
      {"torch", torch_tensor, METH_NOARGS,
       "Returns the torch.Tensor of this tensor, the same object each time."},
      {"__reduce__", reduce, METH_NOARGS, "Pickles the tensor by value."},
      {"data_ptr", data_ptr, METH_NOARGS, "Returns the address of the first element."},
      {nullptr, nullptr, 0, nullptr},
  }};
  return list.data();
}

bool make_type() {
  static std::array<PyGetSetDef, 2> getters{{
      {"shape", shape, nullptr, "The sizes as a tuple.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr},
  }};
  static std::array<PyType_Slot, 6> slots{{
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate_tensor)},
      {Py_tp_methods, methods()},
      {Py_tp_getset, getters.data()},
      {Py_tp_repr, reinterpret_cast<void*>(tensor_repr)},
      {Py_tp_doc,
       const_cast<char*>("A tensor of PyTorch for Simple, created by simple_torch.from_dlpack().")},
      {0, nullptr},
  }};
  static PyType_Spec spec{"simple_torch.Tensor", sizeof(TensorObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  const Ref table(make_exchange_capsule());
  Ref created(PyType_FromSpec(&spec));
  if (!table || !created ||
      PyObject_SetAttrString(created.get(), "__dlpack_c_exchange_api__", table.get()) != 0) {
    return false;
  }
  tensor_type = reinterpret_cast<PyTypeObject*>(created.release());
  return true;
}

}  // namespace

PyObject* wrap_tensor(at::Tensor tensor) {
  PyObject* object = allocate_object();
  if (object != nullptr) {
    new (&reinterpret_cast<TensorObject*>(object)->tensor) at::Tensor(std::move(tensor));
  }
  return object;
}

const at::Tensor* unwrap_tensor(PyObject* object) noexcept {
  return Py_TYPE(object) == tensor_type ? &tensor_in(object) : nullptr;
}

bool check_not_moved(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    PyErr_SetString(PyExc_ValueError, "the tensor was moved by into_dlpack() and cannot be used");
  }
  return tensor.defined();
}

void raise_buffer_error(const ServiceError& error) {
  Ref cause = take_exception();
  if (cause && PyErr_GivenExceptionMatches(cause.get(), PyExc_Exception) == 0) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(cause.get())), cause.get());
    return;
  }
  PyErr_SetString(PyExc_BufferError, error.message);
  if (cause) {
    const Ref raised = take_exception();
    PyException_SetCause(raised.get(), cause.release());
    PyErr_SetObject(PyExc_BufferError, raised.get());
  }
}

bool has_core_module() {
  return PyDict_GetItemString(PyImport_GetModuleDict(), "simple_torch._core") != nullptr;
}

bool add_core_module() {
  static PyMethodDef function{
      "from_dlpack", as_method(from_dlpack), METH_FASTCALL | METH_KEYWORDS,
      "from_dlpack(x, *, device=None, copy=None): returns a tensor that shares the memory of x."};
  const Ref name(PyUnicode_FromString("simple_torch._core"));
  const Ref module(name ? PyModule_NewObject(name.get()) : nullptr);
  PyObject* modules = PyImport_GetModuleDict();  // borrowed
  if (!module || (tensor_type == nullptr && !make_type())) {
    return false;
  }
  const Ref importer(PyCFunction_NewEx(&function, nullptr, name.get()));
  const Ref writer(PyLong_FromVoidPtr(reinterpret_cast<void*>(write_to_python)));
  return importer && writer && PyObject_SetAttrString(module.get(), "writer_address", writer.get()) == 0 &&
         PyObject_SetAttrString(module.get(), "Tensor", reinterpret_cast<PyObject*>(tensor_type)) == 0 &&
         PyObject_SetAttrString(module.get(), "from_dlpack", importer.get()) == 0 &&
         add_sharing_functions(module.get()) && add_uniform_items_function(module.get()) &&
         PyDict_SetItem(modules, name.get(), module.get()) == 0;
}

}  // namespace simple_torch::bridge
