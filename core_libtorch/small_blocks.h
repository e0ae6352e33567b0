// Memory of small CPU tensors, kept for the next one: taking aligned memory from the system and giving it
// back is a sixth of an addition of 2x2.
#pragma once

#include <cstddef>

namespace simple_torch::core {

/// From here on CPU tensors of at most 512 bytes take their memory from blocks that the thread keeps, up to
/// 64 of each size (61 KB a thread, freed as it ends). A block may be freed on another thread, which then
/// keeps it. Aligned to 64 bytes as LibTorch's own, and told to the profiler as its own are; larger tensors
/// stay with it. Does nothing where somebody has put another allocator in LibTorch's place already, and under
/// sanitizers, which are to see each piece of memory end.
void use_small_blocks();

/// Memory of at most 512 bytes from the same blocks, for what is made as often as tensors are; aligned to 64
/// bytes. Throws std::bad_alloc or c10's error. Give it back by give_small_block with the same size, on any
/// thread.
void* take_small_block(size_t bytes);
void give_small_block(void* memory, size_t bytes) noexcept;

}  // namespace simple_torch::core
