// What starts a backward pass: torch.autograd.backward and torch.autograd.grad.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace simple_torch::core {

/// How a pass treats the graph.
struct GraphUse {
  bool retain_graph = false;
  bool create_graph = false;
};

/// Adds gradients to the leaves, or only to `inputs` where there are any. `gradients` is empty, or has one
/// for each tensor; an undefined one means one of ones, for a tensor of one element.
void backward(at::TensorList tensors, at::TensorList gradients, at::TensorList inputs, GraphUse use);

/// The same from one tensor to all leaves.
void backward(const at::Tensor& tensor, const at::Tensor& gradient, GraphUse use);

/// The gradients of `inputs`, undefined where one was not used and that is allowed.
std::vector<at::Tensor> gradients_of(at::TensorList outputs, at::TensorList inputs, at::TensorList gradients,
                                     GraphUse use, bool allow_unused);

/// "MulBackward0", "ExpBackward" of a custom function; empty for a leaf.
std::string grad_fn_name(const at::Tensor& tensor);

/// The number of the backward pass that this thread is in; -1 outside of one.
int64_t graph_task();

/// The tensors with a history that refuses to be differentiated.
std::vector<at::Tensor> once_differentiable(at::TensorList tensors);

}  // namespace simple_torch::core
