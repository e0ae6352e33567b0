#include "core_libtorch/autograd/autocast.h"

#include <ATen/autocast_mode.h>

#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

c10::DeviceType autocast_device(const std::string& text) {
  try {
    const c10::DeviceType type = c10::Device(text).type();
    if (at::autocast::is_autocast_available(type)) {
      return type;
    }
  } catch (const c10::Error&) {
    throw Error(ErrorKind::kInvalidArgument, "autocast: '" + text + "' is not a device type");
  }
  throw Error(ErrorKind::kInvalidArgument,
              "autocast: device type '" + text + "' has no mixed precision; use 'cpu' or 'cuda'");
}

}  // namespace

bool is_autocast_enabled(const std::string& device_type) {
  return at::autocast::is_autocast_enabled(autocast_device(device_type));
}

void set_autocast_enabled(const std::string& device_type, bool enabled) {
  at::autocast::set_autocast_enabled(autocast_device(device_type), enabled);
}

c10::ScalarType autocast_dtype(const std::string& device_type) {
  return at::autocast::get_autocast_dtype(autocast_device(device_type));
}

void set_autocast_dtype(const std::string& device_type, c10::ScalarType dtype) {
  at::autocast::set_autocast_dtype(autocast_device(device_type), dtype);
}

bool is_autocast_cache_enabled() { return at::autocast::is_autocast_cache_enabled(); }

void set_autocast_cache_enabled(bool enabled) { at::autocast::set_autocast_cache_enabled(enabled); }

void clear_autocast_cache() { at::autocast::clear_cache(); }

int64_t autocast_increment_nesting() { return at::autocast::increment_nesting(); }

int64_t autocast_decrement_nesting() {
  const int depth = at::autocast::decrement_nesting();
  if (depth < 0) {
    at::autocast::increment_nesting();
    throw Error(ErrorKind::kInvalidArgument,
                "autocast_decrement_nesting: this thread is in no autocast scope");
  }
  return depth;
}

}  // namespace simple_torch::core
