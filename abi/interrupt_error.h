// The error of a call that SIGINT interrupted. The front and the bridge record it.
#pragma once

#include "abi/front_backend.h"
#include "core_libtorch/error_kinds.h"

namespace simple_torch::abi {

/// As Python names it.
inline ErrorData interrupt_error() noexcept {
  return {.kind = static_cast<int32_t>(ErrorKind::kInterrupted),
          .message = "KeyboardInterrupt",
          .op = nullptr,
          .expected = nullptr,
          .got = nullptr,
          .requested_bytes = -1,
          .available_bytes = -1,
          .type = "builtins.KeyboardInterrupt",
          .traceback = nullptr};
}

}  // namespace simple_torch::abi
