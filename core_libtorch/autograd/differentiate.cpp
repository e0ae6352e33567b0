#include "core_libtorch/autograd/differentiate.h"

#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/graph_task.h>

#include <sstream>

#include "core_libtorch/autograd/engine.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

using torch::autograd::variable_list;

std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

void check_gradient(size_t i, const at::Tensor& gradient, const at::Tensor& output) {
  const std::string at = "[" + std::to_string(i) + "]";
  if (!gradient.sizes().equals(output.sizes())) {
    ErrorFields fields;
    fields.expected = shape_text(output);
    fields.got = shape_text(gradient);
    throw Error(ErrorKind::kShapeMismatch,
                "Mismatch in shape: grad_output" + at + " has a shape of " + fields.got + " and output" + at +
                    " has a shape of " + fields.expected + ".",
                fields);
  }
  if (output.is_complex() != gradient.is_complex()) {
    ErrorFields fields;
    fields.expected = dtype_name(output.scalar_type());
    fields.got = dtype_name(gradient.scalar_type());
    throw Error(
        ErrorKind::kDtypeMismatch,
        "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch "
        "in dtype: grad_output" +
            at + " has a dtype of torch." + fields.got + " and output" + at + " has a dtype of torch." +
            fields.expected + ".",
        fields);
  }
}

/// One gradient for each output: the argument, or ones for an output of one element.
variable_list complete_gradients(at::TensorList outputs, at::TensorList gradients) {
  if (!gradients.empty() && gradients.size() != outputs.size()) {
    throw Error(ErrorKind::kInvalidArgument, "got " + std::to_string(outputs.size()) + " tensors and " +
                                                 std::to_string(gradients.size()) + " gradients");
  }
  variable_list complete;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor& output = outputs[i];
    if (!gradients.empty() && gradients[i].defined()) {
      check_gradient(i, gradients[i], output);
      complete.push_back(gradients[i]);
      continue;
    }
    if (output.requires_grad() && output.numel() != 1) {
      throw Error(ErrorKind::kInvalidArgument, "grad can be implicitly created only for scalar outputs");
    }
    if (output.requires_grad() && !at::isFloatingType(output.scalar_type())) {
      throw Error(ErrorKind::kDtypeMismatch,
                  "grad can be implicitly created only for real scalar outputs but got torch." +
                      dtype_name(output.scalar_type()));
    }
    complete.push_back(output.requires_grad() ? at::ones_like(output, at::MemoryFormat::Preserve)
                                              : at::Tensor());
  }
  return complete;
}

}  // namespace

void backward(at::TensorList tensors, at::TensorList gradients, at::TensorList inputs, GraphUse use) {
  const variable_list complete = complete_gradients(tensors, gradients);
  in_backward_pass([&] {
    torch::autograd::backward(tensors.vec(), complete, use.retain_graph, use.create_graph, inputs.vec());
  });
}

void backward(const at::Tensor& tensor, const at::Tensor& gradient, GraphUse use) {
  if (gradient.defined()) {
    check_gradient(0, gradient, tensor);
  }
  in_backward_pass([&] { tensor.backward(gradient, use.retain_graph, use.create_graph); });
}

std::vector<at::Tensor> gradients_of(at::TensorList outputs, at::TensorList inputs, at::TensorList gradients,
                                     GraphUse use, bool allow_unused) {
  if (inputs.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "`inputs` argument to `grad()` cannot be empty.");
  }
  const variable_list complete = complete_gradients(outputs, gradients);
  variable_list found = in_backward_pass([&] {
    return torch::autograd::grad(outputs.vec(), inputs.vec(), complete, use.retain_graph, use.create_graph,
                                 /*allow_unused=*/true);
  });
  for (size_t i = 0; i < found.size() && !allow_unused; ++i) {
    if (!found[i].defined()) {  // PyTorch's Python message; LibTorch's lacks a space
      throw Error(ErrorKind::kTorch,
                  "The differentiated Tensor at index " + std::to_string(i) +
                      " appears to not have been used in the graph. Set allow_unused=True if "
                      "this is the desired behavior.");
    }
  }
  return found;
}

std::string grad_fn_name(const at::Tensor& tensor) {
  const auto& node = tensor.grad_fn();
  return node == nullptr ? "" : node->name();
}

int64_t graph_task() { return torch::autograd::get_current_graph_task_id(); }

std::vector<at::Tensor> once_differentiable(at::TensorList tensors) {
  using torch::autograd::DelayedError;
  variable_list detached;  // the inputs of the raising node: copies without a history that require grad
  for (const at::Tensor& tensor : tensors) {
    at::Tensor copy = tensor.defined() ? tensor.detach() : at::Tensor();
    if (copy.defined() && (copy.is_floating_point() || copy.is_complex())) {
      copy.set_requires_grad(true);
    }
    detached.push_back(std::move(copy));
  }
  static const std::string kMessage =
      "trying to differentiate twice a function that was marked with @once_differentiable";
  return DelayedError(kMessage, static_cast<int64_t>(detached.size())).apply(std::move(detached));
}

}  // namespace simple_torch::core
