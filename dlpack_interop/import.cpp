// Imports foreign memory as a tensor; checks every field before LibTorch sees it.
#include <c10/core/StorageImpl.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core_libtorch/error.h"
#include "dlpack_interop/imported.h"
#include "dlpack_interop/interop.h"
#include "dlpack_interop/strided_tensor.h"
#include "dlpack_interop/types.h"

namespace simple_torch::dlpack {
namespace {

constexpr uint64_t kExportedFlags = DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;
constexpr int32_t kMaxDims = 64;  // the limit of torch's kernels

[[noreturn]] void throw_import_error(const std::string& message) {
  throw Error(ErrorKind::kInvalidArgument, "from_dlpack: " + message);
}

/// An unversioned tensor wrapped in a versioned structure.
struct WrappedLegacy {
  DLManagedTensorVersioned versioned;
  DLManagedTensor* legacy;

  static void destroy(DLManagedTensorVersioned* self) {
    const std::unique_ptr<WrappedLegacy> wrapped(static_cast<WrappedLegacy*>(self->manager_ctx));
    if (wrapped->legacy->deleter != nullptr) {
      wrapped->legacy->deleter(wrapped->legacy);
    }
  }
};

/// The checked description of a tensor, in torch's terms.
struct Checked {
  c10::ScalarType dtype;
  c10::Device device;
  at::IntArrayRef sizes;
  at::IntArrayRef producer_strides;
  c10::SmallVector<int64_t, 8> own_strides;  // computed, where the producer's cannot be used as they are
  void* data;
  int64_t bytes;  // from the first element to the end of the last

  at::IntArrayRef strides() const { return own_strides.empty() ? producer_strides : own_strides; }
};

[[noreturn]] void throw_overflow(const std::string& what) { throw_import_error(what + " overflows int64"); }

int64_t times(int64_t a, int64_t b, const char* what) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw_overflow(what);
  }
  return product;
}

at::IntArrayRef checked_sizes(const DLTensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > kMaxDims) {
    throw_import_error("ndim must be between 0 and " + std::to_string(kMaxDims) + ", got " +
                       std::to_string(tensor.ndim));
  }
  if (tensor.ndim > 0 && tensor.shape == nullptr) {
    throw_import_error("shape must not be NULL if ndim > 0, got NULL with ndim " +
                       std::to_string(tensor.ndim));
  }
  const at::IntArrayRef sizes(tensor.shape, static_cast<size_t>(tensor.ndim));
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) {
      throw_import_error("shape[" + std::to_string(i) + "] must be non-negative, got " +
                         std::to_string(sizes[i]));
    }
  }
  return sizes;
}

/// The producer's strides, or contiguous ones. Older producers leave strides out. The stride of a dimension
/// with at most one element has no meaning and may be any number.
c10::SmallVector<int64_t, 8> checked_strides(const DLTensor& tensor, at::IntArrayRef sizes) {
  c10::SmallVector<int64_t, 8> strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    const bool has_stride = tensor.strides != nullptr && (sizes[i] > 1 || tensor.strides[i] >= 0);
    strides[i] = has_stride ? tensor.strides[i] : step;
    if (strides[i] < 0) {
      throw_import_error("strides[" + std::to_string(i) + "] must be non-negative, got " +
                         std::to_string(strides[i]) +
                         " (torch has no negative strides); copy the array in the producer");
    }
    step = times(step, std::max<int64_t>(sizes[i], 1), "the number of elements");
  }
  return strides;
}

int64_t extent_in_bytes(at::IntArrayRef sizes, at::IntArrayRef strides, int64_t item_bytes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return 0;
  }
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (__builtin_add_overflow(last, times(sizes[i] - 1, strides[i], "the extent of shape and strides"),
                               &last)) {
      throw_overflow("the extent of shape and strides");
    }
  }
  if (last == std::numeric_limits<int64_t>::max()) {
    throw_overflow("the extent of shape and strides");
  }
  return times(last + 1, item_bytes, "the extent of shape and strides in bytes");
}

/// The end of the addresses of a process. Linux on x86-64 maps memory above 2^47 only where a process asks
/// for it.
uintptr_t address_limit(const void* data) {
  constexpr uintptr_t kLargest = uintptr_t{1} << 56U;
#ifdef __x86_64__
  constexpr uintptr_t kUsual = uintptr_t{1} << 47U;
  return reinterpret_cast<uintptr_t>(data) < kUsual ? kUsual : kLargest;
#else
  static_cast<void>(data);
  return kLargest;
#endif
}

void* checked_data(const DLTensor& tensor, int64_t bytes, int64_t item_bytes) {
  if (bytes == 0) {
    return nullptr;
  }
  if (tensor.data == nullptr) {
    throw_import_error("data must not be NULL for a tensor with elements");
  }
  uintptr_t address = 0;
  uintptr_t end = 0;
  const uintptr_t limit = address_limit(tensor.data);
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(tensor.data), tensor.byte_offset, &address) ||
      address >= limit) {
    throw_import_error("byte_offset must keep data in the address space, got " +
                       std::to_string(tensor.byte_offset));
  }
  if (__builtin_add_overflow(address, static_cast<uintptr_t>(bytes), &end) || end > limit) {
    throw_import_error("shape and strides must end in the address space, got an extent of " +
                       std::to_string(bytes) + " bytes");
  }
  // 16 for complex128, too: LibTorch's kernels load such an element whole.
  if (address % static_cast<uintptr_t>(item_bytes) != 0) {
    throw_import_error("data + byte_offset must be a multiple of " + std::to_string(item_bytes) +
                       " bytes, the size of an element; copy the array in the producer");
  }
  return reinterpret_cast<void*>(address);
}

/// Whether strides, shape and data are all present and can be used as they are; fills `bytes` and `data`
/// then. The slow path decides on all others and names the invalid field.
bool validate_fast(const DLTensor& tensor, int64_t item_bytes, Checked& out) {
  if (tensor.ndim < 0 || tensor.ndim > kMaxDims || tensor.shape == nullptr || tensor.strides == nullptr) {
    return false;
  }
  bool is_unusual = tensor.data == nullptr;
  int64_t count = 1;
  int64_t last = 0;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    const int64_t size = tensor.shape[i];
    const int64_t stride = tensor.strides[i];
    int64_t reach = 0;
    is_unusual |= size <= 0 || stride < 0;
    is_unusual |= __builtin_mul_overflow(count, size, &count);
    is_unusual |= __builtin_mul_overflow(std::max<int64_t>(size, 1) - 1, stride, &reach);
    is_unusual |= __builtin_add_overflow(last, reach, &last);
  }
  const auto data = reinterpret_cast<uintptr_t>(tensor.data);
  uintptr_t address = 0;
  uintptr_t end = 0;
  is_unusual |= __builtin_add_overflow(last, 1, &last);
  is_unusual |= __builtin_mul_overflow(last, item_bytes, &out.bytes);
  is_unusual |= __builtin_add_overflow(data, tensor.byte_offset, &address);
  is_unusual |= __builtin_add_overflow(address, static_cast<uintptr_t>(out.bytes), &end);
  is_unusual |= end > address_limit(tensor.data);
  is_unusual |= address % static_cast<uintptr_t>(item_bytes) != 0;
  out.data = reinterpret_cast<void*>(address);
  return !is_unusual;
}

Checked checked(const DLTensor& tensor) {
  Checked out{torch_dtype(tensor.dtype), torch_device(tensor.device), {}, {}, {}, nullptr, 0};
  const auto item_bytes = static_cast<int64_t>(c10::elementSize(out.dtype));
  if (validate_fast(tensor, item_bytes, out)) {
    const auto dims = static_cast<size_t>(tensor.ndim);
    out.sizes = {tensor.shape, dims};
    out.producer_strides = {tensor.strides, dims};
    return out;
  }
  out.sizes = checked_sizes(tensor);
  out.own_strides = checked_strides(tensor, out.sizes);
  out.bytes = extent_in_bytes(out.sizes, out.strides(), item_bytes);
  out.data = checked_data(tensor, out.bytes, item_bytes);
  return out;
}

Checked checked(const DLManagedTensorVersioned* managed) {
  if (managed == nullptr) {
    throw_import_error("the DLPack tensor must not be NULL");
  }
  // A structure of another major version shares only the position of the deleter.
  if (managed->version.major != DLPACK_MAJOR_VERSION) {
    throw_import_error("version.major must be " + std::to_string(DLPACK_MAJOR_VERSION) + ", got " +
                       std::to_string(managed->version.major));
  }
  return checked(managed->dl_tensor);
}

/// torch stores two float4 values in a byte and has no dtype for one sub-byte value in each byte.
void require_packed(uint64_t flags, const DLDataType& dtype) {
  if (dtype.bits < 8 && (flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0) {
    throw_import_error("flags must not have IS_SUBBYTE_TYPE_PADDED for a dtype of " +
                       std::to_string(dtype.bits) +
                       " bits, which torch packs; convert the array in the producer");
  }
}

/// Runs the producer's deleter when the last user of the memory is gone.
void release_imported(void* context) {
  const Managed released(static_cast<DLManagedTensorVersioned*>(context));
}

at::Tensor make_tensor(c10::Storage storage, const Checked& checked, int64_t first) {
  return make_strided_tensor(std::move(storage), c10::scalarTypeToTypeMeta(checked.dtype), checked.sizes,
                             checked.strides(), first);
}

c10::intrusive_ptr<c10::StorageImpl> storage_of(const Checked& foreign, void* owner, void (*release)(void*)) {
  return c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), static_cast<size_t>(foreign.bytes),
      at::DataPtr(foreign.data, owner, release, foreign.device), /*allocator=*/nullptr, /*resizable=*/false);
}

/// The index of the first element in our own storage that comes back unchanged; -1 for any other memory.
int64_t first_element(const c10::Storage& exported, const Checked& checked, uint64_t flags) {
  const auto begin = reinterpret_cast<uintptr_t>(exported.data());
  const auto data = reinterpret_cast<uintptr_t>(checked.data);
  const auto item_bytes = static_cast<uintptr_t>(c10::elementSize(checked.dtype));
  const bool is_within = data >= begin &&
                         data + static_cast<uintptr_t>(checked.bytes) <= begin + exported.nbytes() &&
                         (data - begin) % item_bytes == 0;
  const uint64_t known = imported_flags(exported);
  const bool is_same = exported.device() == checked.device &&
                       (flags == known || flags == (known & ~DLPACK_FLAG_BITMASK_IS_COPIED));
  return is_within && is_same && checked.bytes != 0 ? static_cast<int64_t>((data - begin) / item_bytes) : -1;
}

}  // namespace

Managed::Managed(DLManagedTensor* owned) {
  if (owned == nullptr) {
    return;
  }
  auto* wrapped = new (std::nothrow) WrappedLegacy{};
  if (wrapped == nullptr) {
    if (owned->deleter != nullptr) {
      owned->deleter(owned);
    }
    throw std::bad_alloc();
  }
  wrapped->legacy = owned;
  wrapped->versioned.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  wrapped->versioned.manager_ctx = wrapped;
  wrapped->versioned.deleter = WrappedLegacy::destroy;
  wrapped->versioned.dl_tensor = owned->dl_tensor;
  tensor_ = &wrapped->versioned;
}

at::Tensor import_tensor(Managed&& managed) {
  const Checked foreign = checked(managed.get());
  const uint64_t flags = managed.get()->flags;
  require_packed(flags, managed.get()->dl_tensor.dtype);
  if (const c10::Storage* exported = exported_storage(*managed.get())) {
    if (const int64_t first = first_element(*exported, foreign, flags); first >= 0) {
      at::Tensor tensor = make_tensor(*exported, foreign, first);
      const Managed consumed = std::move(managed);
      return tensor;
    }
  }
  auto storage = storage_of(foreign, managed.release(), release_imported);
  if ((flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
    storage->set_throw_on_mutable_data_ptr();
  }
  return make_tensor(c10::Storage(std::move(storage)), foreign, 0);
}

at::Tensor import_memory(const DLTensor& described, void* owner, void (*release)(void*)) {
  std::unique_ptr<void, void (*)(void*)> owned(owner, release);
  const Checked foreign = checked(described);
  return make_tensor(c10::Storage(storage_of(foreign, owned.release(), release)), foreign, 0);
}

uint64_t imported_flags(const c10::Storage& storage) noexcept {
  const at::DataPtr& memory = storage.data_ptr();
  return memory.get_deleter() == release_imported
             ? static_cast<const DLManagedTensorVersioned*>(memory.get_context())->flags & kExportedFlags
             : 0;
}

}  // namespace simple_torch::dlpack
