// Custom autograd functions: nodes of LibTorch's graph whose forward and backward the program computes.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

namespace torch::autograd {
struct AutogradContext;
struct Node;
}  // namespace torch::autograd

namespace simple_torch::core {

struct CustomNode;

/// One call of forward or backward. `inputs` holds the inputs or the output gradients, undefined if absent.
/// `results` receives the outputs, or a gradient for each input.
class Step {
 public:
  Step(torch::autograd::AutogradContext& context, CustomNode& node, std::vector<at::Tensor> tensors,
       bool is_in_forward)
      : inputs(std::move(tensors)), context_(context), node_(node), is_in_forward_(is_in_forward) {}

  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> results;

  /// For forward only; in backward they throw Error(kInvalidArgument).
  void save(std::vector<at::Tensor> tensors);
  void mark_dirty(const std::vector<at::Tensor>& tensors);
  void mark_non_differentiable(const std::vector<at::Tensor>& outputs);
  void set_materialize_grads(bool materialize);

  /// The tensors that forward saved. Throws LibTorch's error if they were modified or freed since.
  std::vector<at::Tensor> saved() const;

 private:
  void require_forward(const char* what) const;

  torch::autograd::AutogradContext& context_;
  CustomNode& node_;
  bool is_in_forward_;
};

/// The program's implementation. It lives as long as the graph needs it; any thread may destroy it.
class CustomFunction {
 public:
  explicit CustomFunction(std::string name) : name_(std::move(name)) {}
  virtual ~CustomFunction() = default;
  CustomFunction(const CustomFunction&) = delete;
  CustomFunction& operator=(const CustomFunction&) = delete;

  const std::string& name() const noexcept { return name_; }
  virtual void forward(Step& step) = 0;
  /// Called by LibTorch's engine, on any thread.
  virtual void backward(Step& step) = 0;

 private:
  std::string name_;
};

/// Runs forward without recording and returns its outputs, with a history if an input requires grad.
std::vector<at::Tensor> apply(std::unique_ptr<CustomFunction> function, at::TensorList inputs);

/// The node's name: `ExpBackward` for a custom function named Exp.
std::string node_name(const torch::autograd::Node& node);

/// LibTorch's message with `name` in place of the C++ type that it prints for custom functions.
std::string with_function_names(std::string message, const std::string& name);

/// The same with the name of the function whose backward this thread ran last.
std::string with_last_function_name(std::string message);

}  // namespace simple_torch::core
