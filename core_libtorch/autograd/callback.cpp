#include "core_libtorch/autograd/callback.h"

#include <optional>
#include <utility>

namespace simple_torch::core {
namespace {
thread_local std::optional<Error> noted;
}  // namespace

void note_callback_failure(Error failure) { noted.emplace(std::move(failure)); }

void throw_callback_failure(const std::string& who) {
  if (auto failure = std::exchange(noted, std::nullopt)) {
    throw *std::move(failure);
  }
  throw Error(ErrorKind::kInterrupted, who + " was stopped");
}

}  // namespace simple_torch::core
