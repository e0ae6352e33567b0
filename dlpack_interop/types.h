// DLPack's dtypes and devices in torch's terms.
#pragma once

#include <ATen/dlpack.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace simple_torch::dlpack {

// Structures go by reference: one that was just written in parts is slow to load whole.

/// Throws Error(kDtypeMismatch) for a dtype that DLPack has no code for.
const DLDataType& dlpack_dtype(c10::ScalarType dtype);

/// Throws Error(kInvalidArgument) for lanes other than 1, Error(kDtypeMismatch) for what torch lacks.
c10::ScalarType torch_dtype(const DLDataType& dtype);

/// In a torch for ROCm, whose devices it calls cuda, they have ROCm's number here. Throws
/// Error(kNotImplemented) for devices other than CPU and CUDA.
DLDevice dlpack_device_beyond_cpu(c10::Device device);
inline DLDevice dlpack_device(c10::Device device) {
  return device.is_cpu() ? DLDevice{kDLCPU, 0} : dlpack_device_beyond_cpu(device);
}

/// Pinned host memory counts as CPU. Throws Error(kInvalidArgument) for a CPU number other than 0,
/// Error(kUnavailable) for a CUDA device that is not there, Error(kNotImplemented) for other devices.
c10::Device torch_device(const DLDevice& device);

}  // namespace simple_torch::dlpack
