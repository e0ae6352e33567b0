// The type simple_torch.Tensor, its methods, and from_dlpack().
#include "bridge/tensor_type.h"

#include <ATen/dlpack.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <array>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "bridge/own_table.h"
#include "bridge/tensors.h"
#include "bridge/values.h"
#include "bridge/ways_in.h"

namespace simple_torch::bridge {
namespace {

const DlpackServices* given_services = nullptr;

struct TensorObject {
  PyObject ob_base;  // what PyObject_HEAD stands for
  at::Tensor tensor;
};

PyTypeObject* type = nullptr;  // made once, under the GIL; never freed

const at::Tensor& tensor_of(PyObject* self) { return reinterpret_cast<TensorObject*>(self)->tensor; }

void deallocate(PyObject* self) {
  reinterpret_cast<TensorObject*>(self)->tensor.~Tensor();
  type->tp_free(self);
  Py_DECREF(type);
}

DLDevice device_of(const at::Tensor& tensor) {
  return tensor.is_cpu() ? DLDevice{kDLCPU, 0} : DLDevice{kDLCUDA, tensor.device().index()};
}

// ---- __dlpack__

struct Options {
  PyObject* stream = Py_None;
  PyObject* max_version = Py_None;
  PyObject* dl_device = Py_None;
  PyObject* copy = Py_None;
};

/// False with a TypeError pending for a name that is none of these.
bool read_options(PyObject* const* values, PyObject* names, Options& options) {
  const Py_ssize_t count = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    const char* text = PyUnicode_AsUTF8(name);
    const std::string_view known = text == nullptr ? "" : text;
    PyObject** place = known == "stream"        ? &options.stream
                       : known == "max_version" ? &options.max_version
                       : known == "dl_device"   ? &options.dl_device
                       : known == "copy"        ? &options.copy
                                                : nullptr;
    if (place == nullptr) {
      PyErr_Format(PyExc_TypeError, "__dlpack__() got an unexpected keyword argument '%U'", name);
      return false;
    }
    *place = values[i];
  }
  return true;
}

/// False with a BufferError pending when the tensor is wanted on another device.
bool is_where_wanted(const at::Tensor& tensor, PyObject* wanted) {
  int kind = 0;
  int index = 0;
  if (wanted == Py_None) {
    return true;
  }
  if (!PyTuple_Check(wanted) || PyArg_ParseTuple(wanted, "ii", &kind, &index) == 0) {
    if (PyErr_Occurred() == nullptr) {
      PyErr_SetString(PyExc_TypeError, "dl_device is a pair of device type and index");
    }
    return false;
  }
  const DLDevice here = device_of(tensor);
  if (kind == here.device_type && index == here.device_id) {
    return true;
  }
  PyErr_Format(PyExc_BufferError,
               "dl_device is (%d, %d), and the tensor is on (%d, %d); move it there before it is lent", kind,
               index, static_cast<int>(here.device_type), static_cast<int>(here.device_id));
  return false;
}

/// What was begun on the tensor's current stream is done before another stream reads. -1 asks for nothing.
/// False with an exception pending.
bool order_streams(const at::Tensor& tensor, PyObject* stream) {
  if (stream == Py_None && tensor.is_cpu()) {
    return true;
  }
  if (tensor.is_cpu()) {
    PyErr_SetString(PyExc_BufferError, "stream is given, and the CPU has none; leave it away");
    return false;
  }
  if (stream != Py_None && PyLong_AsLongLong(stream) == -1) {
    return PyErr_Occurred() == nullptr;
  }
  try {
    const c10::impl::VirtualGuardImpl guard(tensor.device().type());
    guard.synchronizeStream(guard.getStream(tensor.device()));
    return true;
  } catch (const c10::Error& error) {
    PyErr_SetString(PyExc_BufferError, error.what_without_backtrace());
    return false;
  }
}

/// Whether the consumer reads structures of DLPack 1; -1 with an exception pending.
int reads_versioned(PyObject* max_version) {
  if (max_version == Py_None) {
    return 0;
  }
  int major = 0;
  int minor = 0;
  if (!PyTuple_Check(max_version) || PyArg_ParseTuple(max_version, "ii", &major, &minor) == 0) {
    if (PyErr_Occurred() == nullptr) {
      PyErr_SetString(PyExc_TypeError, "max_version is a pair of major and minor version");
    }
    return -1;
  }
  return major >= 1 ? 1 : 0;
}

PyObject* legacy_capsule(const at::Tensor& tensor) {
  DLManagedTensor* lent = nullptr;
  Refusal refusal;
  if (!dlpack_services().lend_legacy(tensor, &lent, refusal)) {
    raise_refusal(refusal);
    return nullptr;
  }
  return legacy_capsule_of(lent);
}

PyObject* versioned_capsule(const at::Tensor& tensor, bool copy) {
  DLManagedTensorVersioned* lent = nullptr;
  Refusal refusal;
  if (!dlpack_services().lend(tensor, copy, &lent, refusal)) {
    raise_refusal(refusal);
    return nullptr;
  }
  PyObject* capsule = capsule_of(&lent);
  if (capsule == nullptr) {
    lent->deleter(lent);
  }
  return capsule;
}

PyObject* dlpack(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  if (count != 0) {
    PyErr_SetString(PyExc_TypeError, "__dlpack__() takes keyword arguments only");
    return nullptr;
  }
  const at::Tensor& tensor = tensor_of(self);
  Options options;
  if (!read_options(values, names, options) || !is_where_wanted(tensor, options.dl_device) ||
      !order_streams(tensor, options.stream)) {
    return nullptr;
  }
  const int versioned = reads_versioned(options.max_version);
  const int copy = options.copy == Py_None ? 0 : PyObject_IsTrue(options.copy);
  if (versioned < 0 || copy < 0) {
    return nullptr;
  }
  if (versioned == 0 && copy != 0) {
    PyErr_SetString(PyExc_BufferError,
                    "copy is true, which the older structure cannot say; ask for max_version (1, 0)");
    return nullptr;
  }
  return versioned != 0 ? versioned_capsule(tensor, copy != 0) : legacy_capsule(tensor);
}

PyObject* dlpack_device(PyObject* self, PyObject* /*none*/) {
  const DLDevice device = device_of(tensor_of(self));
  return Py_BuildValue("(ii)", static_cast<int>(device.device_type), static_cast<int>(device.device_id));
}

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
  const bool is_shared = dlpack_services().share(tensor, rule, out, refusal);
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
  TensorResult given{.tensor = nullptr};
  if (!take_foreign_tensor(object, rule, given)) {
    return false;
  }
  Refusal refusal;
  const bool taken = dlpack_services().take(given.versioned, given.legacy, rule, out, refusal);
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

void set_dlpack_services(const DlpackServices* services) noexcept { given_services = services; }

const DlpackServices& dlpack_services() noexcept { return *given_services; }

PyObject* wrap_tensor(at::Tensor tensor) {
  PyObject* object = type->tp_alloc(type, 0);
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
