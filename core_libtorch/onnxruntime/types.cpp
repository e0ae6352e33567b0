#include "core_libtorch/onnxruntime/types.h"

#include <array>

namespace simple_torch::core::onnxruntime {
namespace {

using Dtype = c10::ScalarType;

struct ElementRow {
  OrtElement element;
  const char* name;
  Dtype dtype;  // Undefined: LibTorch has no such type
};

constexpr std::array kElements{
    ElementRow{OrtElement::kFloat, "float", Dtype::Float},
    ElementRow{OrtElement::kUInt8, "uint8", Dtype::Byte},
    ElementRow{OrtElement::kInt8, "int8", Dtype::Char},
    ElementRow{OrtElement::kUInt16, "uint16", Dtype::UInt16},
    ElementRow{OrtElement::kInt16, "int16", Dtype::Short},
    ElementRow{OrtElement::kInt32, "int32", Dtype::Int},
    ElementRow{OrtElement::kInt64, "int64", Dtype::Long},
    ElementRow{OrtElement::kString, "string", Dtype::Undefined},
    ElementRow{OrtElement::kBool, "bool", Dtype::Bool},
    ElementRow{OrtElement::kFloat16, "float16", Dtype::Half},
    ElementRow{OrtElement::kDouble, "double", Dtype::Double},
    ElementRow{OrtElement::kUInt32, "uint32", Dtype::UInt32},
    ElementRow{OrtElement::kUInt64, "uint64", Dtype::UInt64},
    ElementRow{OrtElement::kComplex64, "complex64", Dtype::ComplexFloat},
    ElementRow{OrtElement::kComplex128, "complex128", Dtype::ComplexDouble},
    ElementRow{OrtElement::kBFloat16, "bfloat16", Dtype::BFloat16},
    ElementRow{OrtElement::kFloat8E4M3FN, "float8e4m3fn", Dtype::Float8_e4m3fn},
    ElementRow{OrtElement::kFloat8E4M3FNUZ, "float8e4m3fnuz", Dtype::Float8_e4m3fnuz},
    ElementRow{OrtElement::kFloat8E5M2, "float8e5m2", Dtype::Float8_e5m2},
    ElementRow{OrtElement::kFloat8E5M2FNUZ, "float8e5m2fnuz", Dtype::Float8_e5m2fnuz},
    ElementRow{OrtElement::kUInt4, "uint4", Dtype::Undefined},
    ElementRow{OrtElement::kInt4, "int4", Dtype::Undefined},
    ElementRow{OrtElement::kFloat4E2M1, "float4e2m1", Dtype::Undefined},
    ElementRow{OrtElement::kUInt2, "uint2", Dtype::Undefined},
    ElementRow{OrtElement::kInt2, "int2", Dtype::Undefined},
    ElementRow{OrtElement::kFloat8E8M0, "float8e8m0", Dtype::Float8_e8m0fnu},
};

// NOLINTNEXTLINE(misc-no-recursion): as deep as the type
Type item_type(OrtTypeInfo* info) {
  const TypePtr owned(info);
  return read_type(*owned);
}

void read_tensor(const OrtTypeInfo& info, Type& type) {
  const OrtTensorInfo* tensor = nullptr;
  check(functions().as_tensor_info(&info, &tensor));
  if (tensor != nullptr) {
    read_tensor_type(*tensor, type);
  }
}

// NOLINTNEXTLINE(misc-no-recursion)
void read_map(const OrtTypeInfo& info, Type& type) {
  const OrtMapInfo* map = nullptr;
  check(functions().as_map_info(&info, &map));
  int32_t key = 0;
  check(functions().map_key_element(map, &key));
  type.element = static_cast<OrtElement>(key);
  OrtTypeInfo* value = nullptr;
  check(functions().map_value_type(map, &value));
  type.items.push_back(item_type(value));
}

// NOLINTNEXTLINE(misc-no-recursion)
void read_sequence(const OrtTypeInfo& info, Type& type) {
  const OrtSequenceInfo* sequence = nullptr;
  check(functions().as_sequence_info(&info, &sequence));
  OrtTypeInfo* item = nullptr;
  check(functions().sequence_item_type(sequence, &item));
  type.items.push_back(item_type(item));
}

// NOLINTNEXTLINE(misc-no-recursion)
void read_optional(const OrtTypeInfo& info, Type& type) {
  const OrtOptionalInfo* optional = nullptr;
  check(functions().as_optional_info(&info, &optional));
  OrtTypeInfo* item = nullptr;
  check(functions().optional_item_type(optional, &item));
  type.items.push_back(item_type(item));
}

}  // namespace

std::string element_name(OrtElement element) {
  for (const ElementRow& row : kElements) {
    if (row.element == element) {
      return row.name;
    }
  }
  return "type " + std::to_string(static_cast<int32_t>(element));
}

std::optional<c10::ScalarType> dtype_of(OrtElement element) {
  for (const ElementRow& row : kElements) {
    if (row.element == element && row.dtype != Dtype::Undefined) {
      return row.dtype;
    }
  }
  return std::nullopt;
}

std::optional<OrtElement> element_of(c10::ScalarType dtype) {
  for (const ElementRow& row : kElements) {
    if (row.dtype == dtype && dtype != Dtype::Undefined) {
      return row.element;
    }
  }
  return std::nullopt;
}

// NOLINTNEXTLINE(misc-no-recursion)
std::string Type::text() const {
  switch (kind) {
    case OrtKind::kTensor:
      return "tensor(" + element_name(element) + ")";
    case OrtKind::kSparseTensor:
      return "sparse_tensor(" + element_name(element) + ")";
    case OrtKind::kSequence:
      return "seq(" + items.at(0).text() + ")";
    case OrtKind::kMap:
      return "map(" + element_name(element) + "," + items.at(0).text() + ")";
    case OrtKind::kOptional:
      return "optional(" + items.at(0).text() + ")";
    default:
      return "opaque";
  }
}

std::string Type::shape_text() const {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string open = i < symbols.size() && !symbols[i].empty() ? symbols[i] : "?";
    text += (i == 0 ? "" : ", ") + (sizes[i] < 0 ? open : std::to_string(sizes[i]));
  }
  return text + "]";
}

void read_tensor_type(const OrtTensorInfo& info, Type& type) {
  int32_t element = 0;
  check(functions().tensor_element(&info, &element));
  type.element = static_cast<OrtElement>(element);
  size_t count = 0;
  check(functions().dimension_count(&info, &count));
  type.sizes.resize(count);
  check(functions().dimensions(&info, type.sizes.data(), count));
  std::vector<const char*> names(count, nullptr);
  check(functions().symbolic_dimensions(&info, names.data(), count));
  for (const char* name : names) {
    type.symbols.emplace_back(name == nullptr ? "" : name);
  }
}

// NOLINTNEXTLINE(misc-no-recursion)
Type read_type(const OrtTypeInfo& info) {
  int32_t kind = 0;
  check(functions().type_kind(&info, &kind));
  Type type;
  type.kind = static_cast<OrtKind>(kind);
  switch (type.kind) {
    case OrtKind::kTensor:
    case OrtKind::kSparseTensor:
      read_tensor(info, type);
      break;
    case OrtKind::kMap:
      read_map(info, type);
      break;
    case OrtKind::kSequence:
      read_sequence(info, type);
      break;
    case OrtKind::kOptional:
      read_optional(info, type);
      break;
    default:
      break;
  }
  return type;
}

}  // namespace simple_torch::core::onnxruntime
