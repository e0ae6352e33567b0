// The default device and dtype of operators that create tensors.
#pragma once

namespace simple_torch::abi {

/// Whether new tensors are on the CPU, as spt_op_defaults has reported.
bool has_plain_defaults() noexcept;

}  // namespace simple_torch::abi
