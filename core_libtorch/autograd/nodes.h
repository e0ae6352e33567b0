// Access to the nodes of LibTorch's graph: traversal and hooks.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/edge.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace simple_torch::core {

/// Shared or intrusive, depending on LibTorch's version.
using NodePointer = decltype(torch::autograd::Edge::function);

/// A node that a handle keeps alive, with the graph that it references.
struct HeldNode {
  NodePointer node;
};

/// The node, and its input, that receives a gradient. Null for an input without a gradient.
struct NextFunction {
  NodePointer node;
  int64_t input;
};

/// A program's hook on the gradients of a node.
class NodeHook {
 public:
  NodeHook() = default;
  virtual ~NodeHook() = default;
  NodeHook(const NodeHook&) = delete;
  NodeHook& operator=(const NodeHook&) = delete;

  /// The first `of_inputs` gradients are those of the node's inputs; 0 before the node runs. Returns
  /// replacements for the input gradients or, before the node runs, for all; an empty list keeps them.
  virtual std::vector<at::Tensor> run(const std::vector<at::Tensor>& gradients, int64_t of_inputs) = 0;
};

/// Null for a leaf.
NodePointer grad_fn(const at::Tensor& tensor);

/// The grad_fn, or the AccumulateGrad node of a leaf. Throws Error(kInvalidArgument) if the tensor does not
/// require grad.
NodePointer gradient_node(const at::Tensor& tensor);

std::vector<NextFunction> next_functions(const HeldNode& held);

/// The leaf to whose .grad the node adds; undefined for every other node.
at::Tensor variable_of(const HeldNode& held);

/// The hook runs before the node, on the gradients of its outputs, or after it. Returns an id for
/// remove_node_hook().
int64_t register_node_hook(const HeldNode& held, std::shared_ptr<NodeHook> hook, bool is_before);

/// Does nothing if the hook or its node no longer exists.
void remove_node_hook(int64_t id);

/// Registers tensors for watched_in_pass(), without keeping them or their graphs alive, and returns an id.
/// Throws Error(kInvalidArgument) for a tensor that does not require grad.
int64_t watch_gradients(at::TensorList tensors);
void unwatch_gradients(int64_t id);

/// The number of watched tensors whose gradients this thread's backward pass computes. Throws
/// Error(kInvalidArgument) outside of a pass.
int64_t watched_in_pass(int64_t id);

}  // namespace simple_torch::core
