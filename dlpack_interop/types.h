// DLPack's dtypes and devices in torch's terms.
#pragma once

#include <ATen/dlpack.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace simple_torch::dlpack {

// Structures are passed by reference: a load of a structure that was just written field by field stalls.

/// Throws Error(kDtypeMismatch) for a dtype that DLPack has no code for.
const DLDataType& dlpack_dtype(c10::ScalarType dtype);

/// Throws Error(kInvalidArgument) for lanes that torch lacks, Error(kDtypeMismatch) for another dtype that it
/// lacks.
c10::ScalarType torch_dtype(const DLDataType& dtype);

/// A torch for ROCm names its devices cuda; DLPack's number for them is ROCm's. Throws Error(kNotImplemented)
/// for devices other than CPU and CUDA.
DLDevice dlpack_device_beyond_cpu(c10::Device device);
inline DLDevice dlpack_device(c10::Device device) {
  return device.is_cpu() ? DLDevice{kDLCPU, 0} : dlpack_device_beyond_cpu(device);
}

/// Pinned host memory is CPU memory. Throws Error(kInvalidArgument) for a CPU index other than 0,
/// Error(kUnavailable) for a CUDA device that does not exist, Error(kNotImplemented) for other devices.
c10::Device torch_device(const DLDevice& device);

}  // namespace simple_torch::dlpack
