// Handles of TorchScript modules.
#pragma once

#include <memory>
#include <utility>

#include "abi/handles/handle_table.h"
#include "core_libtorch/jit/script_module.h"

namespace simple_torch::abi {

using ScriptPointer = std::unique_ptr<core::ScriptModule>;

template <>
struct HandleKindOf<ScriptPointer> {
  static constexpr HandleKind value = HandleKind::kScript;
};

inline int64_t new_script(core::ScriptModule module) {
  return handles().insert(std::make_unique<core::ScriptModule>(std::move(module)));
}

}  // namespace simple_torch::abi
