#include "core_libtorch/autograd/custom_function.h"

#include <ATen/ExpandUtils.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <sstream>

#include "core_libtorch/error.h"
#include "core_libtorch/thread_object.h"

namespace simple_torch::core {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The node's data in addition to LibTorch's context.
struct CustomNode : torch::CustomClassHolder {
  explicit CustomNode(std::unique_ptr<CustomFunction> custom) : function(std::move(custom)) {}

  struct Form {
    std::vector<int64_t> sizes;
    at::TensorOptions options;
  };
  static Form form_of(const at::Tensor& tensor) { return {tensor.sizes().vec(), tensor.options()}; }

  std::unique_ptr<CustomFunction> function;
  std::vector<Form> inputs;
  std::vector<Form> outputs;
  bool materializes_gradients = true;
};

namespace {

constexpr const char* kNode = "simple_torch";

// The function whose backward this thread ran last.
std::string& running_name() { return thread_object<std::string, struct RunningName>(); }

std::string shape_text(at::IntArrayRef sizes) {
  std::ostringstream text;
  text << sizes;
  return text.str();
}

/// LibTorch's own message would name a C++ type in place of the function.
void check_shapes(const CustomNode& node, const variable_list& gradients) {
  for (size_t i = 0; i < gradients.size() && i < node.inputs.size(); ++i) {
    const at::Tensor& gradient = gradients[i];
    if (!gradient.defined() || gradient.is_nested() ||
        at::is_expandable_to(node.inputs[i].sizes, gradient.sizes())) {
      continue;
    }
    ErrorFields fields;
    fields.expected = shape_text(node.inputs[i].sizes);
    fields.got = shape_text(gradient.sizes());
    throw Error(ErrorKind::kShapeMismatch,
                "Function " + node.function->name() + "Backward returned an invalid gradient at index " +
                    std::to_string(i) + " - got " + fields.got + " but expected shape compatible with " +
                    fields.expected,
                fields);
  }
}

variable_list materialized(const CustomNode& node, variable_list gradients) {
  for (size_t i = 0; node.materializes_gradients && i < gradients.size() && i < node.outputs.size(); ++i) {
    if (!gradients[i].defined()) {
      gradients[i] = at::zeros(node.outputs[i].sizes, node.outputs[i].options);
    }
  }
  return gradients;
}

struct Program : torch::autograd::Function<Program> {
  static variable_list forward(AutogradContext* context, at::TensorList inputs,
                               const c10::intrusive_ptr<CustomNode>& node) {
    context->saved_data[kNode] = c10::IValue::make_capsule(node);
    context->set_materialize_grads(
        false);  // LibTorch's own materialization does not support outputs without a gradient
    for (const at::Tensor& input : inputs) {
      node->inputs.push_back(CustomNode::form_of(input));
    }
    Step step(*context, *node, inputs.vec(), true);
    node->function->forward(step);
    for (const at::Tensor& output : step.results) {
      node->outputs.push_back(CustomNode::form_of(output));
    }
    return std::move(step.results);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto capsule = context->saved_data.at(kNode).toCapsule();
    auto& node = static_cast<CustomNode&>(*capsule);
    running_name() = node.function->name() + "Backward";
    Step step(*context, node, materialized(node, gradients), false);
    node.function->backward(step);
    running_name() = node.function->name() + "Backward";  // nested functions may have replaced it
    if (step.results.size() != node.inputs.size()) {
      throw Error(ErrorKind::kInvalidArgument, "function " + running_name() +
                                                   " returned an incorrect number of gradients (expected " +
                                                   std::to_string(node.inputs.size()) + ", got " +
                                                   std::to_string(step.results.size()) + ")");
    }
    check_shapes(node, step.results);
    step.results.emplace_back();  // for the node, forward's last argument
    return std::move(step.results);
  }
};

using ProgramNode = torch::autograd::CppNode<Program>;

}  // namespace

void Step::require_forward(const char* what) const {
  if (!is_in_forward_) {
    throw Error(ErrorKind::kInvalidArgument, std::string(what) + " must be called in forward");
  }
}

void Step::save(std::vector<at::Tensor> tensors) {
  require_forward("save_for_backward()");
  context_.save_for_backward(std::move(tensors));
}

void Step::mark_dirty(const std::vector<at::Tensor>& tensors) {
  require_forward("mark_dirty()");
  context_.mark_dirty(tensors);
}

void Step::mark_non_differentiable(const std::vector<at::Tensor>& outputs) {
  require_forward("mark_non_differentiable()");
  context_.mark_non_differentiable(outputs);
}

void Step::set_materialize_grads(bool materialize) {
  require_forward("set_materialize_grads()");
  node_.materializes_gradients = materialize;
}

std::vector<at::Tensor> Step::saved() const { return context_.get_saved_variables(); }

std::vector<at::Tensor> apply(std::unique_ptr<CustomFunction> function, at::TensorList inputs) {
  const auto node = c10::make_intrusive<CustomNode>(std::move(function));
  return Program::apply(inputs, node);
}

std::string node_name(const torch::autograd::Node& node) {
  const auto* ours = dynamic_cast<const ProgramNode*>(&node);
  if (ours == nullptr) {
    return node.name();
  }
  const auto node_entry = ours->ctx_.saved_data.find(kNode);
  if (node_entry == ours->ctx_.saved_data.end()) {
    return "Backward";
  }
  const auto capsule = node_entry->second.toCapsule();
  return static_cast<const CustomNode&>(*capsule).function->name() + "Backward";
}

std::string with_function_names(std::string message, const std::string& name) {
  static const std::string type = c10::demangle(typeid(ProgramNode).name());
  for (size_t at = message.find(type); at != std::string::npos; at = message.find(type, at + name.size())) {
    message.replace(at, type.size(), name);
  }
  return message;
}

std::string with_last_function_name(std::string message) {
  return with_function_names(std::move(message),
                             running_name().empty() ? "a custom function" : running_name());
}

}  // namespace simple_torch::core
