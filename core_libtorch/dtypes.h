// Codes and names of dtypes and devices.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorOptions.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace simple_torch::core {

/// LibTorch's own numbers (6 float32, 4 int64…). They are stable, because files store them.
int64_t code_of_dtype(c10::ScalarType dtype);

/// The default dtype for -1. Throws Error(kInvalidArgument) for an unknown code.
c10::ScalarType dtype_of_code(int64_t code);

/// PyTorch's name: "float32".
std::string dtype_name(c10::ScalarType dtype);

/// Accepts PyTorch's names and short forms ("float", "long"), also after "torch.". Throws
/// Error(kInvalidArgument) for an unknown name.
c10::ScalarType dtype_of_name(std::string_view name);

/// 0 without a driver and in a LibTorch without CUDA.
int64_t cuda_device_count();

/// -1 CPU, n cuda:n, as stock Simple counts. Throws Error(kNotImplemented) for other kinds of devices.
int64_t device_code(c10::Device device);

/// Throws Error(kUnavailable) for a CUDA device that does not exist, Error(kInvalidArgument) below -1.
c10::Device device_of_code(int64_t code);

/// "cpu and cuda:0"
std::string available_devices();

/// Accepts LibTorch's device strings ("cpu", "cuda", "cuda:1"). "gpu" is the first CUDA device; "auto" is
/// that device or the CPU. Throws as device_of_code.
c10::Device device_of_text(std::string_view text);

/// Tensor options for a dtype code and a device code.
c10::TensorOptions options(int64_t dtype, int64_t device);

/// Options with the default dtype, for factories that would otherwise infer the dtype from their values.
c10::TensorOptions default_options();
/// Throws Error: InvalidArgument, DtypeMismatch for dtypes that are not floating point.
void set_default_dtype(int64_t code);

}  // namespace simple_torch::core
