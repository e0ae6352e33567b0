#include "core_libtorch/autograd/custom_function.h"

#include <ATen/ExpandUtils.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <sstream>
#include <utility>

#include "core_libtorch/error.h"
#include "core_libtorch/thread_object.h"

namespace simple_torch::core {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

/// The node's data in addition to LibTorch's context.
struct CustomNode : torch::CustomClassHolder {
  CustomNode(std::unique_ptr<CustomFunction> custom, ForwardStep& step)
      : function(std::move(custom)), forward(&step) {}

  struct Form {
    explicit Form(const at::Tensor& tensor)
        : sizes(tensor.sizes()), options(tensor.options()), requires_grad(tensor.requires_grad()) {}
    at::DimVector sizes;
    at::TensorOptions options;
    bool requires_grad;
  };
  static std::vector<Form> forms_of(at::TensorList tensors) { return {tensors.begin(), tensors.end()}; }

  std::unique_ptr<CustomFunction> function;
  ForwardStep* forward;  // valid while the function is recorded
  std::vector<Form> inputs;
  std::vector<Form> outputs;
  bool materializes_gradients = true;
};

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

size_t checked_input(int64_t index, size_t count) {
  if (index < 0 || static_cast<size_t>(index) >= count) {
    throw Error(ErrorKind::kIndexOutOfRange, "the function has " + std::to_string(count) +
                                                 " inputs that are tensors, got index " +
                                                 std::to_string(index));
  }
  return static_cast<size_t>(index);
}

class BackwardStep : public Step {
 public:
  BackwardStep(const AutogradContext& context, const CustomNode& node, variable_list gradients)
      : Step(std::move(gradients)), context_(context), node_(node) {}

  std::vector<at::Tensor> saved() const override { return context_.get_saved_variables(); }
  bool input_requires_grad(int64_t index) const override {
    return node_.inputs[checked_input(index, node_.inputs.size())].requires_grad;
  }

 private:
  const AutogradContext& context_;
  const CustomNode& node_;
};

struct Program : torch::autograd::Function<Program> {
  /// The outputs have been computed before: this passes them and what forward noted to LibTorch.
  static variable_list forward(AutogradContext* context, at::TensorList inputs,
                               const c10::intrusive_ptr<CustomNode>& node) {
    ForwardStep& step = *std::exchange(node->forward, nullptr);
    context->saved_data[kNode] = c10::IValue::make_capsule(node);
    context->set_materialize_grads(
        false);  // LibTorch's own materialization does not support outputs without a gradient
    node->inputs = CustomNode::forms_of(inputs);
    node->outputs = CustomNode::forms_of(step.results);
    node->materializes_gradients = step.materializes_gradients;
    if (!step.to_save.empty()) {
      context->save_for_backward(std::move(step.to_save));
    }
    if (!step.dirty.empty()) {
      context->mark_dirty(step.dirty);
    }
    if (!step.non_differentiable.empty()) {
      context->mark_non_differentiable(step.non_differentiable);
    }
    return std::move(step.results);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto capsule = context->saved_data.at(kNode).toCapsule();
    auto& node = static_cast<CustomNode&>(*capsule);
    running_name() = node.function->name() + "Backward";
    BackwardStep step(*context, node, materialized(node, gradients));
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

void ForwardStep::resume_recording() noexcept {
  if (!has_resumed_ && is_of_this_thread()) {
    c10::GradMode::set_enabled(recorded_before_);
  }
  has_resumed_ = true;
}

bool ForwardStep::input_requires_grad(int64_t index) const {
  return inputs[checked_input(index, inputs.size())].requires_grad();
}

ForwardStep& in_forward(Step& step, const char* what) {
  auto* forward = dynamic_cast<ForwardStep*>(&step);
  if (forward == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, std::string(what) + " must be called in forward");
  }
  return *forward;
}

std::vector<at::Tensor> record(std::unique_ptr<CustomFunction> function, ForwardStep& step) {
  step.resume_recording();
  const auto node = c10::make_intrusive<CustomNode>(std::move(function), step);
  return Program::apply(at::TensorList(step.inputs), node);
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
