#include "core_libtorch/accelerator.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"
#include "core_libtorch/error_context.h"

namespace simple_torch::core {
namespace {

bool has_device(int64_t device) { return device >= 0 && device < cuda_device_count(); }

c10::CachingAllocator::Stat allocated_bytes(int64_t device) {
  const auto stats =
      at::getDeviceAllocator(c10::kCUDA)->getDeviceStats(static_cast<c10::DeviceIndex>(device));
  return stats.allocated_bytes[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
}

}  // namespace

c10::Stream stream_from_pool(int64_t device) {
  const c10::Device on = device_of_code(device);
  if (on.is_cpu()) {
    throw Error(ErrorKind::kUnavailable,
                "stream_create: device must be a CUDA device, got cpu (CPU operations are synchronous)");
  }
  return with_error_context("stream_create", kNoOperands, [&] {
    return c10::impl::VirtualGuardImpl(on.type()).getStreamFromGlobalPool(on, false);
  });
}

int64_t memory_allocated(int64_t device) { return has_device(device) ? allocated_bytes(device).current : 0; }

int64_t max_memory_allocated(int64_t device) { return has_device(device) ? allocated_bytes(device).peak : 0; }

void empty_cache() {
  if (cuda_device_count() > 0) {
    at::getDeviceAllocator(c10::kCUDA)->emptyCache({0, 0});
  }
}

}  // namespace simple_torch::core
