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

/// Holds a hook until it is removed: LibTorch can take hooks after a node away, but not those before it.
class Seat {
 public:
  explicit Seat(std::shared_ptr<NodeHook> hook) : hook_(std::move(hook)) {}

  void leave() {
    std::shared_ptr<NodeHook> gone;  // dies outside of the lock: it may call the program
    const CountedLockGuard guard(mutex_);
    gone.swap(hook_);
  }

  /// What comes of `changed`, the gradients that the hook may replace.
  variable_list run(const variable_list& gradients, const variable_list& changed, int64_t of_inputs) {
    std::shared_ptr<NodeHook> hook;
    {
      const CountedLockGuard guard(mutex_);
      hook = hook_;
    }
    variable_list given = hook == nullptr ? variable_list() : hook->run(gradients, of_inputs);
    if (given.empty()) {
      return changed;
    }
    if (given.size() != changed.size()) {
      throw Error(ErrorKind::kInvalidArgument, "a hook has returned an incorrect number of values (got " +
                                                   std::to_string(given.size()) + ", but expected " +
                                                   std::to_string(changed.size()) + ")");
    }
    return given;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<NodeHook> hook_;
};

/// Weakly: the node owns them.
using Seats = IdRegistry<std::weak_ptr<Seat>>;

Seats& seats() {
  static auto* const all = new Seats;  // used by threads that may outlive main
  return *all;
}

/// What a node of LibTorch's owns; it gives up its number when it dies.
class Seated {
 public:
  explicit Seated(std::shared_ptr<Seat> seat) : seat_(std::move(seat)), number_(seats().add(seat_)) {}
  Seated(const Seated&) = delete;
  Seated& operator=(const Seated&) = delete;
  ~Seated() { seats().take(number_); }

  int64_t number() const noexcept { return number_; }
  Seat& seat() noexcept { return *seat_; }

 private:
  std::shared_ptr<Seat> seat_;
  int64_t number_;
};

struct HookBefore : torch::autograd::FunctionPreHook, Seated {
  using Seated::Seated;
  variable_list operator()(const variable_list& gradients) override {
    return seat().run(gradients, gradients, 0);
  }
};

struct HookAfter : torch::autograd::FunctionPostHook, Seated {
  using Seated::Seated;
  variable_list operator()(const variable_list& of_inputs, const variable_list& of_outputs) override {
    variable_list all = of_inputs;
    all.insert(all.end(), of_outputs.begin(), of_outputs.end());
    return seat().run(all, of_inputs, static_cast<int64_t>(of_inputs.size()));
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

/// Where a tensor's gradient appears in a graph. A leaf has a new node in each graph, so the leaf itself is
/// kept.
class Place {
 public:
  explicit Place(const at::Tensor& tensor)
      : is_leaf_(tensor.grad_fn() == nullptr),
        leaf_(tensor.getIntrusivePtr()),
        node_(weakly(gradient_node(tensor))) {}

  bool is_in_pass() const {
    const NodePointer node = is_leaf_ ? node_of_leaf() : node_.lock();
    if (node == nullptr) {
      return false;
    }
    const auto* needed = torch::autograd::get_current_graph_task_exec_info();
    if (needed->empty()) {  // backward() without inputs: all that can be reached
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

using Places = std::shared_ptr<const std::vector<Place>>;

IdRegistry<Places>& watched() {
  static auto* const all = new IdRegistry<Places>;  // used by threads that may outlive main
  return *all;
}

}  // namespace

NodePointer grad_fn(const at::Tensor& tensor) { return tensor.grad_fn(); }

NodePointer gradient_node(const at::Tensor& tensor) {
  if (!tensor.requires_grad()) {
    throw Error(ErrorKind::kInvalidArgument, "a tensor that requires no gradient has no place in a graph");
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
  auto seat = std::make_shared<Seat>(std::move(hook));
  if (is_before) {
    auto before = std::make_unique<HookBefore>(std::move(seat));
    const int64_t number = before->number();
    held.node->add_pre_hook(std::move(before));
    return number;
  }
  auto after = std::make_unique<HookAfter>(std::move(seat));
  const int64_t number = after->number();
  held.node->add_post_hook(std::move(after));
  return number;
}

void remove_node_hook(int64_t number) {
  const auto taken = seats().take(number);
  if (const auto seat = taken ? taken->lock() : nullptr) {
    seat->leave();
  }
}

int64_t watch_gradients(at::TensorList tensors) {
  std::vector<Place> places;
  for (const at::Tensor& tensor : tensors) {
    places.emplace_back(tensor);
  }
  return watched().add(std::make_shared<const std::vector<Place>>(std::move(places)));
}

void unwatch_gradients(int64_t number) { watched().take(number); }

int64_t watched_in_pass(int64_t number) {
  if (torch::autograd::get_current_graph_task_exec_info() == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, "this thread is not inside of a backward pass");
  }
  const Places places = watched().find(number).value_or(nullptr);
  return places == nullptr ? 0 : std::count_if(places->begin(), places->end(), [](const Place& place) {
    return place.is_in_pass();
  });
}

}  // namespace simple_torch::core
