// The dtypes of safetensors files, by alignment, which is the order of the tensors in a file.
#pragma once

#include <c10/core/ScalarType.h>

#include <array>
#include <string_view>

namespace simple_torch::core {

struct SafetensorsDtype {
  std::string_view name;
  c10::ScalarType dtype;
};

constexpr std::array kSafetensorsDtypes{
    SafetensorsDtype{"BOOL", c10::kBool},
    SafetensorsDtype{"U8", c10::kByte},
    SafetensorsDtype{"I8", c10::kChar},
    SafetensorsDtype{"F8_E5M2", c10::kFloat8_e5m2},
    SafetensorsDtype{"F8_E4M3", c10::kFloat8_e4m3fn},
    SafetensorsDtype{"F8_E8M0", c10::kFloat8_e8m0fnu},
    SafetensorsDtype{"F8_E4M3FNUZ", c10::kFloat8_e4m3fnuz},
    SafetensorsDtype{"F8_E5M2FNUZ", c10::kFloat8_e5m2fnuz},
    SafetensorsDtype{"I16", c10::kShort},
    SafetensorsDtype{"U16", c10::kUInt16},
    SafetensorsDtype{"F16", c10::kHalf},
    SafetensorsDtype{"BF16", c10::kBFloat16},
    SafetensorsDtype{"I32", c10::kInt},
    SafetensorsDtype{"U32", c10::kUInt32},
    SafetensorsDtype{"F32", c10::kFloat},
    SafetensorsDtype{"C64", c10::kComplexFloat},
    SafetensorsDtype{"F64", c10::kDouble},
    SafetensorsDtype{"I64", c10::kLong},
    SafetensorsDtype{"U64", c10::kUInt64},
};

}  // namespace simple_torch::core
