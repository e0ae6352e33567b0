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

using EventPointer = std::unique_ptr<c10::Event>;

template <>
struct HandleKindOf<EventPointer> {
  static constexpr HandleKind value = HandleKind::kEvent;
};

namespace {

int64_t handle_of(const c10::Stream& stream) {
  return handles().insert(std::make_unique<c10::Stream>(stream));
}

}  // namespace

namespace body {

int32_t stream_create(int32_t device_id, int64_t* out) {
  return guarded_result(out, [&] { return handle_of(core::stream_from_pool(device_id)); });
}

int32_t stream_current(int32_t device_id, int64_t* out) {
  return guarded_result(out, [&] { return handle_of(core::current_stream(device_id)); });
}

int32_t stream_default(int32_t device_id, int64_t* out) {
  return guarded_result(out, [&] { return handle_of(core::default_stream(device_id)); });
}

int32_t stream_set_current(int64_t stream) {
  return guarded([&] { core::set_current_stream(**handles().get<StreamPointer>(stream)); });
}

int32_t stream_number(int64_t stream, int64_t* out) {
  return guarded_result(out, [&] {
    return reinterpret_cast<int64_t>((*handles().get<StreamPointer>(stream))->native_handle());
  });
}

int32_t stream_wait_event(int64_t stream, int64_t event) {
  return guarded([&] {
    const auto held = handles().get<StreamPointer>(stream);
    const auto awaited = handles().get<EventPointer>(event);
    core::with_error_context("stream_wait_event", core::kNoOperands, [&] { (*awaited)->block(**held); });
  });
}

int32_t cuda_current_device(int64_t* out) {
  return guarded_result(out, [&] { return core::current_device(); });
}

int32_t cuda_set_device(int32_t device_id) {
  return guarded([&] { core::set_current_device(device_id); });
}

int32_t cuda_synchronize(int32_t device_id) {
  return guarded([&] { core::synchronize_device(device_id); });
}

int32_t event_create(bool enable_timing, int64_t* out) {
  return guarded_result(out, [&] { return handles().insert(core::new_event(enable_timing)); });
}

int32_t event_record(int64_t event, int64_t stream) {
  return guarded([&] {
    const auto held = handles().get<EventPointer>(event);
    const auto on = handles().get<StreamPointer>(stream);
    core::with_error_context("event_record", core::kNoOperands, [&] { (*held)->record(**on); });
  });
}

int32_t event_query(int64_t event, bool* out) {
  return guarded([&] {
    require(out, "out");
    const auto held = handles().get<EventPointer>(event);
    *out = core::with_error_context("event_query", core::kNoOperands, [&] { return (*held)->query(); });
  });
}

int32_t event_synchronize(int64_t event) {
  return guarded([&] {
    const auto held = handles().get<EventPointer>(event);
    core::with_error_context("event_synchronize", core::kNoOperands, [&] { (*held)->synchronize(); });
  });
}

int32_t event_elapsed_time(int64_t start, int64_t end, double* out) {
  return guarded_result(out, [&] {
    const auto from = handles().get<EventPointer>(start), to = handles().get<EventPointer>(end);
    return core::with_error_context("event_elapsed_time", core::kNoOperands,
                                    [&] { return (*from)->elapsedTime(**to); });
  });
}

int32_t event_free(int64_t event) {
  return guarded([&] { handles().release_if(event, HandleKind::kEvent); });
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
