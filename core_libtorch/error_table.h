// From LibTorch's exceptions to our kinds and fields.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include "core_libtorch/error.h"

namespace simple_torch::core {

/// The operands of a failed operation; any may be NULL or undefined.
using Operands = c10::ArrayRef<const at::Tensor*>;

/// Our Error for a LibTorch exception: the nearest kind and LibTorch's own message without its C++ backtrace.
/// The fields hold shapes, dtypes, devices or bytes from the message or the operands.
Error to_error(const char* op, Operands operands, const c10::Error& error);

/// Rethrows the exception that is being handled. LibTorch's is converted by to_error(), another
/// std::exception becomes kTorch. An Error of ours, std::bad_alloc and an exception without a message stay as
/// they are; the last is Python's, and the bridge reports it.
[[noreturn]] void rethrow_with_context(const char* op, Operands operands);

}  // namespace simple_torch::core
