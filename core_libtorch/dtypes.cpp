// Codes and names of dtypes and devices.
#include "core_libtorch/dtypes.h"

#include <ATen/Context.h>
#include <c10/core/DefaultDtype.h>

#include <array>
#include <utility>

#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

using c10::ScalarType;

struct Name {
  std::string_view name;
  ScalarType dtype;
};

// PyTorch's names first, then the short forms. Messages show the first name of a dtype.
constexpr auto kDtypeNames = std::to_array<Name>({
    {"uint8", ScalarType::Byte},
    {"int8", ScalarType::Char},
    {"int16", ScalarType::Short},
    {"int32", ScalarType::Int},
    {"int64", ScalarType::Long},
    {"uint16", ScalarType::UInt16},
    {"uint32", ScalarType::UInt32},
    {"uint64", ScalarType::UInt64},
    {"float16", ScalarType::Half},
    {"float32", ScalarType::Float},
    {"float64", ScalarType::Double},
    {"bfloat16", ScalarType::BFloat16},
    {"complex32", ScalarType::ComplexHalf},
    {"complex64", ScalarType::ComplexFloat},
    {"complex128", ScalarType::ComplexDouble},
    {"bool", ScalarType::Bool},
    {"qint8", ScalarType::QInt8},
    {"quint8", ScalarType::QUInt8},
    {"qint32", ScalarType::QInt32},
    {"float8_e5m2", ScalarType::Float8_e5m2},
    {"float8_e4m3fn", ScalarType::Float8_e4m3fn},
    {"float8_e5m2fnuz", ScalarType::Float8_e5m2fnuz},
    {"float8_e4m3fnuz", ScalarType::Float8_e4m3fnuz},
    {"float8_e8m0fnu", ScalarType::Float8_e8m0fnu},
    {"float4_e2m1fn_x2", ScalarType::Float4_e2m1fn_x2},
    {"short", ScalarType::Short},
    {"int", ScalarType::Int},
    {"long", ScalarType::Long},
    {"half", ScalarType::Half},
    {"float", ScalarType::Float},
    {"double", ScalarType::Double},
    {"cfloat", ScalarType::ComplexFloat},
    {"cdouble", ScalarType::ComplexDouble},
    {"f16", ScalarType::Half},
    {"bf16", ScalarType::BFloat16},
    {"f32", ScalarType::Float},
    {"f64", ScalarType::Double},
    {"i32", ScalarType::Int},
    {"i64", ScalarType::Long},
});

c10::Device cuda_device(int64_t index) {
  const int64_t count = cuda_device_count();
  if (index >= count) {
    throw Error(ErrorKind::kUnavailable,
                "no device cuda:" + std::to_string(index) + "; available devices: " + available_devices());
  }
  return {c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index)};
}

}  // namespace

int64_t code_of_dtype(ScalarType dtype) { return static_cast<int64_t>(dtype); }

ScalarType dtype_of_code(int64_t code) {
  if (code == -1) {
    return c10::get_default_dtype_as_scalartype();
  }
  for (const Name& entry : kDtypeNames) {
    if (code_of_dtype(entry.dtype) == code) {
      return entry.dtype;
    }
  }
  throw Error(ErrorKind::kInvalidArgument, "unknown dtype code " + std::to_string(code));
}

std::string dtype_name(ScalarType dtype) {
  for (const Name& entry : kDtypeNames) {
    if (entry.dtype == dtype) {
      return std::string(entry.name);
    }
  }
  return c10::toString(dtype);
}

ScalarType dtype_of_name(std::string_view name) {
  if (name.starts_with("torch.")) {
    name.remove_prefix(6);
  }
  for (const Name& entry : kDtypeNames) {
    if (entry.name == name) {
      return entry.dtype;
    }
  }
  throw Error(ErrorKind::kInvalidArgument,
              "unknown dtype '" + std::string(name) +
                  "'; use float32, float64, int64, bool or another of torch's dtypes");
}

int64_t cuda_device_count() {
  // Through the hooks of LibTorch's CUDA library: torch's FakeTensorMode, which torch.compile uses, replaces
  // the device guard by one with eight devices.
  return static_cast<int64_t>(at::getNumGPUs());
}

int64_t device_code(c10::Device device) {
  if (device.is_cpu()) {
    return -1;
  }
  if (device.is_cuda()) {
    return device.index();
  }
  throw Error(ErrorKind::kNotImplemented, "device " + device.str() + " has no code; query its name instead");
}

c10::Device device_of_code(int64_t code) {
  if (code < -1) {
    throw Error(ErrorKind::kInvalidArgument, "unknown device code " + std::to_string(code));
  }
  return code == -1 ? c10::Device(c10::kCPU) : cuda_device(code);
}

std::string available_devices() {
  const int64_t count = cuda_device_count();
  return count == 0   ? "cpu"
         : count == 1 ? "cpu and cuda:0"
                      : "cpu and cuda:0 to cuda:" + std::to_string(count - 1);
}

c10::Device device_of_text(std::string_view text) {
  if (text == "auto") {
    return cuda_device_count() > 0 ? cuda_device(0) : c10::Device(c10::kCPU);
  }
  if (text == "gpu") {
    return cuda_device(0);
  }
  try {
    const c10::Device device{std::string(text)};
    return device.is_cuda() ? cuda_device(device.has_index() ? device.index() : 0) : device;
  } catch (const c10::Error& error) {
    throw Error(ErrorKind::kInvalidArgument,
                std::string(error.what_without_backtrace()) + "; available devices: " + available_devices());
  }
}

c10::TensorOptions options(int64_t dtype, int64_t device) {
  return c10::TensorOptions().dtype(dtype_of_code(dtype)).device(device_of_code(device));
}

void set_default_dtype(int64_t code) {
  if (code < 0) {  // in other functions -1 is the default dtype itself
    throw Error(ErrorKind::kInvalidArgument, "unknown dtype code " + std::to_string(code));
  }
  const ScalarType dtype = dtype_of_code(code);
  if (!c10::isFloatingType(dtype)) {
    throw Error(ErrorKind::kDtypeMismatch,
                "only floating-point types are supported as the default type, got " + dtype_name(dtype));
  }
  c10::set_default_dtype(c10::scalarTypeToTypeMeta(dtype));
}

c10::TensorOptions default_options() { return c10::TensorOptions().dtype(c10::get_default_dtype()); }

}  // namespace simple_torch::core
