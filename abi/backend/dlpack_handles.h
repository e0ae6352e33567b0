// Handles of DLPack tensors.
#pragma once

#include "abi/handles/handle_table.h"
#include "dlpack_interop/managed.h"

namespace simple_torch::abi {

template <>
struct HandleKindOf<dlpack::Managed> {
  static constexpr HandleKind value = HandleKind::kDlpack;
};

}  // namespace simple_torch::abi
