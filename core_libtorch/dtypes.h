// Codes and names of dtypes and devices.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorOptions.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace simple_torch::core {

/// LibTorch's own numbers (6 float32, 4 int64…), which are stable because files hold them.
int64_t code_of_dtype(c10::ScalarType dtype);

/// The default dtype for -1. Throws Error(kInvalidArgument) for a number that is no dtype's.
c10::ScalarType dtype_of_code(int64_t code);

/// PyTorch's name: "float32".
std::string dtype_name(c10::ScalarType dtype);

/// From PyTorch's names, their short forms ("float", "long") and either after "torch.". Throws
/// Error(kInvalidArgument) for another.
c10::ScalarType dtype_of_name(std::string_view name);

/// 0 without a driver or where LibTorch was built without CUDA.
int64_t cuda_device_count();

/// -1 CPU, n cuda:n, as stock Simple counts. Throws Error(kNotImplemented) for other kinds of devices.
int64_t device_code(c10::Device device);

/// Throws Error(kUnavailable) for a CUDA device that is not there, Error(kInvalidArgument) below -1.
c10::Device device_of_code(int64_t code);

/// "cpu and cuda:0"
std::string devices_here();

/// "cpu", "cuda", "cuda:1" and what else LibTorch understands; "gpu" is the first CUDA device, "auto" that or
/// the CPU. Throws as device_of_code does.
c10::Device device_of_text(std::string_view text);

/// Options for a tensor of that dtype on that device, by codes.
c10::TensorOptions options(int64_t dtype, int64_t device);

/// Options that name the default dtype, for creators that would else take the dtype from their numbers.
c10::TensorOptions default_options();
/// Throws Error: InvalidArgument, DtypeMismatch for dtypes that are not floating point.
void set_default_dtype(int64_t code);

}  // namespace simple_torch::core
