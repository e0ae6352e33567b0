// A tensor's memory for others: what keeps it alive, and what cannot be lent.
#include <ATen/ops/clone.h>

#include <memory>
#include <new>
#include <string>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"
#include "core_libtorch/explained.h"
#include "dlpack_interop/copies.h"
#include "dlpack_interop/imported.h"
#include "dlpack_interop/interop.h"
#include "dlpack_interop/types.h"

namespace simple_torch::dlpack {
namespace {

/// A structure on loan: it keeps the storage, not the tensor, so that nothing of autograd or Python stays
/// alive with it. Shape and strides are copied, because a tensor may be resized while it is lent.
template <class Structure>
struct Loan {
  Structure managed{};
  c10::Storage storage;
  c10::SmallVector<int64_t, 16> sizes_and_strides;

  static void end(Structure* self) { delete static_cast<Loan*>(self->manager_ctx); }
};

template <class Structure>
std::unique_ptr<Loan<Structure>> lend(const at::Tensor& tensor) {
  auto loan = std::make_unique<Loan<Structure>>();
  loan->storage = tensor.storage();
  loan->sizes_and_strides.append(tensor.sizes().begin(), tensor.sizes().end());
  loan->sizes_and_strides.append(tensor.strides().begin(), tensor.strides().end());
  loan->managed.manager_ctx = loan.get();
  loan->managed.deleter = &Loan<Structure>::end;
  DLTensor& out = loan->managed.dl_tensor;
  out.data = const_cast<void*>(tensor.const_data_ptr());
  out.device = dlpack_device(tensor.device());
  out.ndim = static_cast<int32_t>(tensor.dim());
  out.dtype = dlpack_dtype(tensor.scalar_type());
  out.shape = loan->sizes_and_strides.data();
  out.strides = loan->sizes_and_strides.data() + tensor.dim();
  out.byte_offset = 0;
  return loan;
}

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(ErrorKind::kInvalidArgument, "the tensor cannot be exported by DLPack: " + reason);
}

void require_lendable(const at::Tensor& tensor) {
  if (tensor.requires_grad()) {
    refuse("it requires grad, and its gradient would be lost; call detach() first");
  }
  if (tensor.layout() != at::kStrided || tensor.is_nested()) {
    refuse("it is not strided; call to_dense() first");
  }
  if (tensor.is_quantized()) {
    refuse("it is quantized; call dequantize() or int_repr() first");
  }
  if (tensor.is_meta() || !tensor.has_storage()) {
    refuse("it has no memory");
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

/// Whether writing through LibTorch is forbidden, by an import or by others.
bool is_read_only(const at::Tensor& tensor) {
  return (imported_flags(tensor.storage()) & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
}

}  // namespace

Managed export_tensor(const at::Tensor& tensor, bool copy) {
  require_lendable(tensor);
  at::Tensor lent = tensor;
  uint64_t flags = DLPACK_FLAG_BITMASK_IS_COPIED;
  if (copy) {
    lent = core::explained("to_dlpack", {&tensor}, [&] {
      return at::clone(tensor.resolve_conj().resolve_neg(), at::MemoryFormat::Contiguous);
    });
    count_copied(lent);
  } else {
    require_plain_values(tensor);
    flags = imported_flags(tensor.storage());
  }
  auto loan = lend<DLManagedTensorVersioned>(lent);
  loan->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  loan->managed.flags = flags;
  return Managed(&loan.release()->managed);
}

bool is_own_export(const DLManagedTensorVersioned& managed) noexcept {
  return managed.deleter == &Loan<DLManagedTensorVersioned>::end;
}

DLManagedTensor* export_legacy(const at::Tensor& tensor) {
  require_lendable(tensor);
  require_plain_values(tensor);
  if (is_read_only(tensor)) {
    refuse("it is read-only, which the older structure cannot say; call clone() first");
  }
  return &lend<DLManagedTensor>(tensor).release()->managed;
}

}  // namespace simple_torch::dlpack
