#include "core_libtorch/autograd/modes.h"

#include <c10/core/InferenceMode.h>

#include <memory>
#include <vector>

#include "core_libtorch/error.h"
#include "core_libtorch/thread_object.h"

namespace simple_torch::core {
namespace {

/// A thread may exit with open guards. They are leaked: no code of that thread needs the old mode.
class OpenModes {
 public:
  ~OpenModes() {
    while (!modes_.empty()) {
      modes_.pop_back();
    }
  }
  void push(bool enabled) { modes_.push_back(std::make_unique<c10::InferenceMode>(enabled)); }
  bool pop() {
    if (modes_.empty()) {
      return false;
    }
    modes_.pop_back();
    return true;
  }

 private:
  std::vector<std::unique_ptr<c10::InferenceMode>> modes_;
};

OpenModes& open_modes() { return thread_object<OpenModes, OpenModes>(); }

}  // namespace

void begin_inference_mode(bool enabled) { open_modes().push(enabled); }

void end_inference_mode() {
  if (!open_modes().pop()) {
    throw Error(ErrorKind::kInvalidArgument,
                "end_inference_mode: this thread has not entered inference mode");
  }
}

bool is_inference_mode() { return c10::InferenceMode::is_enabled(); }

}  // namespace simple_torch::core
