// Bodies of graph nodes: traversal, and hooks of the program on nodes.
#include "core_libtorch/autograd/nodes.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <memory>

#include "abi/backend/autograd_callbacks.h"
#include "abi/backend/python_library.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/thread_object.h"

namespace simple_torch::abi {

using HeldNodePointer = std::unique_ptr<core::HeldNode>;

template <>
struct HandleKindOf<HeldNodePointer> {
  static constexpr HandleKind value = HandleKind::kNode;
};

namespace {

/// The gradients of a node hook that this thread runs, and its result. Greenlets may end in any order, so
/// each has its own innermost call; the C stack of a suspended one is elsewhere, so calls are on the heap.
struct HookCall {
  std::vector<at::Tensor> gradients;
  std::vector<at::Tensor> replacement;
  uint64_t greenlet;
};

using HookCalls = std::vector<std::unique_ptr<HookCall>>;  // innermost last
HookCalls& running() { return core::thread_object<HookCalls, HookCall>(); }

uint64_t current_greenlet() { return opened_python() == nullptr ? 0 : opened_python()->current_greenlet(); }

HookCall& running_call() {
  const uint64_t greenlet = current_greenlet();
  for (auto call = running().rbegin(); call != running().rend(); ++call) {
    if ((*call)->greenlet == greenlet) {
      return **call;
    }
  }
  throw Error(ErrorKind::kInvalidArgument, "this thread runs no node hook");
}

HookCall& begin_call(const std::vector<at::Tensor>& gradients) {
  return *running().emplace_back(std::make_unique<HookCall>(HookCall{gradients, {}, current_greenlet()}));
}

std::vector<at::Tensor> end_call(HookCall& call) {
  std::vector<at::Tensor> replacement = std::move(call.replacement);
  std::erase_if(running(), [&](const auto& each) { return each.get() == &call; });
  return replacement;
}

class CallbackNodeHook : public core::NodeHook {
 public:
  CallbackNodeHook(int64_t key, SptAutogradCall hook, SptAutogradEnd on_release)
      : key_(key, on_release), hook_(hook) {}

  std::vector<at::Tensor> run(const std::vector<at::Tensor>& gradients, int64_t of_inputs) override {
    HookCall& call = begin_call(gradients);
    const int64_t result = hook_(key_.value(), of_inputs);
    std::vector<at::Tensor> replacement = end_call(call);
    checked_result(result, "a hook");
    return replacement;
  }

 private:
  Key key_;
  SptAutogradCall hook_;
};

int64_t handle_of(core::NodePointer node) {
  return node == nullptr
             ? 0
             : handles().insert(std::make_unique<core::HeldNode>(core::HeldNode{std::move(node)}));
}

template <class Find>
int32_t node_of_tensor(int64_t a, int64_t* out, Find&& find) {
  return guarded_result(out, [&] { return handle_of(find(*tensor_argument(a))); });
}

template <class Body>
int32_t with_node(int64_t node, Body&& body) {
  return guarded([&] { body(**handles().get<HeldNodePointer>(node)); });
}

}  // namespace

namespace body {

int32_t grad_fn(int64_t a, int64_t* out) { return node_of_tensor(a, out, core::grad_fn); }

int32_t gradient_node(int64_t a, int64_t* out) { return node_of_tensor(a, out, core::gradient_node); }

int32_t node_name(int64_t node, char** out) {
  return with_node(node, [&](const core::HeldNode& held) {
    require(out, "out");
    *out = to_malloc_string(held.node->name());
  });
}

int32_t node_identity(int64_t node, int64_t* out) {
  return with_node(node, [&](const core::HeldNode& held) {
    require(out, "out");
    *out = static_cast<int64_t>(reinterpret_cast<intptr_t>(&*held.node));
  });
}

int32_t node_next_functions(int64_t node, int64_t** out, int64_t* out_len) {
  return with_node(node, [&](const core::HeldNode& held) {
    require(out, "out");
    require(out_len, "out_len");
    std::vector<int64_t> flat;
    for (auto& [next, input] : core::next_functions(held)) {
      flat.push_back(handle_of(next));
      flat.push_back(input);
    }
    store_values<int64_t>(flat, out, out_len);
  });
}

int32_t node_variable(int64_t node, int64_t* out) {
  return with_node(node, [&](const core::HeldNode& held) {
    require(out, "out");
    const at::Tensor variable = core::variable_of(held);
    *out = variable.defined() ? handles().insert(variable) : 0;
  });
}

int32_t node_register_hook(int64_t node, int64_t key, SptAutogradCall hook, SptAutogradEnd on_release,
                           bool is_prehook, int64_t* out) {
  return with_node(node, [&](const core::HeldNode& held) {
    require(out, "out");
    require(hook, "hook");
    require(on_release, "on_release");
    *out =
        core::register_node_hook(held, std::make_shared<CallbackNodeHook>(key, hook, on_release), is_prehook);
  });
}

int32_t node_remove_hook(int64_t hook_id) {
  return guarded([&] { core::remove_node_hook(hook_id); });
}

int32_t node_hook_gradients(int64_t** out, int64_t* out_len) {
  return guarded([&] {
    require(out, "out");
    require(out_len, "out_len");
    store_handles(running_call().gradients, out, out_len);
  });
}

int32_t node_hook_set_gradients(const int64_t* gradients, int64_t gradients_len) {
  return guarded(
      [&] { running_call().replacement = optional_tensor_list(gradients, gradients_len, "gradients"); });
}

int32_t output_nr(int64_t a, int64_t* out) {
  return guarded_result(out, [&] { return static_cast<int64_t>(tensor_argument(a)->output_nr()); });
}

int32_t watch_gradients(const int64_t* tensors, int64_t tensors_len, int64_t* out) {
  return guarded_result(out, [&] { return core::watch_gradients(tensor_list(tensors, tensors_len)); });
}

int32_t unwatch_gradients(int64_t watch_id) {
  return guarded([&] { core::unwatch_gradients(watch_id); });
}

int32_t watched_in_pass(int64_t watch_id, int64_t* out) {
  return guarded_result(out, [&] { return core::watched_in_pass(watch_id); });
}

int32_t increment_version(int64_t a) {
  return guarded([&] {
    const auto tensor = tensor_argument(a);
    core::with_error_context("increment_version", {&*tensor},
                             [&] { torch::autograd::impl::bump_version(*tensor); });
  });
}

}  // namespace body
}  // namespace simple_torch::abi
