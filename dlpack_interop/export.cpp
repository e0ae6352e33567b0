// A tensor's memory for others: what keeps it alive, and what cannot be lent.
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

// Of a tensor that has one.
const c10::Storage& storage_of(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->unsafe_storage();
}

/// By the storage, which was looked at before; const_data_ptr() looks again.
void* first_element(const at::Tensor& tensor) {
  const c10::TensorImpl& fields = *tensor.unsafeGetTensorImpl();
  auto* const begin = static_cast<char*>(storage_of(tensor).data_ptr().get());
  return fields.numel() == 0 ? nullptr
                             : begin + static_cast<size_t>(fields.storage_offset()) * fields.itemsize();
}

/// All but shape and strides. Throws for a dtype or device that DLPack does not name.
void describe_memory(const at::Tensor& tensor, DLTensor& out) {
  out.data = first_element(tensor);
  out.device = dlpack_device(tensor.device());
  out.ndim = static_cast<int32_t>(tensor.dim());
  out.dtype = dlpack_dtype(tensor.scalar_type());
  out.byte_offset = 0;
}

/// A structure on loan: it keeps the storage, not the tensor, so that nothing of autograd or Python stays
/// alive with it. Shape and strides are copied, because a tensor may get others while it is lent.
template <class Structure>
class Loan {
 public:
  explicit Loan(const at::Tensor& tensor) : storage_(storage_of(tensor)) {
    keep_memory_of(*storage_.unsafeGetStorageImpl());
    const at::IntArrayRef sizes = tensor.sizes();
    const at::IntArrayRef strides = tensor.strides();
    const size_t dims = sizes.size();
    if (dims > kFewDims) {
      geometry_ = new int64_t[2 * dims];
    }
    for (size_t i = 0; i < dims; ++i) {
      geometry_[i] = sizes[i];
      geometry_[dims + i] = strides[i];
    }
  }
  ~Loan() {
    if (geometry_ != few_.data()) {
      delete[] geometry_;
    }
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  static void* operator new(size_t bytes) { return core::take_small_block(bytes); }
  static void operator delete(void* memory, size_t bytes) { core::give_small_block(memory, bytes); }

  /// Fills the structure. Throws for a dtype or device that DLPack does not name.
  void describe(const at::Tensor& tensor) {
    managed_.manager_ctx = this;
    managed_.deleter = &end;
    DLTensor& out = managed_.dl_tensor;
    describe_memory(tensor, out);
    out.shape = geometry_;
    out.strides = geometry_ + out.ndim;
  }

  Structure* structure() noexcept { return &managed_; }

  static const c10::Storage* storage_in(const Structure& managed) noexcept {
    return managed.deleter == &end ? &static_cast<const Loan*>(managed.manager_ctx)->storage_ : nullptr;
  }

 private:
  static constexpr size_t kFewDims = 8;

  static void end(Structure* self) { delete static_cast<Loan*>(self->manager_ctx); }

  Structure managed_;
  c10::Storage storage_;
  std::array<int64_t, 2 * kFewDims> few_;
  int64_t* geometry_ = few_.data();
};

/// Whoever gets the structure calls its deleter.
template <class Structure>
Structure* lend(const at::Tensor& tensor) {
  auto loan = std::make_unique<Loan<Structure>>(tensor);
  loan->describe(tensor);
  return loan.release()->structure();
}

Managed lend_with_flags(const at::Tensor& tensor, uint64_t flags) {
  auto* lent = lend<DLManagedTensorVersioned>(tensor);
  lent->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  lent->flags = flags;
  return Managed(lent);
}

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(ErrorKind::kInvalidArgument, "the tensor cannot be exported by DLPack: " + reason);
}

/// Whether its elements lie in its storage: a tensor that wraps others has none, nor has one whose storage
/// was resized.
bool has_its_memory(const at::Tensor& tensor) {
  const at::IntArrayRef sizes = tensor.sizes();
  const int64_t* const strides = tensor.strides().data();
  // Without a sign, because strides of a tensor without elements may be anything.
  auto last = static_cast<size_t>(tensor.unsafeGetTensorImpl()->storage_offset());
  for (size_t i = 0; i < sizes.size(); ++i) {
    last += static_cast<size_t>(sizes[i] - 1) * static_cast<size_t>(strides[i]);
  }
  const c10::StorageImpl& storage = *storage_of(tensor).unsafeGetStorageImpl();
  const size_t wanted = (last + 1) * tensor.unsafeGetTensorImpl()->itemsize();
  const bool is_empty = tensor.numel() == 0 && !storage.device().is_meta();
  return is_empty || (storage.nbytes() >= wanted && storage.data_ptr().get() != nullptr);
}

// A dense tensor of numbers on the CPU or a CUDA device, as most are: nothing forbids lending it.
bool is_plain(const at::Tensor& tensor) {
  constexpr c10::DispatchKeySet kPlain =
      c10::DispatchKeySet({c10::DispatchKey::Dense, c10::DispatchKey::ADInplaceOrView}) |
      c10::DispatchKeySet({c10::BackendComponent::CPUBit, c10::BackendComponent::CUDABit}) |
      c10::autograd_dispatch_keyset | c10::autocast_dispatch_keyset;
  const c10::DispatchKeySet keys = tensor.key_set();
  return (keys.raw_repr() & ~kPlain.raw_repr()) == 0 && keys.has(c10::DispatchKey::Dense) &&
         !tensor.requires_grad();
}

void require_lendable(const at::Tensor& tensor) {
  if (tensor.requires_grad()) {
    refuse("it requires grad, and its gradient would be lost; call detach() first");
  }
  if (tensor.is_nested()) {
    refuse("it is nested; call to_padded_tensor() first");
  }
  if (tensor.layout() != at::kStrided) {
    refuse("it is not strided; call to_dense() first");
  }
  if (tensor.is_quantized()) {
    refuse("it is quantized; call dequantize() or int_repr() first");
  }
  if (tensor.is_meta() || !tensor.has_storage()) {
    refuse("it has no memory; make one on a device that has some");
  }
}

void require_memory(const at::Tensor& tensor) {
  if (!has_its_memory(tensor)) {
    refuse(
        "its storage does not hold its elements, as of one that stands for others (fake, functional, "
        "wrapped); "
        "give the tensor behind it");
  }
}

/// Others will write: what LibTorch copies on the first write must be copied before they do.
void end_lazy_copy(const at::Tensor& tensor) {
  const c10::Storage& storage = storage_of(tensor);
  const at::DataPtr& memory = storage.data_ptr();
  const bool is_plain_memory = memory.get_context() == memory.get();  // as of LibTorch's allocator
  if (!is_plain_memory && c10::impl::cow::is_cow_data_ptr(memory)) {
    storage.mutable_data();
  }
}

void require_plain_values(const at::Tensor& tensor) {
  if (tensor.is_conj()) {
    refuse("its conjugate is not computed yet; call resolve_conj() first, or ask for a copy");
  }
  if (tensor.is_neg()) {
    refuse("its negative is not computed yet; call resolve_neg() first, or ask for a copy");
  }
  if (tensor._is_zerotensor()) {
    refuse("its zeros are not written anywhere yet; call clone() first, or ask for a copy");
  }
}

void require_lendable_as_is(const at::Tensor& tensor) {
  if (!is_plain(tensor)) {
    require_lendable(tensor);
    require_plain_values(tensor);
  }
  require_memory(tensor);
}

/// Throws for a dtype or device that DLPack does not name.
void require_name(const at::Tensor& tensor) {
  dlpack_dtype(tensor.scalar_type());
  dlpack_device(tensor.device());
}

/// READ_ONLY, where writing through LibTorch is forbidden by an import.
uint64_t read_only_flag(const at::Tensor& tensor) {
  return imported_flags(storage_of(tensor)) & DLPACK_FLAG_BITMASK_READ_ONLY;
}

bool is_read_only(const at::Tensor& tensor) { return read_only_flag(tensor) != 0; }

/// Whether nobody else has the storage of a loan, or can get it.
bool is_sole_owner(const c10::Storage& lent) {
  const auto storage = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(lent.unsafeGetStorageImpl());
  constexpr size_t kLoanAndThis = 2;
  constexpr size_t kNoWeakOnes = 1;  // all strong ones together count as one
  return storage.use_count() == kLoanAndThis && storage.weak_use_count() == kNoWeakOnes;
}

}  // namespace

Managed export_tensor(const at::Tensor& tensor, bool copy) {
  if (!copy) {
    require_lendable_as_is(tensor);
    end_lazy_copy(tensor);
    return lend_with_flags(tensor, read_only_flag(tensor));
  }
  return lend_with_flags(copied_values(tensor, at::MemoryFormat::Contiguous), DLPACK_FLAG_BITMASK_IS_COPIED);
}

Managed hand_over(Managed lent) noexcept {
  const c10::Storage& storage = *lent_storage(*lent.get());
  const uint64_t copied = imported_flags(storage) & DLPACK_FLAG_BITMASK_IS_COPIED;
  if (copied == 0 || !is_sole_owner(storage)) {
    return lent;
  }
  DLManagedTensorVersioned* flagged = lent.release();
  flagged->flags |= copied;
  return Managed(flagged);
}

at::Tensor copied_values(const at::Tensor& tensor, at::MemoryFormat format) {
  require_lendable(tensor);
  if (!tensor._is_zerotensor()) {
    require_memory(tensor);
  }
  require_name(tensor);
  at::Tensor copied = core::with_error_context(
      "to_dlpack", {&tensor}, [&] { return at::clone(tensor.resolve_conj().resolve_neg(), format); });
  count_copied(copied);
  return copied;
}

void borrow_tensor(const at::Tensor& tensor, DLTensor& out) {
  require_lendable_as_is(tensor);
  if (is_read_only(tensor)) {
    refuse("it is read-only, which a view cannot say; call clone() first");
  }
  end_lazy_copy(tensor);
  describe_memory(tensor, out);
  out.shape = const_cast<int64_t*>(tensor.sizes().data());
  out.strides = const_cast<int64_t*>(tensor.strides().data());
}

at::Tensor share_tensor(const at::Tensor& tensor) {
  require_lendable_as_is(tensor);
  require_name(tensor);
  return make_strided_tensor(storage_of(tensor), tensor.dtype(), tensor.sizes(), tensor.strides(),
                             tensor.storage_offset());
}

const c10::Storage* lent_storage(const DLManagedTensorVersioned& managed) noexcept {
  return Loan<DLManagedTensorVersioned>::storage_in(managed);
}

DLManagedTensor* export_legacy(const at::Tensor& tensor) {
  require_lendable_as_is(tensor);
  if (is_read_only(tensor)) {
    refuse("it is read-only, which the older structure cannot say; call clone() first");
  }
  end_lazy_copy(tensor);
  return lend<DLManagedTensor>(tensor);
}

}  // namespace simple_torch::dlpack
