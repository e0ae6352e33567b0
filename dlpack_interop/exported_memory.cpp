#include "dlpack_interop/exported_memory.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/Device.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace simple_torch::dlpack {
namespace {

using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;

/// The memory of an exported storage. It is the context of the storage's data pointer.
struct ExportedMemory {
  WeakStorage storage;
  c10::DataPtr memory;
};

/// Memory that live storages replaced. A consumer may still use it.
struct ReplacedMemories {
  std::mutex mutex;
  std::vector<std::unique_ptr<ExportedMemory>> memories;
};

ReplacedMemories& replaced_memories() {
  static auto& all = *new ReplacedMemories();  // never freed: tensors die while the process exits
  return all;
}

/// Frees the memories of dead storages, outside the lock.
void free_unused() {
  std::vector<std::unique_ptr<ExportedMemory>> unused;
  const std::scoped_lock lock(replaced_memories().mutex);
  for (auto& memory : replaced_memories().memories) {
    if (memory->storage.expired()) {
      unused.push_back(std::move(memory));
    }
  }
  std::erase(replaced_memories().memories, nullptr);
}

/// The deleter: runs when the storage dies or replaces its memory.
void release_memory(void* context) {
  std::unique_ptr<ExportedMemory> exported(static_cast<ExportedMemory*>(context));
  if (exported->storage.expired()) {
    return;
  }
  const std::scoped_lock lock(replaced_memories().mutex);
  replaced_memories().memories.push_back(std::move(exported));
}

/// Plain CPU memory. LibTorch recognizes files and shared memory by their deleters, which must stay.
bool is_plain_memory(const c10::DataPtr& memory) {
  return memory.device().is_cpu() && memory.get() != nullptr && memory.get_context() == memory.get();
}

void wrap_memory(c10::StorageImpl& storage) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (!storage.resizable()) {
    return;
  }
  if (is_plain_memory(storage.data_ptr())) {
    auto exported = std::make_unique<ExportedMemory>(ExportedMemory{
        WeakStorage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(&storage)), c10::DataPtr()});
    ExportedMemory* const context = exported.get();
    c10::DataPtr shared(storage.data_ptr().get(), exported.release(), &release_memory, storage.device());
    context->memory = storage.set_data_ptr(std::move(shared));
  }
  storage.set_resizable(false);
}

}  // namespace

void retain_exported_memory(c10::StorageImpl& storage) {
  free_unused();
  wrap_memory(storage);
}

}  // namespace simple_torch::dlpack
