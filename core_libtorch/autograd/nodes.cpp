#include "core_libtorch/autograd/nodes.h"

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "core_libtorch/autograd/id_registry.h"
#include "core_libtorch/counted_lock.h"
#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

using torch::autograd::variable_list;

/// Holds a hook until it is removed. LibTorch can remove post-hooks, but not pre-hooks.
class HookSlot {
 public:
  explicit HookSlot(std::shared_ptr<NodeHook> hook) : hook_(std::move(hook)) {}

  void clear() {
    std::shared_ptr<NodeHook> removed;  // destroyed outside the lock: it may call the program
    const CountedLockGuard guard(mutex_);
    removed.swap(hook_);
  }

  /// The gradients after the hook; it may replace those in `changed`.
  variable_list run(const variable_list& gradients, const variable_list& changed, int64_t of_inputs) {
    std::shared_ptr<NodeHook> hook;
    {
      const CountedLockGuard guard(mutex_);
      hook = hook_;
    }
    variable_list replaced = hook == nullptr ? variable_list() : hook->run(gradients, of_inputs);
    if (replaced.empty()) {
      return changed;
    }
    if (replaced.size() != changed.size()) {
      throw Error(ErrorKind::kInvalidArgument, "a hook has returned an incorrect number of values (got " +
                                                   std::to_string(replaced.size()) + ", but expected " +
                                                   std::to_string(changed.size()) + ")");
    }
    return replaced;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<NodeHook> hook_;
};

/// Weak references: the nodes own the slots.
using HookSlots = IdRegistry<std::weak_ptr<HookSlot>>;

HookSlots& hook_slots() {
  static auto* const all = new HookSlots;  // never freed: threads that outlive main use it
  return *all;
}

/// The part of a hook that a LibTorch node owns. Its destructor releases the id.
class SlotOwner {
 public:
  explicit SlotOwner(std::shared_ptr<HookSlot> slot) : slot_(std::move(slot)), id_(hook_slots().add(slot_)) {}
  SlotOwner(const SlotOwner&) = delete;
  SlotOwner& operator=(const SlotOwner&) = delete;
  ~SlotOwner() { hook_slots().take(id_); }

  int64_t id() const noexcept { return id_; }
  HookSlot& slot() noexcept { return *slot_; }

 private:
  std::shared_ptr<HookSlot> slot_;
  int64_t id_;
};

struct PreHook : torch::autograd::FunctionPreHook, SlotOwner {
  using SlotOwner::SlotOwner;
  variable_list operator()(const variable_list& gradients) override {
    return slot().run(gradients, gradients, 0);
  }
};

struct PostHook : torch::autograd::FunctionPostHook, SlotOwner {
  using SlotOwner::SlotOwner;
  variable_list operator()(const variable_list& of_inputs, const variable_list& of_outputs) override {
    variable_list all = of_inputs;
    all.insert(all.end(), of_outputs.begin(), of_outputs.end());
    return slot().run(all, of_inputs, static_cast<int64_t>(of_inputs.size()));
  }
};

template <class T>
std::weak_ptr<T> weakly(const std::shared_ptr<T>& node) {
  return node;
}
template <class T>
c10::weak_intrusive_ptr<T> weakly(const c10::intrusive_ptr<T>& node) {
  return c10::weak_intrusive_ptr<T>(node);
}

/// A tensor whose gradient is watched. A leaf may have a new node in each graph, so this refers to the leaf
/// itself.
class WatchedTensor {
 public:
  explicit WatchedTensor(const at::Tensor& tensor)
      : is_leaf_(tensor.grad_fn() == nullptr),
        leaf_(tensor.getIntrusivePtr()),
        node_(weakly(gradient_node(tensor))) {}

  bool is_in_pass() const {
    const NodePointer node = is_leaf_ ? node_of_leaf() : node_.lock();
    if (node == nullptr) {
      return false;
    }
    const auto* needed = torch::autograd::get_current_graph_task_exec_info();
    if (needed->empty()) {  // backward() without inputs: every reachable node
      return torch::autograd::get_current_graph_task_nodes_in_graph()->count(&*node) != 0;
    }
    const auto found = needed->find(&*node);
    return found != needed->end() && found->second.should_execute();
  }

 private:
  NodePointer node_of_leaf() const {
    const auto impl = leaf_.lock();
    return impl ? gradient_node(at::Tensor(impl)) : nullptr;
  }

  bool is_leaf_;
  c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> leaf_;
  decltype(weakly(std::declval<NodePointer>())) node_;
};

using WatchedTensors = std::shared_ptr<const std::vector<WatchedTensor>>;

IdRegistry<WatchedTensors>& watched() {
  static auto* const all = new IdRegistry<WatchedTensors>;  // never freed: threads that outlive main use it
  return *all;
}

}  // namespace

NodePointer grad_fn(const at::Tensor& tensor) { return tensor.grad_fn(); }

NodePointer gradient_node(const at::Tensor& tensor) {
  if (!tensor.requires_grad()) {
    throw Error(ErrorKind::kInvalidArgument, "gradient_node: the tensor must require grad");
  }
  return torch::autograd::impl::gradient_edge(tensor).function;
}

std::vector<NextFunction> next_functions(const HeldNode& held) {
  std::vector<NextFunction> found;
  for (const auto& edge : held.node->next_edges()) {
    found.push_back({edge.function, edge.input_nr});
  }
  return found;
}

at::Tensor variable_of(const HeldNode& held) {
  const auto* leaf = dynamic_cast<const torch::autograd::AccumulateGrad*>(&*held.node);
  return leaf == nullptr ? at::Tensor() : leaf->variable;
}

int64_t register_node_hook(const HeldNode& held, std::shared_ptr<NodeHook> hook, bool is_before) {
  auto slot = std::make_shared<HookSlot>(std::move(hook));
  if (is_before) {
    auto before = std::make_unique<PreHook>(std::move(slot));
    const int64_t id = before->id();
    held.node->add_pre_hook(std::move(before));
    return id;
  }
  auto after = std::make_unique<PostHook>(std::move(slot));
  const int64_t id = after->id();
  held.node->add_post_hook(std::move(after));
  return id;
}

void remove_node_hook(int64_t id) {
  const auto removed = hook_slots().take(id);
  if (const auto slot = removed ? removed->lock() : nullptr) {
    slot->clear();
  }
}

int64_t watch_gradients(at::TensorList tensors) {
  std::vector<WatchedTensor> watched_tensors;
  for (const at::Tensor& tensor : tensors) {
    watched_tensors.emplace_back(tensor);
  }
  return watched().add(std::make_shared<const std::vector<WatchedTensor>>(std::move(watched_tensors)));
}

void unwatch_gradients(int64_t id) { watched().take(id); }

int64_t watched_in_pass(int64_t id) {
  if (torch::autograd::get_current_graph_task_exec_info() == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, "watched_in_pass: this thread is not inside a backward pass");
  }
  const WatchedTensors tensors = watched().find(id).value_or(nullptr);
  return tensors == nullptr ? 0
                            : std::count_if(tensors->begin(), tensors->end(),
                                            [](const WatchedTensor& tensor) { return tensor.is_in_pass(); });
}

}  // namespace simple_torch::core
