// An engine that wraps LibTorch's or Python's. It forwards everything except anomaly metadata and
// saved-tensor hooks.
#include "core_libtorch/autograd/engine.h"

#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "core_libtorch/counted_lock.h"
#include "core_libtorch/error_table.h"

namespace simple_torch::core {
namespace {

using torch::autograd::AnomalyMetadata;
using torch::autograd::AnomalyMode;
using torch::autograd::Engine;
using NodePointer =
    decltype(torch::autograd::Edge::function);  // shared or intrusive, depending on LibTorch's version

class WrapperEngine final : public Engine {
 public:
  void wrap(Engine& engine) { wrapped_ = &engine; }

  torch::autograd::variable_list execute(const torch::autograd::edge_list& roots,
                                         const torch::autograd::variable_list& inputs, bool keep_graph,
                                         bool create_graph, bool accumulate_grad,
                                         const torch::autograd::edge_list& outputs) override {
    return wrapped().execute(roots, inputs, keep_graph, create_graph, accumulate_grad, outputs);
  }

  c10::intrusive_ptr<at::ivalue::Future> execute_with_graph_task(
      const std::shared_ptr<torch::autograd::GraphTask>& task, NodePointer root,
      torch::autograd::InputBuffer&& buffer) override {
    return wrapped().execute_with_graph_task(task, std::move(root), std::move(buffer));
  }

  std::unique_ptr<AnomalyMetadata> make_anomaly_metadata() override { return location_metadata(wrapped()); }

  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    auto hooks = hooks_for_saved_tensor();
    return hooks != nullptr ? std::move(hooks) : wrapped().get_default_saved_variable_hooks();
  }

#if __has_include(<torch/csrc/autograd/node_creation_hook.h>)
  std::vector<std::unique_ptr<torch::autograd::NodeCreationHook>> get_node_creation_hooks() override {
    return wrapped().get_node_creation_hooks();
  }
#endif

 private:
  Engine& wrapped() { return *wrapped_.load(std::memory_order_acquire); }
  std::atomic<Engine*> wrapped_{nullptr};
};

WrapperEngine& wrapper_engine() {
  static auto* const engine = new WrapperEngine;  // never freed: LibTorch's threads use it until exit
  return *engine;
}

/// Access to members that only engines have.
struct EngineParts : Engine {
  static bool has_threads(Engine& engine) { return engine.*(&EngineParts::thread_pool_shared_) != nullptr; }
  static void start_threads(Engine& engine) { (engine.*(&EngineParts::start_device_threads))(); }
};

/// Python's engine replaces the default one when Python imports torch, so this is checked each time.
void install_wrapper() {
  static std::mutex mutex;
  const CountedLockGuard guard(mutex);
  Engine& present = Engine::get_default_engine();
  if (&present == &wrapper_engine()) {
    return;
  }
  prepare_engine();
  wrapper_engine().wrap(present);
  torch::autograd::set_default_engine_stub([]() -> Engine& { return wrapper_engine(); });
}

}  // namespace

constinit std::atomic<bool> has_prepared_python{false};

void prepare_engine() {
  static std::atomic<const Engine*> prepared{nullptr};
  if (has_prepared_python.load(std::memory_order_relaxed)) [[likely]] {
    return;
  }
  Engine& present = Engine::get_default_engine();
  if (prepared.load(std::memory_order_relaxed) == &present) {
    return;
  }
  static std::mutex mutex;
  const CountedLockGuard guard(mutex);
  Engine& first = Engine::get_base_engine();
  if (&present != &first && &present != &wrapper_engine() && EngineParts::has_threads(first) &&
      !EngineParts::has_threads(present)) {
    EngineParts::start_threads(present);
  }
  prepared.store(&present);
  has_prepared_python.store(&present != &first && &present != &wrapper_engine());
}

static std::atomic<void (*)()> prepare_thread{nullptr};

void set_thread_preparation(void (*prepare)()) { prepare_thread.store(prepare); }

void prepare_pass() {
  prepare_engine();
  if (void (*prepare)() = prepare_thread.load(std::memory_order_relaxed)) {
    prepare();
  }
}

void set_anomaly_mode(bool enabled, bool check_nan, LocationProvider provider) {
  if (enabled) {
    install_wrapper();
  }
  set_location_provider(enabled ? std::move(provider) : LocationProvider());
  AnomalyMode::set_enabled(enabled, check_nan);
}

bool is_anomaly_mode() { return AnomalyMode::is_enabled(); }

bool is_anomaly_mode_checking_nan() { return AnomalyMode::should_check_nan(); }

void rethrow_from_backward(const c10::Error& error) {
  const std::string location = is_anomaly_mode() ? take_anomaly_location() : "";
  Error converted = to_error("backward", {}, error);
  const std::string message = converted.what();
  throw Error(converted.kind(), location.empty() ? message : message + " (forward call: " + location + ")",
              converted.fields());
}

void begin_saved_tensor_hooks(std::shared_ptr<SavedTensorHooks> hooks) {
  require_saved_tensor_hooks();
  install_wrapper();
  push_saved_tensor_hooks(std::move(hooks));
}

void end_saved_tensor_hooks() {
  if (pop_saved_tensor_hooks() == nullptr) {
    throw Error(ErrorKind::kInvalidArgument,
                "end_saved_tensor_hooks: this thread has no hooks on saved tensors");
  }
}

}  // namespace simple_torch::core
