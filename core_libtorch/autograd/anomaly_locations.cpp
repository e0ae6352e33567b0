#include "core_libtorch/autograd/anomaly_locations.h"

#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/autograd/engine.h>

#include <mutex>
#include <utility>

#include "core_libtorch/counted_lock.h"

namespace simple_torch::core {
namespace {

using torch::autograd::AnomalyMetadata;
using torch::autograd::Engine;
using NodePointer =
    decltype(torch::autograd::Edge::function);  // shared or intrusive, depending on LibTorch's version

class Anomalies {
 public:
  void set_provider(LocationProvider provider) {
    const CountedLockGuard guard(mutex_);
    provider_ = provider ? std::make_shared<const LocationProvider>(std::move(provider)) : nullptr;
  }
  /// Calls the provider without the lock, because it runs the program.
  std::string location() {
    std::shared_ptr<const LocationProvider> provider;
    {
      const CountedLockGuard guard(mutex_);
      provider = provider_;
    }
    return provider == nullptr ? "" : (*provider)();
  }
  void record_failure(std::string location) {
    const CountedLockGuard guard(mutex_);
    failed_ = std::move(location);
  }
  std::string take_failed() {
    const CountedLockGuard guard(mutex_);
    return std::exchange(failed_, {});
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const LocationProvider> provider_;
  std::string failed_;
};

Anomalies& anomalies() {
  static auto* const all = new Anomalies;  // never freed: threads that outlive main use it
  return *all;
}

class LocationMetadata : public AnomalyMetadata {
 public:
  explicit LocationMetadata(Engine& wrapped) : wrapped_(wrapped) {}

  void store_stack() override {
    location_ = anomalies().location();
    if (location_.empty() && &wrapped_ != &Engine::get_base_engine()) {
      other_ = wrapped_.make_anomaly_metadata();
      other_->store_stack();
    }
  }

  void print_stack(const std::string& node_name) override {
    if (other_ != nullptr) {
      other_->print_stack(node_name);
    }
    std::string location = location_;
    NodePointer parent = parent_;
    while (location.empty() && parent != nullptr) {  // a backward made this node: use its parent's location
      const auto* metadata = dynamic_cast<const LocationMetadata*>(parent->metadata());
      if (metadata == nullptr) {
        break;
      }
      location = metadata->location_;
      parent = metadata->parent_;
    }
    anomalies().record_failure(std::move(location));
  }

  void assign_parent(const NodePointer& parent) override {
    parent_ = parent;
    if (other_ != nullptr) {
      other_->assign_parent(parent);
    }
  }

 private:
  Engine& wrapped_;
  std::string location_;
  NodePointer parent_;
  std::unique_ptr<AnomalyMetadata> other_;
};

}  // namespace

void set_location_provider(LocationProvider provider) { anomalies().set_provider(std::move(provider)); }

std::unique_ptr<AnomalyMetadata> location_metadata(Engine& wrapped) {
  return std::make_unique<LocationMetadata>(wrapped);
}

std::string take_anomaly_location() { return anomalies().take_failed(); }

}  // namespace simple_torch::core
