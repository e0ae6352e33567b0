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
using NodePointer = decltype(torch::autograd::Edge::function);  // shared or intrusive, by LibTorch's version

class Anomalies {
 public:
  void set_place(Place place) {
    const CountedLockGuard guard(mutex_);
    place_ = place ? std::make_shared<const Place>(std::move(place)) : nullptr;
  }
  /// Asked without the lock: it runs the program.
  std::string place() {
    std::shared_ptr<const Place> asked;
    {
      const CountedLockGuard guard(mutex_);
      asked = place_;
    }
    return asked == nullptr ? "" : (*asked)();
  }
  void note_failed(std::string place) {
    const CountedLockGuard guard(mutex_);
    failed_ = std::move(place);
  }
  std::string take_failed() {
    const CountedLockGuard guard(mutex_);
    return std::exchange(failed_, {});
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const Place> place_;
  std::string failed_;
};

Anomalies& anomalies() {
  static auto* const all = new Anomalies;  // used by threads that may outlive main
  return *all;
}

class PlaceMetadata : public AnomalyMetadata {
 public:
  explicit PlaceMetadata(Engine& behind) : behind_(behind) {}

  void store_stack() override {
    place_ = anomalies().place();
    if (place_.empty() && &behind_ != &Engine::get_base_engine()) {
      other_ = behind_.make_anomaly_metadata();
      other_->store_stack();
    }
  }

  void print_stack(const std::string& node_name) override {
    if (other_ != nullptr) {
      other_->print_stack(node_name);
    }
    std::string place = place_;
    NodePointer parent = parent_;
    while (place.empty() && parent != nullptr) {  // made by a backward: the operation that it is of
      const auto* metadata = dynamic_cast<const PlaceMetadata*>(parent->metadata());
      if (metadata == nullptr) {
        break;
      }
      place = metadata->place_;
      parent = metadata->parent_;
    }
    anomalies().note_failed(std::move(place));
  }

  void assign_parent(const NodePointer& parent) override {
    parent_ = parent;
    if (other_ != nullptr) {
      other_->assign_parent(parent);
    }
  }

 private:
  Engine& behind_;
  std::string place_;
  NodePointer parent_;
  std::unique_ptr<AnomalyMetadata> other_;
};

}  // namespace

void set_place(Place place) { anomalies().set_place(std::move(place)); }

std::unique_ptr<AnomalyMetadata> place_metadata(Engine& behind) {
  return std::make_unique<PlaceMetadata>(behind);
}

std::string take_anomaly_place() { return anomalies().take_failed(); }

}  // namespace simple_torch::core
