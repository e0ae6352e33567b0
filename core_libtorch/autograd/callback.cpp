#include "core_libtorch/autograd/callback.h"

#include <optional>
#include <utility>

#include "core_libtorch/thread_object.h"

namespace simple_torch::core {
namespace {
using Recorded = std::optional<Error>;
Recorded& recorded() { return thread_object<Recorded, struct RecordedFailure>(); }
}  // namespace

void record_callback_failure(Error failure) { recorded().emplace(std::move(failure)); }

void throw_callback_failure(const std::string& who) {
  if (auto failure = std::exchange(recorded(), std::nullopt)) {
    throw *std::move(failure);
  }
  throw Error(ErrorKind::kInterrupted, who + " was interrupted");
}

}  // namespace simple_torch::core
