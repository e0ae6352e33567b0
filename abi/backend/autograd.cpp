// Bodies of backward passes, anomaly mode and inference mode.
#include "abi/backend/autograd_callbacks.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/autograd/differentiate.h"
#include "core_libtorch/autograd/engine.h"
#include "core_libtorch/autograd/modes.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/ops.h"
#include "core_libtorch/thread_generator.h"

namespace simple_torch::abi {
namespace {

at::Generator default_generator(const char* device) {
  require(device, "device");
  return core::default_generator(core::device_of_text(device));
}

}  // namespace

namespace body {

int32_t backward_of(const int64_t* tensors, int64_t tensors_len, const int64_t* gradients,
                    int64_t gradients_len, const int64_t* inputs, int64_t inputs_len, bool retain_graph,
                    bool create_graph) {
  return guarded([&] {
    const auto roots = tensor_list(tensors, tensors_len);
    const auto grads = optional_tensor_list(gradients, gradients_len, "gradients");
    const auto leaves = tensor_list(inputs, inputs_len);
    core::with_error_context("backward", roots, [&] {
      core::backward(roots, grads, leaves, {retain_graph, create_graph});
    });
  });
}

int32_t grad_of(const int64_t* outputs, int64_t outputs_len, const int64_t* inputs, int64_t inputs_len,
                const int64_t* gradients, int64_t gradients_len, bool retain_graph, bool create_graph,
                bool allow_unused, int64_t** out, int64_t* out_len) {
  return guarded([&] {
    require(out, "out");
    require(out_len, "out_len");
    const auto roots = tensor_list(outputs, outputs_len);
    const auto leaves = tensor_list(inputs, inputs_len);
    const auto grads = optional_tensor_list(gradients, gradients_len, "gradients");
    auto found = core::with_error_context("grad", roots, [&] {
      return core::gradients_of(roots, leaves, grads, {retain_graph, create_graph}, allow_unused);
    });
    store_handles(std::move(found), out, out_len);
  });
}

int32_t once_differentiable(const int64_t* tensors, int64_t tensors_len, int64_t** out, int64_t* out_len) {
  return guarded([&] {
    require(out, "out");
    require(out_len, "out_len");
    store_handles(core::once_differentiable(optional_tensor_list(tensors, tensors_len, "tensors")), out,
                  out_len);
  });
}

int32_t grad_fn_name(int64_t a, char** out) {
  return guarded_result(out, [&] { return to_malloc_string(core::grad_fn_name(*tensor_argument(a))); });
}

int32_t graph_task(int64_t* out) { return guarded_result(out, core::graph_task); }

int32_t set_detect_anomaly(bool enabled, bool check_nan, SptLocation location) {
  return guarded([&] {
    const auto read_location = [location] {
      char* const returned = location();
      std::string text = returned != nullptr ? returned : "";
      std::free(returned);
      return text;
    };
    core::set_anomaly_mode(
        enabled, check_nan,
        location == nullptr ? core::LocationProvider() : core::LocationProvider(read_location));
  });
}

int32_t is_anomaly_enabled(bool* out) { return guarded_result(out, core::is_anomaly_mode); }

int32_t is_anomaly_check_nan_enabled(bool* out) {
  return guarded_result(out, core::is_anomaly_mode_checking_nan);
}

int32_t inference_mode_begin(bool enabled) {
  return guarded([&] { core::begin_inference_mode(enabled); });
}

int32_t inference_mode_end() { return guarded(core::end_inference_mode); }

int32_t is_inference_mode_enabled(bool* out) { return guarded_result(out, core::is_inference_mode); }

int32_t rng_state(const char* device, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    *out = new_handle(core::with_error_context("rng_state", core::kNoOperands,
                                               [&] { return default_generator(device).get_state(); }));
  });
}

int32_t set_rng_state(const char* device, int64_t state) {
  return guarded([&] {
    const auto held = tensor_argument(state);
    core::with_error_context("set_rng_state", {&*held}, [&] { default_generator(device).set_state(*held); });
  });
}

}  // namespace body
}  // namespace simple_torch::abi
