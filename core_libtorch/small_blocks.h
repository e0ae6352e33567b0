// Memory of small CPU tensors, kept for the next one: taking aligned memory from the system and giving it back
// is a sixth of an addition of 2x2.
#pragma once

namespace simple_torch::core {

/// From here on CPU tensors of at most 512 bytes take their memory from blocks that the thread keeps, up to 64 of
/// each size (61 KB a thread, freed as it ends). A block may be freed on another thread, which then keeps it.
/// Aligned to 64 bytes as LibTorch's own, and told to the profiler as its own are; larger tensors stay with it.
/// Does nothing where somebody has put another allocator in LibTorch's place already, and under sanitizers, which
/// are to see each piece of memory end.
void use_small_blocks();

}  // namespace simple_torch::core
