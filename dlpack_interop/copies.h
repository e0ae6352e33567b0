// Copies: who may make them, and how many bytes they took.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "dlpack_interop/copy_rule.h"
#include "dlpack_interop/managed.h"

namespace simple_torch::dlpack {

/// A tensor, and why it is over memory of its own; "" where it shares the producer's.
struct Imported {
  at::Tensor tensor;
  const char* why_copied = "";
};

/// As import_tensor, under a rule: a copy that the producer made and flagged is refused by kNever, and
/// kAlways copies what the producer only lent. Throws as import_tensor does; Error(kInvalidArgument) for such
/// a copy.
Imported import_by_rule(Managed managed, CopyRule rule);

/// The same of a tensor of LibTorch's in this process; throws as share_tensor.
Imported share_by_rule(const at::Tensor& tensor, CopyRule rule);

/// Counts a copy that was made here, or by a producer for us.
void count_copied(const at::Tensor& copy) noexcept;

/// The bytes of all copies that crossing by DLPack took in this process.
int64_t copied_bytes() noexcept;

}  // namespace simple_torch::dlpack
