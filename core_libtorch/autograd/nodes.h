// Nodes of LibTorch's graph, to be walked and hooked by the program.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/edge.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace simple_torch::core {

/// Shared or intrusive, by LibTorch's version.
using NodePointer = decltype(torch::autograd::Edge::function);

/// A node that a handle keeps alive, and with it the graph behind it.
struct HeldNode {
  NodePointer node;
};

/// Where a node's gradients go: to which input of which node. Null for an input without a gradient.
struct NextFunction {
  NodePointer node;
  int64_t input;
};

/// What a program does with the gradients that a node is given, or that it gave.
class NodeHook {
 public:
  NodeHook() = default;
  virtual ~NodeHook() = default;
  NodeHook(const NodeHook&) = delete;
  NodeHook& operator=(const NodeHook&) = delete;

  /// `of_inputs` of the gradients are those of the node's inputs; before it has run none are. Gives what
  /// replaces them, those of the inputs or, before, all; nothing: they stay.
  virtual std::vector<at::Tensor> run(const std::vector<at::Tensor>& gradients, int64_t of_inputs) = 0;
};

/// Null for a leaf.
NodePointer grad_fn(const at::Tensor& tensor);

/// Its grad_fn, or what adds to its .grad. Throws Error(kInvalidArgument) where no gradient is required.
NodePointer gradient_node(const at::Tensor& tensor);

std::vector<NextFunction> next_functions(const HeldNode& held);

/// The leaf to whose .grad the node adds; undefined for every other node.
at::Tensor variable_of(const HeldNode& held);

/// Runs before the node, on the gradients of its outputs, or after it. Gives a number for remove_node_hook().
int64_t register_node_hook(const HeldNode& held, std::shared_ptr<NodeHook> hook, bool is_before);

/// Nothing happens where the hook, or its node, is gone already.
void remove_node_hook(int64_t number);

/// Tensors whose gradients are awaited together, without keeping them or their graphs alive. A number for the
/// others. Throws Error(kInvalidArgument) for one that requires no gradient.
int64_t watch_gradients(at::TensorList tensors);
void unwatch_gradients(int64_t number);

/// Of how many of them the backward pass that this thread is in computes the gradient. Throws
/// Error(kInvalidArgument) outside of a pass.
int64_t watched_in_pass(int64_t number);

}  // namespace simple_torch::core
