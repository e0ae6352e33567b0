#include "core_libtorch/autograd/custom_function.h"

#include <ATen/FuncTorchTLS.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "core_libtorch/autograd/node_pointer.h"
#include "core_libtorch/error.h"

namespace simple_torch::core {

using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

namespace {

size_t checked_input(int64_t index, size_t count) {
  if (index < 0 || static_cast<size_t>(index) >= count) {
    throw Error(ErrorKind::kIndexOutOfRange, "the function has " + std::to_string(count) +
                                                 " inputs that are tensors, got index " +
                                                 std::to_string(index));
  }
  return static_cast<size_t>(index);
}

/// An output of forward, from which the gradient that is absent is made.
struct OutputForm {
  explicit OutputForm(const at::Tensor& tensor) : sizes(tensor.sizes()), options(tensor.options()) {}
  at::Tensor zeros() const { return at::zeros(sizes, options); }

  at::DimVector sizes;
  at::TensorOptions options;
};

/// The node of a custom function in LibTorch's graph.
class CustomNode : public ReleasingNode<torch::autograd::Node> {
 public:
  CustomNode(std::unique_ptr<CustomFunction> function, const ForwardStep& step,
             torch::autograd::edge_list edges)
      : ReleasingNode(std::move(edges)),
        function_(std::move(function)),
        outputs_(step.results.begin(), step.results.end()),
        materializes_gradients_(step.materializes_gradients) {}

  std::string name() const override {
    return function_ == nullptr ? "Backward" : function_->name() + "Backward";  // null once it has no owner
  }
  bool input_requires_grad(int64_t index) const {
    return next_edge(checked_input(index, num_outputs())).is_valid();
  }
  /// Called once, after the outputs have their history. Undefined tensors stay so.
  void save(const variable_list& tensors);
  variable_list saved();
  void release_variables() override;

 protected:
  variable_list apply(variable_list&& gradients) override;
  void release() override {
    saved_.clear();
    function_.reset();
  }

 private:
  void materialize(variable_list& gradients) const;

  // Recursive, because a backward may differentiate its own graph again. Threads wait for each other: the
  // function keeps the step of backward that runs.
  std::recursive_mutex running_;
  std::unique_ptr<CustomFunction> function_;
  c10::SmallVector<OutputForm, 1> outputs_;
  c10::SmallVector<SavedVariable, 1> saved_;
  bool is_freed_ = false;
  bool materializes_gradients_;
};

class BackwardStep : public Step {
 public:
  BackwardStep(CustomNode& node, variable_list gradients) : Step(std::move(gradients)), node_(node) {}

  std::vector<at::Tensor> saved() const override { return node_.saved(); }
  bool input_requires_grad(int64_t index) const override { return node_.input_requires_grad(index); }

 private:
  CustomNode& node_;
};

void CustomNode::save(const variable_list& tensors) {
  saved_.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined()) {
      saved_.emplace_back(tensor, /*is_output=*/tensor.grad_fn().get() == this);
    } else {
      saved_.emplace_back();
    }
  }
}

variable_list CustomNode::saved() {
  const std::lock_guard guard(running_);
  TORCH_CHECK(!is_freed_, torch::autograd::ERR_BACKWARD_TWICE);
  const NodePointer self = getptr();
  variable_list tensors;
  tensors.reserve(saved_.size());
  for (const SavedVariable& variable : saved_) {
    tensors.push_back(variable.unpack(self));
  }
  return tensors;
}

void CustomNode::release_variables() {
  const std::lock_guard guard(running_);
  saved_.clear();
  is_freed_ = true;
}

void CustomNode::materialize(variable_list& gradients) const {
  for (size_t i = 0; materializes_gradients_ && i < gradients.size() && i < outputs_.size(); ++i) {
    if (!gradients[i].defined()) {
      gradients[i] = outputs_[i].zeros();
    }
  }
}

variable_list CustomNode::apply(variable_list&& gradients) {
  const std::lock_guard guard(running_);
  materialize(gradients);
  BackwardStep step(*this, std::move(gradients));
  function_->backward(step);
  if (step.results.size() != num_outputs()) {
    throw Error(ErrorKind::kInvalidArgument,
                "function " + name() + " returned an incorrect number of gradients (expected " +
                    std::to_string(num_outputs()) + ", got " + std::to_string(step.results.size()) + ")");
  }
  return std::move(step.results);
}

std::unordered_set<at::TensorImpl*> impls_of(at::TensorList tensors) {
  std::unordered_set<at::TensorImpl*> impls;
  for (const at::Tensor& tensor : tensors) {
    impls.insert(tensor.unsafeGetTensorImpl());
  }
  return impls;
}

variable_list no_forward_mode(const variable_list& /*inputs*/, const variable_list& /*tangents*/) {
  throw Error(ErrorKind::kNotImplemented, "forward-mode AD is not implemented for custom functions");
}

/// LibTorch's history for the outputs of forward; without one where the node is null.
template <class Pointer>
std::vector<std::optional<at::Tensor>> wrap_outputs(ForwardStep& step, const Pointer& node,
                                                    Pointer& attached) {
  const auto dirty = impls_of(step.dirty);
  for (at::TensorImpl* impl : dirty) {
    impl->bump_version();
  }
  using Outputs = at::ArrayRef<std::optional<at::Tensor>>;
  const c10::SmallVector<std::optional<at::Tensor>, 1> outputs(step.results.begin(), step.results.end());
  const auto non_differentiable = impls_of(step.non_differentiable);
  const auto view = [](const at::Tensor& tensor) { return tensor.view_as(tensor); };
  const Outputs raw(outputs);
  const std::unordered_set<at::TensorImpl*> to_save;  // of setup_context(), which Simple does not have
  constexpr bool kPureView = false;
  if constexpr (requires {
                  _wrap_outputs(step.inputs, non_differentiable, dirty, raw, node, no_forward_mode, to_save,
                                view, kPureView, attached);
                }) {
    return _wrap_outputs(step.inputs, non_differentiable, dirty, raw, node, no_forward_mode, to_save, view,
                         kPureView, attached);
  } else {  // torch 2.11
    return _wrap_outputs(step.inputs, non_differentiable, dirty, raw, node, no_forward_mode, to_save, view,
                         kPureView);
  }
}

/// torch 2.15 has hooks that run when a node is complete.
template <class Pointer>
void notify_creation(const Pointer& attached) {
  if constexpr (requires { fire_node_creation_hooks(attached); }) {
    if (attached) {
      fire_node_creation_hooks(attached);
    }
  }
}

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
  ForwardStep* forward = step.as_forward();
  if (forward == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, std::string(what) + " must be called in forward");
  }
  return *forward;
}

void record(std::unique_ptr<CustomFunction> function, ForwardStep& step) {
  step.resume_recording();
  if (const auto& functorch = at::functorch::functorchTLSAccessor()) {
    functorch->checkSupportsCppAutogradFunction();  // throws inside vmap() and its kin
  }
  decltype(make_node<CustomNode>(std::move(function), step, torch::autograd::edge_list())) node;
  if (at::GradMode::is_enabled() && torch::autograd::any_variable_requires_grad(step.inputs)) {
    node = make_node<CustomNode>(std::move(function), step, torch::autograd::collect_next_edges(step.inputs));
  }
  NodePointer attached;
  const auto outputs = wrap_outputs(step, NodePointer(node), attached);
  if (node) {
    node->save(step.to_save);
    notify_creation(attached);
  }
  step.to_save.clear();
  std::transform(outputs.begin(), outputs.end(), step.results.begin(),
                 [](const std::optional<at::Tensor>& output) { return *output; });
}

}  // namespace simple_torch::core
