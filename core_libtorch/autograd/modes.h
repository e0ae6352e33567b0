// Inference mode as a pair of calls.
#pragma once

namespace simple_torch::core {

/// Enters torch.inference_mode(enabled) on this thread. Calls nest.
void begin_inference_mode(bool enabled);
/// Throws Error(kInvalidArgument) if this thread has not entered one.
void end_inference_mode();
bool is_inference_mode();

}  // namespace simple_torch::core
