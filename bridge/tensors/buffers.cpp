// Formats of the struct module in DLPack's terms, strides from bytes to elements.
#include "bridge/tensors/buffers.h"

#include <ATen/dlpack.h>

#include <bit>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

#include "bridge/objects/errors.h"
#include "bridge/runtime/pending_release.h"

namespace simple_torch::bridge {
namespace {

static_assert(std::endian::native == std::endian::little);

/// A buffer on loan from its object.
struct HeldBuffer {
  DLManagedTensorVersioned managed{};
  Py_buffer view{};
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;

  static void end(DLManagedTensorVersioned* self) {
    defer(
        Deferred::kMemory,
        [](void* what) {
          auto* held = static_cast<HeldBuffer*>(what);
          PyBuffer_Release(&held->view);
          delete held;
        },
        self->manager_ctx);
  }
};

/// The kind of value that a format character stands for; how wide it is, the buffer's item size says.
std::optional<uint8_t> code_of(std::string_view letter) {
  constexpr std::pair<std::string_view, DLDataTypeCode> kCodes[] = {
      {"?", kDLBool},  {"b", kDLInt},   {"h", kDLInt},      {"i", kDLInt},     {"l", kDLInt},
      {"q", kDLInt},   {"n", kDLInt},   {"B", kDLUInt},     {"c", kDLUInt},    {"H", kDLUInt},
      {"I", kDLUInt},  {"L", kDLUInt},  {"Q", kDLUInt},     {"N", kDLUInt},    {"e", kDLFloat},
      {"f", kDLFloat}, {"d", kDLFloat}, {"Zf", kDLComplex}, {"Zd", kDLComplex}};
  for (const auto& [name, code] : kCodes) {
    if (name == letter) {
      return static_cast<uint8_t>(code);
    }
  }
  return std::nullopt;
}

bool dtype_of(const Py_buffer& view, DLDataType& out) {
  const char* format = view.format == nullptr ? "B" : view.format;
  std::string_view letter = format;
  const char order = letter.empty() ? '\0' : letter[0];
  if ((order == '>' || order == '!') && view.itemsize > 1) {
    PyErr_Format(
        PyExc_BufferError,
        "the buffer's format is '%s', whose bytes are in big-endian order, and torch has little-endian "
        "numbers only; convert it first (NumPy: a.astype(a.dtype.newbyteorder('=')))",
        format);
    return false;
  }
  if (std::string_view("@=<>!").find(order) != std::string_view::npos) {
    letter.remove_prefix(1);
  }
  const std::optional<uint8_t> code = code_of(letter);
  if (!code || view.itemsize > 16) {
    PyErr_Format(PyExc_BufferError,
                 "the buffer's format is '%s', which is no number of torch's; convert it first", format);
    return false;
  }
  out = {*code, static_cast<uint8_t>(view.itemsize * 8), 1};
  return true;
}

/// Rows without gaps: some exporters (ctypes) leave the strides out although they are asked for.
void fill_plain_strides(HeldBuffer& held) {
  held.strides.assign(held.shape.size(), 1);
  for (size_t i = held.shape.size(); i-- > 1;) {
    held.strides[i - 1] = held.strides[i] * held.shape[i];
  }
}

bool fill_layout(HeldBuffer& held) {
  const Py_buffer& view = held.view;
  if (view.itemsize <= 0 || (view.ndim > 0 && view.shape == nullptr)) {
    PyErr_SetString(PyExc_BufferError, "the buffer has no shape, or items of no size; copy it first");
    return false;
  }
  if (view.strides == nullptr) {
    held.shape.assign(view.shape, view.shape + view.ndim);
    fill_plain_strides(held);
    return true;
  }
  for (int i = 0; i < view.ndim; ++i) {
    if (view.strides[i] % view.itemsize != 0) {
      PyErr_Format(
          PyExc_BufferError,
          "the buffer's strides[%d] is %zd bytes, which is no multiple of its item size, %zd; copy it first",
          i, view.strides[i], view.itemsize);
      return false;
    }
    held.shape.push_back(view.shape[i]);
    held.strides.push_back(view.strides[i] / view.itemsize);
  }
  return true;
}

bool describe(HeldBuffer& held) {
  DLTensor& tensor = held.managed.dl_tensor;
  if (!dtype_of(held.view, tensor.dtype) || !fill_layout(held)) {
    return false;
  }
  tensor.data = held.view.buf;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = held.view.ndim;
  tensor.shape = held.shape.data();
  tensor.strides = held.strides.data();
  held.managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  held.managed.flags = held.view.readonly != 0 ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  held.managed.manager_ctx = &held;
  held.managed.deleter = HeldBuffer::end;
  return true;
}

}  // namespace

namespace {

/// NumPy arrays of dtypes that are not its own (bfloat16, float8, dates) have no buffer, and say only that.
void say_how_to_view() {
  if (PyErr_ExceptionMatches(PyExc_ValueError) == 0) {
    return;
  }
  Ref said = take_exception();
  const Ref words(PyObject_Str(said.get()));
  const char* text = words ? PyUnicode_AsUTF8(words.get()) : nullptr;
  if (text == nullptr || std::string_view(text).find("cannot include dtype") == std::string_view::npos) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(said.get())), said.get());
    return;
  }
  PyErr_Format(PyExc_ValueError,
               "%S; view it as integers of its width, and the tensor as its dtype again: "
               "torch.from_dlpack(a.view('uint16')).view(torch.bfloat16)",
               said.get());
}

}  // namespace

bool take_buffer(PyObject* object, TensorResult& out) {
  auto held = std::make_unique<HeldBuffer>();
  if (PyObject_GetBuffer(object, &held->view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    say_how_to_view();
    return false;
  }
  if (!describe(*held)) {
    PyBuffer_Release(&held->view);
    return false;
  }
  out.versioned = &held.release()->managed;
  out.way = WayIn::kBuffer;
  return true;
}

}  // namespace simple_torch::bridge
