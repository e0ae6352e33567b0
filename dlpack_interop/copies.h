// Imports under a copy rule, and the count of copied bytes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "dlpack_interop/copy_rule.h"
#include "dlpack_interop/managed.h"

namespace simple_torch::dlpack {

/// An imported tensor and the reason of its copy; "" if it shares the producer's memory.
struct Imported {
  at::Tensor tensor;
  const char* why_copied = "";
};

/// As import_tensor, under a rule. kNever rejects a copy that the producer made and flagged. kAlways copies
/// memory that the producer shares. Throws as import_tensor, and Error(kInvalidArgument) for a rejected copy.
Imported import_by_rule(Managed&& managed, CopyRule rule);

/// The same for a LibTorch tensor of this process. Throws as share_tensor.
Imported share_by_rule(const at::Tensor& tensor, CopyRule rule);

/// Counts a copy that this library made, or that a producer made for it.
void count_copied(const at::Tensor& copy) noexcept;

/// The bytes of all copies that exports and imports by DLPack made in this process.
int64_t copied_bytes() noexcept;

}  // namespace simple_torch::dlpack
