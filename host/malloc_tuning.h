// Settings of glibc's malloc for training steps.
#pragma once

namespace spl {

/// Makes malloc keep up to 512 MiB of freed memory in the process. By default glibc returns large freed
/// blocks to the system at once. A training step frees and allocates its tensors each time, which then costs
/// thousands of page faults. Does nothing if the environment sets glibc's variables for this.
void tune_malloc();

}  // namespace spl
