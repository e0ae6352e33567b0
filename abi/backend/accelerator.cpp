// Bodies of streams and of a CUDA device's memory.
#include "core_libtorch/accelerator.h"

#include <memory>

#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/error_context.h"

namespace simple_torch::abi {

using StreamPointer = std::unique_ptr<c10::Stream>;

template <>
struct HandleKindOf<StreamPointer> {
  static constexpr HandleKind value = HandleKind::kStream;
};

namespace body {

int32_t stream_create(int32_t device_id, int64_t* out) {
  return guarded_result(out, [&] {
    return handles().insert(std::make_unique<c10::Stream>(core::stream_from_pool(device_id)));
  });
}

int32_t stream_synchronize(int64_t stream) {
  return guarded([&] {
    const auto held = handles().get<StreamPointer>(stream);
    core::with_error_context("stream_synchronize", core::kNoOperands, [&] { (*held)->synchronize(); });
  });
}

int32_t stream_query(int64_t stream, bool* out) {
  return guarded([&] {
    require(out, "out");
    const auto held = handles().get<StreamPointer>(stream);
    *out = core::with_error_context("stream_query", core::kNoOperands, [&] { return (*held)->query(); });
  });
}

int32_t stream_free(int64_t stream) {
  return guarded([&] { handles().release_if(stream, HandleKind::kStream); });
}

int32_t cuda_memory_allocated(int32_t device_id, int64_t* out) {
  return guarded_result(out, [&] { return core::memory_allocated(device_id); });
}

int32_t cuda_max_memory_allocated(int32_t device_id, int64_t* out) {
  return guarded_result(out, [&] { return core::max_memory_allocated(device_id); });
}

int32_t cuda_empty_cache() {
  return guarded([&] { core::empty_cache(); });
}

}  // namespace body
}  // namespace simple_torch::abi
