#include "core_libtorch/accelerator.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"
#include "core_libtorch/error_context.h"

namespace simple_torch::core {
namespace {

bool has_device(int64_t device) { return device >= 0 && device < cuda_device_count(); }

c10::Device device_with_streams(const std::string& function, int64_t device) {
  const c10::Device on = device_of_code(device);
  if (on.is_cpu()) {
    throw Error(ErrorKind::kUnavailable,
                function + ": device must be a CUDA device, got cpu (CPU operations are synchronous)");
  }
  return on;
}

c10::CachingAllocator::Stat allocated_bytes(int64_t device) {
  const auto stats =
      at::getDeviceAllocator(c10::kCUDA)->getDeviceStats(static_cast<c10::DeviceIndex>(device));
  return stats.allocated_bytes[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
}

}  // namespace

c10::Stream stream_from_pool(int64_t device) {
  const c10::Device on = device_with_streams("stream_create", device);
  return with_error_context("stream_create", kNoOperands, [&] {
    return c10::impl::VirtualGuardImpl(on.type()).getStreamFromGlobalPool(on, false);
  });
}

c10::Stream current_stream(int64_t device) {
  const c10::Device on = device_with_streams("stream_current", device);
  return with_error_context("stream_current", kNoOperands,
                            [&] { return c10::impl::VirtualGuardImpl(on.type()).getStream(on); });
}

c10::Stream default_stream(int64_t device) {
  const c10::Device on = device_with_streams("stream_default", device);
  return with_error_context("stream_default", kNoOperands,
                            [&] { return c10::impl::VirtualGuardImpl(on.type()).getDefaultStream(on); });
}

void set_current_stream(const c10::Stream& stream) {
  with_error_context("stream_set_current", kNoOperands,
                     [&] { c10::impl::VirtualGuardImpl(stream.device_type()).exchangeStream(stream); });
}

int64_t current_device() {
  return cuda_device_count() == 0 ? -1 : c10::impl::VirtualGuardImpl(c10::kCUDA).getDevice().index();
}

void set_current_device(int64_t device) {
  const c10::Device on = device_with_streams("cuda_set_device", device);
  with_error_context("cuda_set_device", kNoOperands,
                     [&] { c10::impl::VirtualGuardImpl(on.type()).setDevice(on); });
}

void synchronize_device(int64_t device) {
  const c10::Device on = device_with_streams("cuda_synchronize", device);
  with_error_context("cuda_synchronize", kNoOperands,
                     [&] { c10::impl::VirtualGuardImpl(on.type()).synchronizeDevice(on.index()); });
}

std::unique_ptr<c10::Event> new_event(bool enable_timing) {
  if (cuda_device_count() == 0) {
    throw Error(ErrorKind::kUnavailable, "event_create: there is no CUDA device");
  }
  const auto flag = enable_timing ? c10::EventFlag::BACKEND_DEFAULT : c10::EventFlag::PYTORCH_DEFAULT;
  return std::make_unique<c10::Event>(c10::kCUDA, flag);
}

int64_t memory_allocated(int64_t device) { return has_device(device) ? allocated_bytes(device).current : 0; }

int64_t max_memory_allocated(int64_t device) { return has_device(device) ? allocated_bytes(device).peak : 0; }

void empty_cache() {
  if (cuda_device_count() > 0) {
    at::getDeviceAllocator(c10::kCUDA)->emptyCache({0, 0});
  }
}

}  // namespace simple_torch::core
