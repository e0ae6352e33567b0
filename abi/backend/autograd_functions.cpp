// Bodies of custom functions: callbacks of the program as LibTorch's forward and backward.
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "abi/backend/autograd_callbacks.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/autograd/custom_function.h"
#include "core_libtorch/counted_lock.h"
#include "core_libtorch/error_context.h"

namespace simple_torch::abi {

/// A step; one of forward belongs to its handle.
class StepPointer {
 public:
  explicit StepPointer(core::Step& step) : bits_(reinterpret_cast<uintptr_t>(&step)) {}
  explicit StepPointer(std::unique_ptr<core::ForwardStep> step)
      : bits_(reinterpret_cast<uintptr_t>(static_cast<core::Step*>(step.release())) | kOwned) {}
  StepPointer(StepPointer&& other) noexcept : bits_(std::exchange(other.bits_, 0)) {}
  StepPointer& operator=(StepPointer&&) = delete;
  ~StepPointer() {
    if ((bits_ & kOwned) != 0) {
      delete &get();
    }
  }
  core::Step& get() const noexcept { return *reinterpret_cast<core::Step*>(bits_ & ~kOwned); }

 private:
  static constexpr uintptr_t kOwned = 1;  // a step is aligned, so its address leaves this bit free
  uintptr_t bits_;
};

template <>
struct HandleKindOf<StepPointer> {
  static constexpr HandleKind value = HandleKind::kStep;
};

namespace {

/// Releases the handle of a step, unless the program has.
class StepHandle {
 public:
  explicit StepHandle(StepPointer step) : handle_(handles().insert(std::move(step))) {}
  ~StepHandle() { handles().release_if(handle_, HandleKind::kStep); }
  StepHandle(const StepHandle&) = delete;
  StepHandle& operator=(const StepHandle&) = delete;
  int64_t value() const noexcept { return handle_; }

 private:
  int64_t handle_;
};

/// What the calls of a custom function have in common.
struct FunctionKind {
  std::string name;
  SptAutogradCall backward;
  SptAutogradEnd on_release;
};

class CallbackFunction : public core::CustomFunction {
 public:
  /// A function of a kind that is never freed.
  CallbackFunction(const FunctionKind& kind, int64_t key) : kind_(&kind), key_(key, kind.on_release) {}
  CallbackFunction(std::unique_ptr<const FunctionKind> kind, int64_t key)
      : own_kind_(std::move(kind)), kind_(own_kind_.get()), key_(key, kind_->on_release) {}

  const std::string& name() const noexcept override { return kind_->name; }
  void backward(core::Step& step) override {
    const StepHandle handle{StepPointer(step)};
    checked_result(kind_->backward(key_.value(), handle.value()), name() + ".backward");
  }

 private:
  std::unique_ptr<const FunctionKind> own_kind_;
  const FunctionKind* kind_;
  Key key_;
};

/// The kinds by their numbers, which stay valid until the process ends.
class FunctionKinds {
 public:
  int64_t add(FunctionKind kind) {
    const core::CountedLockGuard guard(mutex_);
    kinds_.push_back(std::move(kind));
    return static_cast<int64_t>(kinds_.size());
  }
  const FunctionKind& get(int64_t number) {
    const core::CountedLockGuard guard(mutex_);
    if (number < 1 || static_cast<size_t>(number) > kinds_.size()) {
      throw Error(ErrorKind::kInvalidArgument, "no custom function has the number " + std::to_string(number));
    }
    return kinds_[static_cast<size_t>(number - 1)];  // a deque does not move its elements
  }

 private:
  std::mutex mutex_;
  std::deque<FunctionKind> kinds_;
};

FunctionKinds& function_kinds() {
  static auto* const all = new FunctionKinds;  // never freed: threads that outlive main use it
  return *all;
}

/// The thread of forward changes the lists of its step without a lock.
void require_thread_of(core::Step& step) {
  const core::ForwardStep* forward = step.as_forward();
  if (forward != nullptr && !forward->is_of_this_thread()) {
    throw Error(ErrorKind::kInvalidArgument, "only the thread that began a step of forward may use it");
  }
}

/// Throws.
template <class Body>
void in_step(int64_t handle, Body&& body) {
  const auto held = handles().get<StepPointer>(handle);
  core::with_error_context("custom_function", core::kNoOperands, [&] {
    require_thread_of(held->get());
    body(held->get());
  });
}

/// Throws.
template <class Body>
void in_forward_step(int64_t handle, const char* what, Body&& body) {
  in_step(handle, [&](core::Step& step) { body(core::in_forward(step, what)); });
}

template <class Body>
int32_t list_of_step(int64_t handle, int64_t** out, int64_t* out_len, Body&& body) {
  return guarded([&] {
    in_step(handle, [&](core::Step& step) {
      require(out, "out");
      require(out_len, "out_len");
      store_handles(body(step), out, out_len);
    });
  });
}

void end_forward(core::ForwardStep& forward, int64_t kind, int64_t key) {
  const FunctionKind& of = function_kinds().get(kind);
  core::with_error_context(of.name.c_str(), forward.inputs,
                           [&] { core::record(std::make_unique<CallbackFunction>(of, key), forward); });
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
    auto step = std::make_unique<core::ForwardStep>();
    step->inputs = tensor_list(inputs, inputs_len);
    auto function = std::make_unique<CallbackFunction>(
        std::make_unique<const FunctionKind>(FunctionKind{name, backward, on_release}), key);
    const StepHandle handle{StepPointer(std::move(step))};
    const auto held = handles().get<StepPointer>(handle.value());  // forward may release the handle
    auto& running = static_cast<core::ForwardStep&>(held->get());
    core::with_error_context(name, running.inputs, [&] {
      checked_result(forward(key, handle.value()), function->name() + ".forward");
      core::record(std::move(function), running);
    });
    store_handles(std::move(running.results), out, out_len);
  });
}

int32_t function_kind(const char* name, SptAutogradCall backward, SptAutogradEnd on_release, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(name, "name");
    require(backward, "backward");
    require(on_release, "on_release");
    *out = function_kinds().add({name, backward, on_release});
  });
}

int32_t function_begin(int64_t* out) {
  return guarded_result(out,
                        [] { return handles().insert(StepPointer(std::make_unique<core::ForwardStep>())); });
}

int32_t function_begin_one(int64_t input, int64_t* out) {
  return guarded_result(out, [&] {
    const auto tensor = tensor_argument(input);
    auto step = std::make_unique<core::ForwardStep>();
    step->inputs.push_back(*tensor);
    return handles().insert(StepPointer(std::move(step)));
  });
}

int32_t function_end(int64_t step, int64_t kind, int64_t key, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    in_forward_step(step, "spt_function_end()", [&](core::ForwardStep& forward) {
      end_forward(forward, kind, key);
      *out = static_cast<int64_t>(forward.results.size());
    });
  });
}

int32_t function_end_one(int64_t step, int64_t kind, int64_t key, int64_t result, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    in_forward_step(step, "spt_function_end_one()", [&](core::ForwardStep& forward) {
      if (!forward.results.empty()) {
        throw Error(ErrorKind::kInvalidArgument, "spt_function_end_one(): the step has " +
                                                     std::to_string(forward.results.size()) +
                                                     " results, expected none");
      }
      const auto argument = tensor_argument(result);
      forward.results.push_back(*argument);
      end_forward(forward, kind, key);
      at::Tensor& output = forward.results.front();
      *out = output.is_same(*argument) ? 0 : handles().insert(std::move(output));
    });
  });
}

int32_t step_add_input(int64_t step, int64_t tensor, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    in_forward_step(step, "spt_step_add_input()", [&](core::ForwardStep& forward) {
      const auto input = tensor_argument(tensor);
      forward.inputs.push_back(*input);
      *out = input->requires_grad() ? 1 : 0;
    });
  });
}

int32_t step_add_result(int64_t step, int64_t tensor) {
  return guarded([&] {
    in_forward_step(step, "spt_step_add_result()",
                    [&](core::ForwardStep& forward) { forward.results.push_back(*tensor_argument(tensor)); });
  });
}

int32_t step_save_one(int64_t step, int64_t tensor, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    in_forward_step(step, "save_for_backward()", [&](core::ForwardStep& forward) {
      forward.to_save.clear();
      forward.to_save.push_back(optional_tensor(tensor).value_or(at::Tensor()));
      *out = 1;
    });
  });
}

int32_t step_result(int64_t step, int64_t index, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    in_step(step, [&](const core::Step& held) {
      if (index < 0 || static_cast<size_t>(index) >= held.results.size()) {
        throw Error(ErrorKind::kIndexOutOfRange, "the step has " + std::to_string(held.results.size()) +
                                                     " results, got index " + std::to_string(index));
      }
      *out = handles().insert(held.results[static_cast<size_t>(index)]);
    });
  });
}

int32_t step_input_requires_grad(int64_t step, int64_t index, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    in_step(step, [&](const core::Step& held) { *out = held.input_requires_grad(index) ? 1 : 0; });
  });
}

int32_t step_tensors(int64_t step, int64_t** out, int64_t* out_len) {
  return list_of_step(step, out, out_len, [](const core::Step& held) { return held.inputs; });
}

int32_t step_set_results(int64_t step, const int64_t* tensors, int64_t tensors_len) {
  return guarded([&] {
    in_step(step,
            [&](core::Step& held) { held.results = optional_tensor_list(tensors, tensors_len, "tensors"); });
  });
}

int32_t step_save(int64_t step, const int64_t* tensors, int64_t tensors_len) {
  return guarded([&] {
    in_forward_step(step, "save_for_backward()", [&](core::ForwardStep& forward) {
      forward.to_save = optional_tensor_list(tensors, tensors_len, "tensors");
    });
  });
}

int32_t step_saved(int64_t step, int64_t** out, int64_t* out_len) {
  return list_of_step(step, out, out_len, [](const core::Step& held) { return held.saved(); });
}

int32_t step_mark_dirty(int64_t step, const int64_t* tensors, int64_t tensors_len) {
  return guarded([&] {
    in_forward_step(step, "mark_dirty()",
                    [&](core::ForwardStep& forward) { forward.dirty = tensor_list(tensors, tensors_len); });
  });
}

int32_t step_mark_non_differentiable(int64_t step, const int64_t* tensors, int64_t tensors_len) {
  return guarded([&] {
    in_forward_step(step, "mark_non_differentiable()", [&](core::ForwardStep& forward) {
      forward.non_differentiable = tensor_list(tensors, tensors_len);
    });
  });
}

int32_t step_set_materialize_grads(int64_t step, bool materialize) {
  return guarded([&] {
    in_forward_step(step, "set_materialize_grads()",
                    [&](core::ForwardStep& forward) { forward.materializes_gradients = materialize; });
  });
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
