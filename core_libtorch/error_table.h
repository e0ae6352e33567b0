// From LibTorch's exceptions to our kinds and fields.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include "core_libtorch/error.h"

namespace simple_torch::core {

/// The operands of a failed operation; any may be NULL or undefined.
using Operands = c10::ArrayRef<const at::Tensor*>;

/// Our Error for a LibTorch exception: the nearest kind, LibTorch's own words without its C++ backtrace, and
/// in the fields what the message or the operands tell about shapes, dtypes, devices or bytes.
Error explain(const char* op, Operands operands, const c10::Error& error);

/// Rethrows the exception that is being handled: LibTorch's as explain() has it, a plain one that comes out
/// of LibTorch as kTorch, an Error of ours and std::bad_alloc as they are. So is one without words, as that
/// of Python code which LibTorch called: its words are Python's to tell.
[[noreturn]] void rethrow_with_context(const char* op, Operands operands);

}  // namespace simple_torch::core
