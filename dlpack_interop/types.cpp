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

// Lookup tables in both directions. Every dtype has a power of two of bits, at most 128.
constexpr size_t kCodes = 32;
constexpr size_t kWidths = 8;
constexpr DLDataType kNone{0, 0, 0};

constexpr auto kTorchToDlpack = [] {
  std::array<DLDataType, static_cast<size_t>(ScalarType::NumOptions)> table{};
  for (const Pair& pair : kDtypes) {
    table[static_cast<size_t>(pair.torch)] = {pair.code, pair.bits, pair.lanes};
  }
  return table;
}();

constexpr auto kDlpackToTorch = [] {
  std::array<std::array<ScalarType, kWidths>, kCodes> table{};
  for (auto& row : table) {
    row.fill(ScalarType::Undefined);
  }
  for (const Pair& pair : kDtypes) {
    table[pair.code][std::bit_width(pair.bits) - 1U] = pair.torch;
  }
  return table;
}();

ScalarType find_dtype(const DLDataType& dtype) {
  const bool is_power_of_two = dtype.bits != 0 && (dtype.bits & (dtype.bits - 1U)) == 0;
  return dtype.code < kCodes && is_power_of_two ? kDlpackToTorch[dtype.code][std::bit_width(dtype.bits) - 1U]
                                                : ScalarType::Undefined;
}

[[noreturn]] void throw_unsupported_device(const DLDevice& device) {
  throw Error(ErrorKind::kNotImplemented,
              "from_dlpack: device.device_type must be 1 (CPU) or 2 (CUDA), got " +
                  std::to_string(device.device_type));
}

}  // namespace

const DLDataType& dlpack_dtype(ScalarType dtype) {
  const auto index = static_cast<size_t>(dtype);
  const DLDataType& found = index < kTorchToDlpack.size() ? kTorchToDlpack[index] : kNone;
  if (found.lanes != 0) {
    return found;
  }
  throw Error(ErrorKind::kDtypeMismatch,
              "to_dlpack: DLPack has no dtype for torch." + core::dtype_name(dtype));
}

ScalarType torch_dtype(const DLDataType& dtype) {
  const ScalarType found = find_dtype(dtype);
  const int lanes = found == ScalarType::Undefined ? 1 : kTorchToDlpack[static_cast<size_t>(found)].lanes;
  if (dtype.lanes != lanes) {
    throw Error(ErrorKind::kInvalidArgument, "from_dlpack: dtype.lanes must be " + std::to_string(lanes) +
                                                 ", got " + std::to_string(dtype.lanes) +
                                                 "; convert the array in the producer");
  }
  if (found != ScalarType::Undefined) {
    return found;
  }
  throw Error(ErrorKind::kDtypeMismatch,
              "from_dlpack: torch has no dtype for dtype.code " + std::to_string(dtype.code) +
                  " with dtype.bits " + std::to_string(dtype.bits) + "; convert the array in the producer");
}

DLDevice dlpack_device_beyond_cpu(c10::Device device) {
  if (device.is_cuda()) {
    return {at::Context::hasROCM() ? kDLROCM : kDLCUDA, device.index()};
  }
  throw Error(
      ErrorKind::kNotImplemented,
      "to_dlpack: device " + device.str() + " is not supported; move the tensor to the CPU or a CUDA device");
}

c10::Device torch_device(const DLDevice& device) {
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
      if (device.device_id != 0) {
        throw Error(ErrorKind::kInvalidArgument, "from_dlpack: device.device_id must be 0 for the CPU, got " +
                                                     std::to_string(device.device_id));
      }
      return c10::kCPU;
    case kDLROCM:
      if (!at::Context::hasROCM()) {
        throw_unsupported_device(device);
      }
      [[fallthrough]];
    case kDLCUDA:
    case kDLCUDAManaged:
      if (device.device_id < 0) {
        throw Error(ErrorKind::kInvalidArgument, "from_dlpack: device.device_id must be non-negative, got " +
                                                     std::to_string(device.device_id));
      }
      return core::device_of_code(device.device_id);
    default:
      throw_unsupported_device(device);
  }
}

}  // namespace simple_torch::dlpack
