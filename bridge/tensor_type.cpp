// The type simple_torch.Tensor, and from_dlpack().
#include "bridge/tensor_type.h"

#include <array>
#include <new>
#include <utility>

#include "bridge/deferred.h"
#include "bridge/lending.h"
#include "bridge/own_table.h"
#include "bridge/tensors.h"
#include "bridge/ways_in.h"

namespace simple_torch::bridge {
namespace {

struct TensorObject {
  PyObject ob_base;  // what PyObject_HEAD stands for
  at::Tensor tensor;
};

PyTypeObject* type = nullptr;  // made once, under the GIL; never freed

const at::Tensor& tensor_of(PyObject* self) { return reinterpret_cast<TensorObject*>(self)->tensor; }

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
  return lend_to_python(tensor_of(self), values, count, names);
}

PyObject* dlpack_device(PyObject* self, PyObject* /*none*/) { return device_for_python(tensor_of(self)); }

// ---- what a tensor tells

PyObject* shape(PyObject* self, void* /*closure*/) {
  const at::IntArrayRef sizes = tensor_of(self).sizes();
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
PyObject* torch_tensor(PyObject* self, PyObject* /*none*/) { return tensor_to_python(tensor_of(self)); }

PyObject* data_ptr(PyObject* self, PyObject* /*none*/) {
  return PyLong_FromVoidPtr(const_cast<void*>(tensor_of(self).const_data_ptr()));
}

PyObject* shown(PyObject* self) {
  const Ref same(torch_tensor(self, nullptr));
  return same ? PyUnicode_FromFormat("simple_torch.%R", same.get()) : nullptr;
}

// ---- from_dlpack

/// The rule of the keyword copy; false with an exception pending for other arguments.
bool read_rule(PyObject* const* values, Py_ssize_t count, PyObject* names, CopyRule& rule) {
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  if (count != 1 || named > 1 ||
      (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "copy") != 0)) {
    PyErr_SetString(PyExc_TypeError, "from_dlpack(x, *, copy=None) takes one object, and whether to copy");
    return false;
  }
  if (named == 0 || values[1] == Py_None) {
    return true;
  }
  const int copy = PyObject_IsTrue(values[1]);
  rule = copy == 1 ? CopyRule::kAlways : CopyRule::kNever;
  return copy >= 0;
}

/// Of a tensor of torch's or ours, which needs no structure between.
bool share(const at::Tensor& tensor, CopyRule rule, at::Tensor& out) {
  Refusal refusal;
  const bool is_shared = backend_services().share(tensor, rule, out, refusal);
  if (!is_shared) {
    raise_refusal(refusal);
  }
  return is_shared;
}

bool take(PyObject* object, CopyRule rule, at::Tensor& out) {
  if (const at::Tensor* own = unwrap_tensor(object)) {
    return share(*own, rule, out);
  }
  if (is_torch_tensor(object)) {
    return share(torch_tensor_in(object), rule, out);
  }
  TensorResult given{.tensor = &out};
  if (!take_foreign_tensor(object, rule, given)) {
    return false;
  }
  if (given.versioned == nullptr) {
    return rule != CopyRule::kAlways || share(out, rule, out);
  }
  Refusal refusal;
  const bool taken = backend_services().take(given.versioned, rule, out, refusal);
  if (!taken) {
    raise_refusal(refusal);
  }
  return taken;
}

PyObject* from_dlpack(PyObject* /*module*/, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  CopyRule rule = CopyRule::kIfNeeded;
  at::Tensor tensor;
  return read_rule(values, count, names, rule) && take(values[0], rule, tensor)
             ? wrap_tensor(std::move(tensor))
             : nullptr;
}

// ---- the type and the module

template <class Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef* methods() {
  static std::array<PyMethodDef, 5> list{{
      {"__dlpack__", as_method(dlpack), METH_FASTCALL | METH_KEYWORDS,
       "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None): the memory, as a DLPack "
       "capsule."},
      {"__dlpack_device__", dlpack_device, METH_NOARGS, "Device type and index, by DLPack's numbers."},
      {"torch", torch_tensor, METH_NOARGS,
       "The torch.Tensor that is this tensor, the same object each time."},
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
  return Py_TYPE(object) == type ? &tensor_of(object) : nullptr;
}

void raise_refusal(const Refusal& refusal) { PyErr_SetString(PyExc_BufferError, refusal.message); }

bool add_core_module() {
  static PyMethodDef function{
      "from_dlpack", as_method(from_dlpack), METH_FASTCALL | METH_KEYWORDS,
      "from_dlpack(x, *, copy=None): a tensor over the memory of any array that can be lent."};
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
