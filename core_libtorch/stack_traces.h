// The C++ stack traces that LibTorch adds to its errors.
#pragma once

namespace simple_torch::core {

/// LibTorch's errors contain no stack traces from now on. Nothing here prints them, collecting one takes most
/// of the time of an error, and the unwinder crashes on the stack of a greenlet, whose outer part is
/// overwritten after a switch. TORCH_SHOW_CPP_STACKTRACES=1 keeps them, as in PyTorch.
void omit_stack_traces();

}  // namespace simple_torch::core
