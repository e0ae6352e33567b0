// Bodies of LibTorch's version, devices and settings, and of handles.
#include <torch/headeronly/version.h>

#include <string>

#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/settings.h"
#include "core_libtorch/text_values.h"

namespace simple_torch::abi::body {
namespace {

/// `count(kind)` for one kind, or its sum over all kinds for 0.
template <class Count>
int64_t over_kinds(int64_t kind, Count&& count) {
  if (kind < 0 || kind >= kHandleKinds) {
    throw Error(ErrorKind::kInvalidArgument, "unknown handle kind " + std::to_string(kind));
  }
  if (kind != 0) {
    return count(static_cast<HandleKind>(kind));
  }
  int64_t sum = 0;
  for (int32_t each = 1; each < kHandleKinds; ++each) {
    sum += count(static_cast<HandleKind>(each));
  }
  return sum;
}

}  // namespace

int32_t version(char** out) {
  return guarded_result(out, [&] {
    return to_malloc_string(std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) +
                            "." + std::to_string(TORCH_VERSION_PATCH));
  });
}

int32_t cuda_available(bool* out) {
  return guarded_result(out, [&] { return core::cuda_device_count() > 0; });
}

int32_t cuda_device_count(int64_t* out) {
  return guarded_result(out, [&] { return core::cuda_device_count(); });
}

int32_t setting(const char* name, int64_t* out) {
  return guarded([&] {
    require(name, "name");
    require(out, "out");
    *out = core::setting(name);
  });
}

int32_t set_setting(const char* name, bool value) {
  return guarded([&] {
    require(name, "name");
    core::set_setting(name, value);
  });
}

int32_t float32_matmul_precision(char** out) {
  return guarded_result(out, [&] { return to_malloc_string(core::float32_matmul_precision()); });
}

int32_t set_float32_matmul_precision(const char* precision) {
  return guarded([&] {
    require(precision, "precision");
    core::set_float32_matmul_precision(precision);
  });
}

int32_t set_print_options(int64_t precision, int64_t threshold, int64_t edge_items, int64_t line_width,
                          int64_t sci_mode) {
  return guarded([&] {
    const auto is_scientific = sci_mode < 0 ? std::nullopt : std::optional(sci_mode != 0);
    core::set_print_options({precision, threshold, edge_items, line_width, is_scientific});
  });
}

// Flattened, because it is the most frequently called function.
[[gnu::flatten]] int32_t release(int64_t value) {
  return guarded([&] { handles().release(value); });
}

int32_t discard_tensor(int64_t value, bool* out) {
  return guarded_result(out, [&] { return handles().release_if(value, HandleKind::kTensor); });
}

int32_t scope_begin() {
  return guarded([&] { HandleTable::begin_scope(); });
}

int32_t scope_keep(int64_t value) {
  return guarded([&] { HandleTable::keep(value); });
}

int32_t scope_end(int64_t* out) {
  return guarded_result(out, [&] { return handles().end_scope(); });
}

int32_t live_handles(int64_t kind, int64_t* out) {
  return guarded_result(out, [&] { return over_kinds(kind, handle_counts::live); });
}

int32_t peak_handles(int64_t kind, int64_t* out) {
  return guarded_result(out, [&] { return over_kinds(kind, handle_counts::peak); });
}

int32_t is_tensor(int64_t value, bool* out) {
  return guarded_result(out, [&] { return handles().holds(value, HandleKind::kTensor); });
}

}  // namespace simple_torch::abi::body
