// Makes copies where a rule requires them, and counts their bytes.
#include "dlpack_interop/copies.h"

#include <atomic>

#include "core_libtorch/error.h"
#include "dlpack_interop/interop.h"

namespace simple_torch::dlpack {
namespace {

std::atomic<int64_t> copied{0};

Imported requested_copy(const at::Tensor& tensor) {
  return {.tensor = copied_values(tensor, at::MemoryFormat::Preserve), .why_copied = "a copy was requested"};
}

}  // namespace

Imported import_by_rule(Managed&& managed, CopyRule rule) {
  const bool is_copy =
      managed.get() != nullptr && (managed.get()->flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0;
  if (is_copy && rule == CopyRule::kNever) {
    throw Error(ErrorKind::kInvalidArgument,
                "from_dlpack: copy is False, but the producer copied its memory (flags has IS_COPIED); allow "
                "the copy, "
                "or pass an array whose memory the producer can share");
  }
  // A read-only copy is not the caller's own to write.
  const bool is_own = is_copy && (managed.get()->flags & DLPACK_FLAG_BITMASK_READ_ONLY) == 0;
  const bool counted = managed.get() != nullptr && exported_storage(*managed.get()) != nullptr;
  Imported imported{.tensor = import_tensor(std::move(managed))};
  if (is_copy) {
    imported.why_copied = "the producer copied its memory (flag IS_COPIED)";
    if (!counted) {
      count_copied(imported.tensor);
    }
  }
  return rule == CopyRule::kAlways && !is_own ? requested_copy(imported.tensor) : imported;
}

Imported share_by_rule(const at::Tensor& tensor, CopyRule rule) {
  return rule == CopyRule::kAlways ? requested_copy(tensor) : Imported{.tensor = share_tensor(tensor)};
}

void count_copied(const at::Tensor& copy) noexcept {
  copied.fetch_add(static_cast<int64_t>(copy.nbytes()), std::memory_order_relaxed);
}

int64_t copied_bytes() noexcept { return copied.load(std::memory_order_relaxed); }

}  // namespace simple_torch::dlpack
