// DLPack's dtypes and devices in torch's terms.
#include "dlpack_interop/types.h"

#include <array>
#include <string>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"

namespace simple_torch::dlpack {
namespace {

using c10::ScalarType;

struct Pair {
  ScalarType torch;
  uint8_t code;
  uint8_t bits;
};

constexpr auto kDtypes = std::to_array<Pair>({
    {ScalarType::Byte, kDLUInt, 8},
    {ScalarType::UInt16, kDLUInt, 16},
    {ScalarType::UInt32, kDLUInt, 32},
    {ScalarType::UInt64, kDLUInt, 64},
    {ScalarType::Char, kDLInt, 8},
    {ScalarType::Short, kDLInt, 16},
    {ScalarType::Int, kDLInt, 32},
    {ScalarType::Long, kDLInt, 64},
    {ScalarType::Half, kDLFloat, 16},
    {ScalarType::Float, kDLFloat, 32},
    {ScalarType::Double, kDLFloat, 64},
    {ScalarType::BFloat16, kDLBfloat, 16},
    {ScalarType::ComplexHalf, kDLComplex, 32},
    {ScalarType::ComplexFloat, kDLComplex, 64},
    {ScalarType::ComplexDouble, kDLComplex, 128},
    {ScalarType::Bool, kDLBool, 8},
    {ScalarType::Float8_e4m3fn, kDLFloat8_e4m3fn, 8},
    {ScalarType::Float8_e4m3fnuz, kDLFloat8_e4m3fnuz, 8},
    {ScalarType::Float8_e5m2, kDLFloat8_e5m2, 8},
    {ScalarType::Float8_e5m2fnuz, kDLFloat8_e5m2fnuz, 8},
    {ScalarType::Float8_e8m0fnu, kDLFloat8_e8m0fnu, 8},
});

}  // namespace

DLDataType dlpack_dtype(ScalarType dtype) {
  for (const Pair& pair : kDtypes) {
    if (pair.torch == dtype) {
      return {pair.code, pair.bits, 1};
    }
  }
  throw Error(ErrorKind::kDtypeMismatch, "DLPack has no dtype for torch." + core::dtype_name(dtype));
}

ScalarType torch_dtype(DLDataType dtype) {
  if (dtype.lanes != 1) {
    throw Error(ErrorKind::kInvalidArgument,
                "dtype.lanes is " + std::to_string(dtype.lanes) + ", and torch has single values only (1)");
  }
  for (const Pair& pair : kDtypes) {
    if (pair.code == dtype.code && pair.bits == dtype.bits) {
      return pair.torch;
    }
  }
  throw Error(ErrorKind::kDtypeMismatch, "torch has no dtype for dtype.code " + std::to_string(dtype.code) +
                                             " with dtype.bits " + std::to_string(dtype.bits));
}

DLDevice dlpack_device(c10::Device device) {
  if (device.is_cpu()) {
    return {kDLCPU, 0};
  }
  if (device.is_cuda()) {
    return {kDLCUDA, device.index()};
  }
  throw Error(
      ErrorKind::kNotImplemented,
      "a tensor on " + device.str() + " cannot be exported by DLPack; move it to the CPU or a CUDA device");
}

c10::Device torch_device(DLDevice device) {
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
      if (device.device_id != 0) {
        throw Error(ErrorKind::kInvalidArgument,
                    "device.device_id is " + std::to_string(device.device_id) + ", and the CPU's is 0");
      }
      return c10::kCPU;
    case kDLCUDA:
    case kDLCUDAManaged:
      if (device.device_id < 0) {
        throw Error(ErrorKind::kInvalidArgument,
                    "device.device_id is " + std::to_string(device.device_id) + ", and is never negative");
      }
      return core::device_of_code(device.device_id);
    default:
      throw Error(ErrorKind::kNotImplemented, "device.device_type is " + std::to_string(device.device_type) +
                                                  "; memory of the CPU (1) and of CUDA (2) can be taken");
  }
}

}  // namespace simple_torch::dlpack
