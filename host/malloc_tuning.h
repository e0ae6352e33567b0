// Memory that a program frees is kept for it.
#pragma once

namespace spl {

/// The C library gives freed memory back to the system at once and fetches it anew, which a training step
/// pays for with thousands of page faults: its tensors are freed and asked for again each time. From here on
/// up to 512 MiB stay with the process. Nothing is changed where the environment sets glibc's own variables
/// for this.
void keep_freed_memory();

}  // namespace spl
