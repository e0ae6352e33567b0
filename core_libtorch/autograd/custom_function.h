// Operations whose forward and backward the program computes, as nodes of LibTorch's graph.
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

/// One run of a forward or a backward. Inputs or gradients come in `given`, undefined where there is none;
/// outputs, or a gradient for each input, go into `results`.
class Step {
 public:
  Step(torch::autograd::AutogradContext& context, CustomNode& node, std::vector<at::Tensor> tensors,
       bool is_in_forward)
      : given(std::move(tensors)), context_(context), node_(node), is_in_forward_(is_in_forward) {}

  std::vector<at::Tensor> given;
  std::vector<at::Tensor> results;

  /// For forward only: the others throw Error(kInvalidArgument).
  void save(std::vector<at::Tensor> tensors);
  void mark_dirty(const std::vector<at::Tensor>& inputs);
  void mark_non_differentiable(const std::vector<at::Tensor>& outputs);
  void set_materialize_grads(bool materialize);

  /// Those that forward saved. Throws LibTorch's error where they were changed since, or freed.
  std::vector<at::Tensor> saved() const;

 private:
  void need_forward(const char* what) const;

  torch::autograd::AutogradContext& context_;
  CustomNode& node_;
  bool is_in_forward_;
};

/// What the program gives. It lives as long as the graph may need it, and dies on any thread.
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

/// Runs forward, unrecorded, and gives its outputs, with a history where an input requires a gradient.
std::vector<at::Tensor> apply(std::unique_ptr<CustomFunction> function, at::TensorList inputs);

/// The node's name; of one made here `ExpBackward` for a function of the name Exp.
std::string name_of_node(const torch::autograd::Node& node);

/// LibTorch's words with that name for the C++ type by which LibTorch calls custom functions.
std::string with_function_names(std::string words, const std::string& name);

/// As above, with the name of the function whose backward this thread ran last.
std::string with_name_of_last_function(std::string words);

}  // namespace simple_torch::core
