// DLPack's dtypes and devices in torch's terms.
#include "dlpack_interop/types.h"

#include <ATen/Context.h>

#include <array>
#include <bit>
#include <cstddef>
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
  uint8_t lanes = 1;
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
    {ScalarType::Float4_e2m1fn_x2, kDLFloat4_e2m1fn, 4, 2},
});

// The same, to be looked up from either side. All have a power of two of bits, at most 128.
constexpr size_t kCodes = 32;
constexpr size_t kWidths = 8;
constexpr DLDataType kNone{0, 0, 0};

constexpr auto kOfTorch = [] {
  std::array<DLDataType, static_cast<size_t>(ScalarType::NumOptions)> table{};
  for (const Pair& pair : kDtypes) {
    table[static_cast<size_t>(pair.torch)] = {pair.code, pair.bits, pair.lanes};
  }
  return table;
}();

constexpr auto kOfDlpack = [] {
  std::array<std::array<ScalarType, kWidths>, kCodes> table{};
  for (auto& row : table) {
    row.fill(ScalarType::Undefined);
  }
  for (const Pair& pair : kDtypes) {
    table[pair.code][std::bit_width(pair.bits) - 1U] = pair.torch;
  }
  return table;
}();

ScalarType looked_up(const DLDataType& dtype) {
  const bool is_power_of_two = dtype.bits != 0 && (dtype.bits & (dtype.bits - 1U)) == 0;
  return dtype.code < kCodes && is_power_of_two ? kOfDlpack[dtype.code][std::bit_width(dtype.bits) - 1U]
                                                : ScalarType::Undefined;
}

[[noreturn]] void refuse_device(const DLDevice& device) {
  throw Error(ErrorKind::kNotImplemented, "device.device_type is " + std::to_string(device.device_type) +
                                              "; memory of the CPU (1) and of CUDA (2) can be taken");
}

}  // namespace

const DLDataType& dlpack_dtype(ScalarType dtype) {
  const auto index = static_cast<size_t>(dtype);
  const DLDataType& found = index < kOfTorch.size() ? kOfTorch[index] : kNone;
  if (found.lanes != 0) {
    return found;
  }
  throw Error(ErrorKind::kDtypeMismatch, "DLPack has no dtype for torch." + core::dtype_name(dtype));
}

ScalarType torch_dtype(const DLDataType& dtype) {
  const ScalarType found = looked_up(dtype);
  const int lanes = found == ScalarType::Undefined ? 1 : kOfTorch[static_cast<size_t>(found)].lanes;
  if (dtype.lanes != lanes) {
    throw Error(ErrorKind::kInvalidArgument, "dtype.lanes is " + std::to_string(dtype.lanes) +
                                                 ", and torch has " + std::to_string(lanes) +
                                                 " for such values only; convert it where it was made");
  }
  if (found != ScalarType::Undefined) {
    return found;
  }
  throw Error(ErrorKind::kDtypeMismatch, "torch has no dtype for dtype.code " + std::to_string(dtype.code) +
                                             " with dtype.bits " + std::to_string(dtype.bits) +
                                             "; convert it where it was made");
}

DLDevice dlpack_device_beyond_cpu(c10::Device device) {
  if (device.is_cuda()) {
    return {at::Context::hasROCM() ? kDLROCM : kDLCUDA, device.index()};
  }
  throw Error(
      ErrorKind::kNotImplemented,
      "a tensor on " + device.str() + " cannot be exported by DLPack; move it to the CPU or a CUDA device");
}

c10::Device torch_device(const DLDevice& device) {
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
      if (device.device_id != 0) {
        throw Error(ErrorKind::kInvalidArgument,
                    "device.device_id is " + std::to_string(device.device_id) + ", and the CPU's is 0");
      }
      return c10::kCPU;
    case kDLROCM:
      if (!at::Context::hasROCM()) {
        refuse_device(device);
      }
      [[fallthrough]];
    case kDLCUDA:
    case kDLCUDAManaged:
      if (device.device_id < 0) {
        throw Error(ErrorKind::kInvalidArgument,
                    "device.device_id is " + std::to_string(device.device_id) + ", and is never negative");
      }
      return core::device_of_code(device.device_id);
    default:
      refuse_device(device);
  }
}

}  // namespace simple_torch::dlpack
