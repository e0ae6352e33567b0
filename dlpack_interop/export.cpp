// Exports a tensor's memory: its owner, and the tensors that cannot be exported.
#include <ATen/ops/clone.h>
#include <c10/core/impl/COW.h>

#include <array>
#include <memory>
#include <new>
#include <string>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/small_blocks.h"
#include "dlpack_interop/copies.h"
#include "dlpack_interop/exported_memory.h"
#include "dlpack_interop/imported.h"
#include "dlpack_interop/interop.h"
#include "dlpack_interop/strided_tensor.h"
#include "dlpack_interop/types.h"

namespace simple_torch::dlpack {
namespace {

// The tensor must have a storage.
const c10::Storage& storage_of(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->unsafe_storage();
}

/// Reads the storage, which the caller has checked; const_data_ptr() would check it again.
void* first_element(const at::Tensor& tensor) {
  const c10::TensorImpl& fields = *tensor.unsafeGetTensorImpl();
  auto* const begin = static_cast<char*>(storage_of(tensor).data_ptr().get());
  return fields.numel() == 0 ? nullptr
                             : begin + static_cast<size_t>(fields.storage_offset()) * fields.itemsize();
}

/// Fills all fields except shape and strides. Throws for a dtype or device that DLPack does not name.
void describe_memory(const at::Tensor& tensor, DLTensor& out) {
  out.data = first_element(tensor);
  out.device = dlpack_device(tensor.device());
  out.ndim = static_cast<int32_t>(tensor.dim());
  out.dtype = dlpack_dtype(tensor.scalar_type());
  out.byte_offset = 0;
}

/// The owner of an exported structure. It holds the storage, not the tensor, so that it keeps nothing of
/// autograd or Python alive. It copies shape and strides, because the tensor's may change after the export.
template <class Structure>
class ExportedTensor {
 public:
  explicit ExportedTensor(const at::Tensor& tensor) : storage_(storage_of(tensor)) {
    retain_memory_of(*storage_.unsafeGetStorageImpl());
    const at::IntArrayRef sizes = tensor.sizes();
    const at::IntArrayRef strides = tensor.strides();
    const size_t dims = sizes.size();
    if (dims > kInlineDims) {
      geometry_ = new int64_t[2 * dims];
    }
    for (size_t i = 0; i < dims; ++i) {
      geometry_[i] = sizes[i];
      geometry_[dims + i] = strides[i];
    }
  }
  ~ExportedTensor() {
    if (geometry_ != inline_geometry_.data()) {
      delete[] geometry_;
    }
  }
  ExportedTensor(const ExportedTensor&) = delete;
  ExportedTensor& operator=(const ExportedTensor&) = delete;

  static void* operator new(size_t bytes) { return core::allocate_small_block(bytes); }
  static void operator delete(void* memory, size_t bytes) { core::free_small_block(memory, bytes); }

  /// Fills the structure. Throws for a dtype or device that DLPack does not name.
  void describe(const at::Tensor& tensor) {
    managed_.manager_ctx = this;
    managed_.deleter = &destroy;
    DLTensor& out = managed_.dl_tensor;
    describe_memory(tensor, out);
    out.shape = geometry_;
    out.strides = geometry_ + out.ndim;
  }

  Structure* structure() noexcept { return &managed_; }

  static const c10::Storage* storage_in(const Structure& managed) noexcept {
    return managed.deleter == &destroy ? &static_cast<const ExportedTensor*>(managed.manager_ctx)->storage_
                                       : nullptr;
  }

 private:
  static constexpr size_t kInlineDims = 8;

  static void destroy(Structure* self) { delete static_cast<ExportedTensor*>(self->manager_ctx); }

  Structure managed_;
  c10::Storage storage_;
  std::array<int64_t, 2 * kInlineDims> inline_geometry_;
  int64_t* geometry_ = inline_geometry_.data();
};

/// The caller owns the structure and calls its deleter.
template <class Structure>
Structure* export_structure(const at::Tensor& tensor) {
  auto exported = std::make_unique<ExportedTensor<Structure>>(tensor);
  exported->describe(tensor);
  return exported.release()->structure();
}

Managed export_with_flags(const at::Tensor& tensor, uint64_t flags) {
  auto* exported = export_structure<DLManagedTensorVersioned>(tensor);
  exported->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  exported->flags = flags;
  return Managed(exported);
}

[[noreturn]] void throw_export_error(const std::string& message) {
  throw Error(ErrorKind::kInvalidArgument, "to_dlpack: " + message);
}

/// Whether the storage holds all elements. It does not for a tensor that wraps another one, nor after a
/// resize of the storage.
bool has_its_memory(const at::Tensor& tensor) {
  const at::IntArrayRef sizes = tensor.sizes();
  const int64_t* const strides = tensor.strides().data();
  // Unsigned, so that the strides of an empty tensor, which may be any numbers, overflow without harm.
  auto last = static_cast<size_t>(tensor.unsafeGetTensorImpl()->storage_offset());
  for (size_t i = 0; i < sizes.size(); ++i) {
    last += static_cast<size_t>(sizes[i] - 1) * static_cast<size_t>(strides[i]);
  }
  const c10::StorageImpl& storage = *storage_of(tensor).unsafeGetStorageImpl();
  const size_t required = (last + 1) * tensor.unsafeGetTensorImpl()->itemsize();
  const bool is_empty = tensor.numel() == 0 && !storage.device().is_meta();
  return is_empty || (storage.nbytes() >= required && storage.data_ptr().get() != nullptr);
}

/// Whether the tensor is a dual number of an open forward-mode level; torch supports one level.
bool has_forward_gradient(const at::Tensor& tensor) {
  constexpr uint64_t kLevel = 0;
  return tensor.unsafeGetTensorImpl()->autograd_meta() != nullptr && tensor._fw_grad(kLevel).defined();
}

// A dense tensor of numbers on the CPU or a CUDA device, the common case, which can always be exported.
bool is_plain(const at::Tensor& tensor) {
  constexpr c10::DispatchKeySet kPlain =
      c10::DispatchKeySet({c10::DispatchKey::Dense, c10::DispatchKey::ADInplaceOrView}) |
      c10::DispatchKeySet({c10::BackendComponent::CPUBit, c10::BackendComponent::CUDABit}) |
      c10::autograd_dispatch_keyset | c10::autocast_dispatch_keyset;
  const c10::DispatchKeySet keys = tensor.key_set();
  return (keys.raw_repr() & ~kPlain.raw_repr()) == 0 && keys.has(c10::DispatchKey::Dense) &&
         !tensor.requires_grad() && !has_forward_gradient(tensor);
}

void require_exportable(const at::Tensor& tensor) {
  if (tensor.requires_grad()) {
    throw_export_error("Can't export tensors that require gradient, use tensor.detach()");
  }
  if (has_forward_gradient(tensor)) {
    throw_export_error(
        "Can't export tensors with a forward-mode gradient, use forward_ad.unpack_dual(tensor).primal");
  }
  if (tensor.is_nested()) {
    throw_export_error("Can't export nested tensors, use tensor.to_padded_tensor()");
  }
  if (tensor.layout() != at::kStrided) {
    throw_export_error("Can't export tensors with layout other than torch.strided, use tensor.to_dense()");
  }
  if (tensor.is_quantized()) {
    throw_export_error("Can't export quantized tensors, use tensor.dequantize() or tensor.int_repr()");
  }
  if (tensor.is_meta() || !tensor.has_storage()) {
    throw_export_error("Can't export tensors without memory, got device " + tensor.device().str());
  }
}

void require_memory(const at::Tensor& tensor) {
  if (!has_its_memory(tensor)) {
    throw_export_error(
        "Can't export tensors whose storage does not hold their elements (fake, functional or wrapped "
        "tensors); "
        "export the wrapped tensor");
  }
}

/// Materializes a copy-on-write storage: consumers write without LibTorch's knowledge.
void materialize_lazy_copy(const at::Tensor& tensor) {
  const c10::Storage& storage = storage_of(tensor);
  const at::DataPtr& memory = storage.data_ptr();
  const bool is_plain_memory = memory.get_context() == memory.get();  // as LibTorch's allocator makes it
  if (!is_plain_memory && c10::impl::cow::is_cow_data_ptr(memory)) {
    storage.mutable_data();
  }
}

void require_plain_values(const at::Tensor& tensor) {
  if (tensor.is_conj()) {
    throw_export_error(
        "Can't export tensors with the conjugate bit set, use tensor.resolve_conj() or copy=True");
  }
  if (tensor.is_neg()) {
    throw_export_error(
        "Can't export tensors with the negative bit set, use tensor.resolve_neg() or copy=True");
  }
  if (tensor._is_zerotensor()) {
    throw_export_error("Can't export zero tensors without memory, use tensor.clone() or copy=True");
  }
}

void require_shareable(const at::Tensor& tensor) {
  if (!is_plain(tensor)) {
    require_exportable(tensor);
    require_plain_values(tensor);
  }
  require_memory(tensor);
}

/// Throws for a dtype or device that DLPack does not name.
void require_dlpack_type(const at::Tensor& tensor) {
  dlpack_dtype(tensor.scalar_type());
  dlpack_device(tensor.device());
}

/// READ_ONLY where an import forbids writing through LibTorch, else 0.
uint64_t read_only_flag(const at::Tensor& tensor) {
  return imported_flags(storage_of(tensor)) & DLPACK_FLAG_BITMASK_READ_ONLY;
}

bool is_read_only(const at::Tensor& tensor) { return read_only_flag(tensor) != 0; }

/// Whether an export is the only owner of its storage, and no weak reference can make another one.
bool is_sole_owner(const c10::Storage& exported) {
  const auto storage = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(exported.unsafeGetStorageImpl());
  constexpr size_t kExportAndThis = 2;
  constexpr size_t kNoWeakReferences = 1;  // all strong references together count as one
  return storage.use_count() == kExportAndThis && storage.weak_use_count() == kNoWeakReferences;
}

}  // namespace

Managed export_tensor(const at::Tensor& tensor, bool copy) {
  if (!copy) {
    require_shareable(tensor);
    materialize_lazy_copy(tensor);
    return export_with_flags(tensor, read_only_flag(tensor));
  }
  return export_with_flags(copied_values(tensor, at::MemoryFormat::Contiguous),
                           DLPACK_FLAG_BITMASK_IS_COPIED);
}

Managed complete_move(Managed exported) noexcept {
  const c10::Storage& storage = *exported_storage(*exported.get());
  const uint64_t copied = imported_flags(storage) & DLPACK_FLAG_BITMASK_IS_COPIED;
  if (copied == 0 || !is_sole_owner(storage)) {
    return exported;
  }
  DLManagedTensorVersioned* flagged = exported.release();
  flagged->flags |= copied;
  return Managed(flagged);
}

at::Tensor copied_values(const at::Tensor& tensor, at::MemoryFormat format) {
  require_exportable(tensor);
  if (!tensor._is_zerotensor()) {
    require_memory(tensor);
  }
  require_dlpack_type(tensor);
  at::Tensor copied = core::with_error_context(
      "to_dlpack", {&tensor}, [&] { return at::clone(tensor.resolve_conj().resolve_neg(), format); });
  count_copied(copied);
  return copied;
}

void borrow_tensor(const at::Tensor& tensor, DLTensor& out) {
  require_shareable(tensor);
  if (is_read_only(tensor)) {
    throw_export_error(
        "Can't export read-only tensors as a DLTensor, which has no flags, use tensor.clone()");
  }
  materialize_lazy_copy(tensor);
  describe_memory(tensor, out);
  out.shape = const_cast<int64_t*>(tensor.sizes().data());
  out.strides = const_cast<int64_t*>(tensor.strides().data());
}

at::Tensor share_tensor(const at::Tensor& tensor) {
  require_shareable(tensor);
  require_dlpack_type(tensor);
  return make_strided_tensor(storage_of(tensor), tensor.dtype(), tensor.sizes(), tensor.strides(),
                             tensor.storage_offset());
}

const c10::Storage* exported_storage(const DLManagedTensorVersioned& managed) noexcept {
  return ExportedTensor<DLManagedTensorVersioned>::storage_in(managed);
}

DLManagedTensor* export_legacy(const at::Tensor& tensor) {
  require_shareable(tensor);
  if (is_read_only(tensor)) {
    throw_export_error("Can't export read-only tensors without DLPack 1 flags, use tensor.clone()");
  }
  materialize_lazy_copy(tensor);
  return export_structure<DLManagedTensor>(tensor);
}

}  // namespace simple_torch::dlpack
