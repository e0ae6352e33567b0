// The types and numbers of ONNX Runtime's C interface that we use. Its header is not part of the Python
// package.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simple_torch::core::onnxruntime {

// Opaque objects of the library.
struct OrtStatus;
struct OrtEnv;
struct OrtSession;
struct OrtSessionOptions;
struct OrtRunOptions;
struct OrtMemoryInfo;
struct OrtAllocator;
struct OrtValue;
struct OrtTypeInfo;
struct OrtTensorInfo;
struct OrtMapInfo;
struct OrtSequenceInfo;
struct OrtOptionalInfo;
struct OrtModelMetadata;

/// OrtErrorCode
enum class OrtCode : int32_t { kFail = 1, kInvalidArgument = 2, kNotImplemented = 9 };

/// ONNXType
enum class OrtKind : int32_t {
  kUnknown = 0,
  kTensor = 1,
  kSequence = 2,
  kMap = 3,
  kOpaque = 4,
  kSparseTensor = 5,
  kOptional = 6
};

/// ONNXTensorElementDataType. Numbers above those listed are types that LibTorch lacks, such as int4.
enum class OrtElement : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kUInt2 = 24,
  kInt2 = 25,
  kFloat8E8M0 = 26
};

/// OrtAllocatorType and OrtMemType of plain memory of the CPU.
inline constexpr int32_t kDeviceAllocator = 0;
inline constexpr int32_t kDefaultMemory = 0;

}  // namespace simple_torch::core::onnxruntime
