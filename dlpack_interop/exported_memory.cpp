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

/// The memory of a storage that was lent, in the storage's data pointer in place of the plain one.
struct LentMemory {
  WeakStorage storage;
  c10::DataPtr memory;
};

/// What storages gave up while somebody held them; it may be lent still.
struct GivenUp {
  std::mutex mutex;
  std::vector<std::unique_ptr<LentMemory>> memories;
};

GivenUp& given_up() {
  static auto& all = *new GivenUp();  // never freed: tensors die while the process exits
  return all;
}

/// Frees what nobody can hold any more, outside the lock.
void sweep() {
  std::vector<std::unique_ptr<LentMemory>> ended;
  const std::scoped_lock lock(given_up().mutex);
  for (auto& memory : given_up().memories) {
    if (memory->storage.expired()) {
      ended.push_back(std::move(memory));
    }
  }
  std::erase(given_up().memories, nullptr);
}

/// The deleter: the storage dies, or takes other memory.
void give_up(void* context) {
  std::unique_ptr<LentMemory> lent(static_cast<LentMemory*>(context));
  if (lent->storage.expired()) {
    return;
  }
  const std::scoped_lock lock(given_up().mutex);
  given_up().memories.push_back(std::move(lent));
}

/// Memory that says nothing by its deleter, unlike files and shared memory, which LibTorch knows again by it.
bool is_plain_memory(const c10::DataPtr& memory) {
  return memory.device().is_cpu() && memory.get() != nullptr && memory.get_context() == memory.get();
}

void keep(c10::StorageImpl& storage) {
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  if (!storage.resizable()) {
    return;
  }
  if (is_plain_memory(storage.data_ptr())) {
    auto lent = std::make_unique<LentMemory>(LentMemory{
        WeakStorage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(&storage)), c10::DataPtr()});
    LentMemory* const context = lent.get();
    c10::DataPtr shared(storage.data_ptr().get(), lent.release(), &give_up, storage.device());
    context->memory = storage.set_data_ptr(std::move(shared));
  }
  storage.set_resizable(false);
}

}  // namespace

void keep_memory_from_now_on(c10::StorageImpl& storage) {
  sweep();
  keep(storage);
}

}  // namespace simple_torch::dlpack
