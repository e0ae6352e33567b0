// Starts backward passes: torch.autograd.backward and torch.autograd.grad.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace simple_torch::core {

/// How a pass uses the graph.
struct GraphUse {
  bool retain_graph = false;
  bool create_graph = false;
};

/// Accumulates gradients into the leaves, or only into non-empty `inputs`. `gradients` is empty or has one
/// for each tensor. An undefined gradient is ones for a tensor of one element.
void backward(at::TensorList tensors, at::TensorList gradients, at::TensorList inputs, GraphUse use);

/// The same for one tensor and all leaves.
void backward(const at::Tensor& tensor, const at::Tensor& gradient, GraphUse use);

/// The gradients of `inputs`; undefined for an unused input if `allow_unused`.
std::vector<at::Tensor> gradients_of(at::TensorList outputs, at::TensorList inputs, at::TensorList gradients,
                                     GraphUse use, bool allow_unused);

/// "MulBackward0", or "ExpBackward" for a custom function Exp; empty for a leaf.
std::string grad_fn_name(const at::Tensor& tensor);

/// The id of this thread's backward pass; -1 outside of one.
int64_t graph_task();

/// The tensors with a history whose backward raises an error.
std::vector<at::Tensor> once_differentiable(at::TensorList tensors);

}  // namespace simple_torch::core
