// Custom autograd functions: nodes of LibTorch's graph whose forward and backward the program computes.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace simple_torch::core {

class ForwardStep;

/// One call of forward or backward.
class Step {
 public:
  explicit Step(std::vector<at::Tensor> tensors) : inputs(std::move(tensors)) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  std::vector<at::Tensor> inputs;   ///< in backward the gradients of the outputs, undefined if absent
  std::vector<at::Tensor> results;  ///< the outputs, or a gradient for each input

  /// The tensors that forward saved; none before backward. Throws LibTorch's error if they were modified or
  /// freed since.
  virtual std::vector<at::Tensor> saved() const { return {}; }
  /// Whether the input of forward at this position requires grad. Throws Error(kIndexOutOfRange).
  virtual bool input_requires_grad(int64_t index) const = 0;
  /// Null for a step of backward.
  virtual ForwardStep* as_forward() noexcept { return nullptr; }
};

/// A call of forward. While it exists, its thread does not record operations.
class ForwardStep : public Step {
 public:
  ForwardStep() : Step({}) { c10::GradMode::set_enabled(false); }
  /// Records as before, if this is the thread that created the step.
  ~ForwardStep() override { resume_recording(); }
  ForwardStep(const ForwardStep&) = delete;
  ForwardStep& operator=(const ForwardStep&) = delete;

  bool is_of_this_thread() const noexcept { return thread_ == std::this_thread::get_id(); }
  /// Ends the step's effect on grad mode; later calls do nothing.
  void resume_recording() noexcept;
  bool input_requires_grad(int64_t index) const override;
  ForwardStep* as_forward() noexcept override { return this; }

  std::vector<at::Tensor> to_save;  ///< undefined entries stay so
  std::vector<at::Tensor> dirty;    ///< inputs that forward changed in place
  std::vector<at::Tensor> non_differentiable;
  bool materializes_gradients = true;

 private:
  bool recorded_before_ = c10::GradMode::is_enabled();
  bool has_resumed_ = false;
  std::thread::id thread_ = std::this_thread::get_id();
};

/// The step as one of forward. Throws Error(kInvalidArgument), which names `what`, for one of backward.
ForwardStep& in_forward(Step& step, const char* what);

/// The backward of a custom function. It lives as long as the graph needs it; any thread may destroy it.
class CustomFunction {
 public:
  CustomFunction() = default;
  virtual ~CustomFunction() = default;
  CustomFunction(const CustomFunction&) = delete;
  CustomFunction& operator=(const CustomFunction&) = delete;

  virtual const std::string& name() const noexcept = 0;
  /// Called by LibTorch's engine, on any thread.
  virtual void backward(Step& step) = 0;
};

/// Replaces the step's results by the same with a history, if recording was on before the step and an input
/// requires grad. Calls step.resume_recording() and clears `to_save`.
void record(std::unique_ptr<CustomFunction> function, ForwardStep& step);

}  // namespace simple_torch::core
