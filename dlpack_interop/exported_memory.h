// Memory that was lent outlives what its storage does afterwards.
#pragma once

#include <c10/core/StorageImpl.h>

namespace simple_torch::dlpack {

/// What keep_memory_of() does the first time.
void keep_memory_from_now_on(c10::StorageImpl& storage);

/// To be called before a storage is lent. From then on the storage refuses to be resized, and where it gives
/// its CPU memory up for other memory, as share_memory_() does, the old memory stays until nobody holds the
/// storage any more. From any thread. The storage's data pointer keeps its value and its meaning.
inline void keep_memory_of(c10::StorageImpl& storage) {
  if (storage.resizable()) [[unlikely]] {
    keep_memory_from_now_on(storage);
  }
}

}  // namespace simple_torch::dlpack
