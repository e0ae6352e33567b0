// Bodies of custom functions: callbacks of the program as LibTorch's forward and backward.
#include <memory>

#include "abi/backend/autograd_callbacks.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/autograd/custom_function.h"
#include "core_libtorch/error_context.h"

namespace simple_torch::abi {

/// Valid while the callback of the step runs.
struct StepPointer {
  core::Step* step;
};

template <>
struct HandleKindOf<StepPointer> {
  static constexpr HandleKind value = HandleKind::kStep;
};

namespace {

/// Owns a handle of the step.
class StepHandle {
 public:
  explicit StepHandle(core::Step& step) : handle_(handles().insert(StepPointer{&step})) {}
  ~StepHandle() { handles().release_if(handle_, HandleKind::kStep); }
  StepHandle(const StepHandle&) = delete;
  StepHandle& operator=(const StepHandle&) = delete;
  int64_t value() const noexcept { return handle_; }

 private:
  int64_t handle_;
};

class CallbackFunction : public core::CustomFunction {
 public:
  CallbackFunction(const char* name, int64_t key, SptAutogradCall run_forward, SptAutogradCall run_backward,
                   SptAutogradEnd on_release)
      : CustomFunction(name), key_(key, on_release), forward_(run_forward), backward_(run_backward) {}

  void forward(core::Step& step) override { call(forward_, "forward", step); }
  void backward(core::Step& step) override { call(backward_, "backward", step); }

 private:
  void call(SptAutogradCall callback, const char* which, core::Step& step) const {
    const StepHandle handle(step);
    checked_result(callback(key_.value(), handle.value()), name() + "." + which);
  }

  Key key_;
  SptAutogradCall forward_;
  SptAutogradCall backward_;
};

template <class Body>
int32_t in_step(int64_t handle, Body&& body) {
  return guarded([&] {
    const auto held = handles().get<StepPointer>(handle);
    core::with_error_context("custom_function", core::kNoOperands, [&] { body(*held->step); });
  });
}

template <class Body>
int32_t list_of_step(int64_t handle, int64_t** out, int64_t* out_len, Body&& body) {
  return in_step(handle, [&](core::Step& step) {
    require(out, "out");
    require(out_len, "out_len");
    store_handles(body(step), out, out_len);
  });
}

}  // namespace

namespace body {

int32_t custom_function(const char* name, int64_t key, const int64_t* inputs, int64_t inputs_len,
                        SptAutogradCall forward, SptAutogradCall backward, SptAutogradEnd on_release,
                        int64_t** out, int64_t* out_len) {
  return guarded([&] {
    require(out, "out");
    require(out_len, "out_len");
    require(name, "name");
    require(forward, "forward");
    require(backward, "backward");
    require(on_release, "on_release");
    const auto operands = tensor_list(inputs, inputs_len);
    auto function = std::make_unique<CallbackFunction>(name, key, forward, backward, on_release);
    auto outputs =
        core::with_error_context(name, operands, [&] { return core::apply(std::move(function), operands); });
    store_handles(std::move(outputs), out, out_len);
  });
}

int32_t step_tensors(int64_t step, int64_t** out, int64_t* out_len) {
  return list_of_step(step, out, out_len, [](const core::Step& held) { return held.inputs; });
}

int32_t step_set_results(int64_t step, const int64_t* tensors, int64_t tensors_len) {
  return in_step(
      step, [&](core::Step& held) { held.results = optional_tensor_list(tensors, tensors_len, "tensors"); });
}

int32_t step_save(int64_t step, const int64_t* tensors, int64_t tensors_len) {
  return in_step(step,
                 [&](core::Step& held) { held.save(optional_tensor_list(tensors, tensors_len, "tensors")); });
}

int32_t step_saved(int64_t step, int64_t** out, int64_t* out_len) {
  return list_of_step(step, out, out_len, [](const core::Step& held) { return held.saved(); });
}

int32_t step_mark_dirty(int64_t step, const int64_t* tensors, int64_t tensors_len) {
  return in_step(step, [&](core::Step& held) { held.mark_dirty(tensor_list(tensors, tensors_len)); });
}

int32_t step_mark_non_differentiable(int64_t step, const int64_t* tensors, int64_t tensors_len) {
  return in_step(step,
                 [&](core::Step& held) { held.mark_non_differentiable(tensor_list(tensors, tensors_len)); });
}

int32_t step_set_materialize_grads(int64_t step, bool materialize) {
  return in_step(step, [&](core::Step& held) { held.set_materialize_grads(materialize); });
}

int32_t autograd_callback_failed(int64_t kind, const char* message, const char* expected, const char* got,
                                 const char* type, const char* traceback) {
  return guarded([&] {
    if (kind < static_cast<int64_t>(ErrorKind::kInvalidArgument) ||
        kind > static_cast<int64_t>(kLastErrorKind)) {
      throw Error(ErrorKind::kInvalidArgument, "unknown error kind " + std::to_string(kind));
    }
    const auto text = [](const char* string) { return std::string(string != nullptr ? string : ""); };
    ErrorFields fields;
    fields.expected = text(expected);
    fields.got = text(got);
    fields.type = text(type);
    fields.traceback = text(traceback);
    core::record_callback_failure(Error(static_cast<ErrorKind>(kind), text(message), std::move(fields)));
  });
}

}  // namespace body
}  // namespace simple_torch::abi
