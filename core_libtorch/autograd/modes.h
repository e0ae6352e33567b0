// Inference mode as a pair of calls.
#pragma once

namespace simple_torch::core {

/// From here on, on this thread, as torch.inference_mode(enabled). They nest.
void begin_inference_mode(bool enabled);
/// Throws Error(kInvalidArgument) where none was begun on this thread.
void end_inference_mode();
bool is_inference_mode();

}  // namespace simple_torch::core
