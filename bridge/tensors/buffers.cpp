// Converts struct formats to DLPack dtypes, and strides from bytes to elements.
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

/// A held buffer and the DLPack struct that describes it.
struct BufferExport {
  DLManagedTensorVersioned managed{};
  Py_buffer view{};
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;

  static void deleter(DLManagedTensorVersioned* self) {
    queue_release(
        PendingKind::kMemory,
        [](void* what) {
          auto* held = static_cast<BufferExport*>(what);
          PyBuffer_Release(&held->view);
          delete held;
        },
        self->manager_ctx);
  }
};

/// The DLPack type code of a format character. The buffer's item size determines the width.
std::optional<uint8_t> dtype_code(std::string_view letter) {
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
        "buffer: format '%s' is big-endian, torch supports little-endian only; convert it first (NumPy: "
        "a.astype(a.dtype.newbyteorder('=')))",
        format);
    return false;
  }
  if (std::string_view("@=<>!").find(order) != std::string_view::npos) {
    letter.remove_prefix(1);
  }
  const std::optional<uint8_t> code = dtype_code(letter);
  if (!code || view.itemsize > 16) {
    PyErr_Format(PyExc_BufferError, "buffer: format '%s' has no torch dtype; convert it first", format);
    return false;
  }
  out = {*code, static_cast<uint8_t>(view.itemsize * 8), 1};
  return true;
}

/// Contiguous strides: some exporters (ctypes) omit the strides although they were requested.
void fill_contiguous_strides(BufferExport& held) {
  held.strides.assign(held.shape.size(), 1);
  for (size_t i = held.shape.size(); i-- > 1;) {
    held.strides[i - 1] = held.strides[i] * held.shape[i];
  }
}

bool fill_layout(BufferExport& held) {
  const Py_buffer& view = held.view;
  if (view.itemsize <= 0 || (view.ndim > 0 && view.shape == nullptr)) {
    PyErr_SetString(PyExc_BufferError, "buffer: shape is missing or itemsize is not positive; copy it first");
    return false;
  }
  if (view.strides == nullptr) {
    held.shape.assign(view.shape, view.shape + view.ndim);
    fill_contiguous_strides(held);
    return true;
  }
  for (int i = 0; i < view.ndim; ++i) {
    if (view.strides[i] % view.itemsize != 0) {
      PyErr_Format(PyExc_BufferError,
                   "buffer: strides[%d] must be a multiple of itemsize %zd, got %zd bytes; copy it first", i,
                   view.itemsize, view.strides[i]);
      return false;
    }
    held.shape.push_back(view.shape[i]);
    held.strides.push_back(view.strides[i] / view.itemsize);
  }
  return true;
}

bool describe(BufferExport& held) {
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
  held.managed.deleter = BufferExport::deleter;
  return true;
}

/// NumPy arrays of foreign dtypes (bfloat16, float8) and dates have no buffer, which NumPy reports as a
/// ValueError. Raises a BufferError from it that adds what to do.
void convert_dtype_error() {
  if (PyErr_ExceptionMatches(PyExc_ValueError) == 0) {
    return;
  }
  Ref error = take_exception();
  const Ref message(PyObject_Str(error.get()));
  const char* text = message ? PyUnicode_AsUTF8(message.get()) : nullptr;
  if (text == nullptr || std::string_view(text).find("cannot include dtype") == std::string_view::npos) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
    return;
  }
  PyErr_Format(PyExc_BufferError,
               "%S; view it as integers of the same width, then view the tensor as its dtype: "
               "torch.from_dlpack(a.view('uint16')).view(torch.bfloat16)",
               error.get());
  const Ref raised = take_exception();
  PyException_SetCause(raised.get(), error.release());
  PyErr_SetObject(PyExc_BufferError, raised.get());
}

}  // namespace

bool import_buffer(PyObject* object, TensorResult& out) {
  auto held = std::make_unique<BufferExport>();
  if (PyObject_GetBuffer(object, &held->view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    convert_dtype_error();
    return false;
  }
  if (!describe(*held)) {
    PyBuffer_Release(&held->view);
    return false;
  }
  out.versioned = &held.release()->managed;
  out.path = ImportPath::kBuffer;
  return true;
}

}  // namespace simple_torch::bridge
