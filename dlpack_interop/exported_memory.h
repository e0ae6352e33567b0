// Keeps exported memory alive, whatever its storage does afterwards.
#pragma once

#include <c10/core/StorageImpl.h>

namespace simple_torch::dlpack {

/// The slow path of retain_memory_of(): the first call for a storage.
void retain_exported_memory(c10::StorageImpl& storage);

/// Call this before a storage is exported. From then on the storage rejects a resize. Where the storage
/// replaces its CPU memory, as share_memory_() does, the old memory lives until the storage dies.
/// Thread-safe. The storage's data pointer keeps its value.
inline void retain_memory_of(c10::StorageImpl& storage) {
  if (storage.resizable()) [[unlikely]] {
    retain_exported_memory(storage);
  }
}

}  // namespace simple_torch::dlpack
