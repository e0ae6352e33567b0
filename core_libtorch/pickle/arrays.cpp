#include "core_libtorch/pickle/arrays.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>

#include "core_libtorch/pickle/bytes.h"
#include "core_libtorch/pickle/parts.h"

namespace simple_torch::core::pickle {
namespace {

struct ElementType {
  std::string_view name;
  at::ScalarType dtype;
};

constexpr std::array kTypes{ElementType{"b1", at::kBool},         ElementType{"i1", at::kChar},
                            ElementType{"i2", at::kShort},        ElementType{"i4", at::kInt},
                            ElementType{"i8", at::kLong},         ElementType{"u1", at::kByte},
                            ElementType{"u2", at::kUInt16},       ElementType{"u4", at::kUInt32},
                            ElementType{"u8", at::kUInt64},       ElementType{"f2", at::kHalf},
                            ElementType{"f4", at::kFloat},        ElementType{"f8", at::kDouble},
                            ElementType{"c8", at::kComplexFloat}, ElementType{"c16", at::kComplexDouble}};

bool is_any_text(const Value& value) {
  return value.kind == Kind::kText || value.kind == Kind::kOldText || value.kind == Kind::kBytes;
}

const std::string& any_text_of(const Value& value, size_t index, const char* what) {
  if (index >= value.items.size() || !is_any_text(*value.items[index])) {
    fail_broken(std::string("expected ") + what);
  }
  return value.items[index]->text;
}

at::ScalarType dtype_of(const Value& type) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const ElementType& each) { return each.name == type.text; });
  if (found == kTypes.end()) {
    fail("it contains a NumPy array of dtype '" + type.text +
         "'; only arrays of numbers and bools are supported, because other elements can run any code");
  }
  return found->dtype;
}

/// The number of elements. Throws unless they have exactly `bytes` bytes.
int64_t count_of(const std::vector<int64_t>& sizes, size_t item_bytes, size_t bytes) {
  int64_t count = 1;
  bool fits = true;
  for (const int64_t size : sizes) {
    fits = fits && size >= 0 && !__builtin_mul_overflow(count, size, &count);
  }
  int64_t needed = 0;
  fits = fits && !__builtin_mul_overflow(count, static_cast<int64_t>(item_bytes), &needed);
  if (!fits || static_cast<uint64_t>(needed) != bytes) {
    fail_broken("an array's shape does not match its " + std::to_string(bytes) + " bytes");
  }
  return count;
}

void turn_bytes(char* bytes, size_t count, size_t item_bytes) {
  for (size_t i = 0; i < count; ++i) {
    std::reverse(bytes + i * item_bytes, bytes + (i + 1) * item_bytes);
  }
}

at::Tensor tensor_of(const Value& type, std::vector<int64_t> sizes, bool is_fortran,
                     const std::string& bytes) {
  const at::ScalarType dtype = dtype_of(type);
  const size_t item_bytes = c10::elementSize(dtype);
  const int64_t count = count_of(sizes, item_bytes, bytes.size());
  if (is_fortran) {
    std::reverse(sizes.begin(), sizes.end());
  }
  at::Tensor made = at::empty(sizes, at::TensorOptions().dtype(dtype));
  auto* const into = static_cast<char*>(made.mutable_data_ptr());
  std::copy(bytes.begin(), bytes.end(), into);
  if (type.number != 0) {
    const size_t parts = at::isComplexType(dtype) ? 2 : 1;
    turn_bytes(into, static_cast<size_t>(count) * parts, item_bytes / parts);
  }
  if (is_fortran) {
    std::vector<int64_t> order(sizes.size());
    std::iota(order.rbegin(), order.rend(), 0);
    made = made.permute(order);
  }
  return made;
}

const Value& bytes_at(const Value& value, size_t index) {
  any_text_of(value, index, "bytes");
  return *value.items[index];
}

}  // namespace

ValuePtr array_type_of(const Value& arguments) {
  ValuePtr made = make_value(Kind::kArrayType);
  made->text = any_text_of(arguments, 0, "dtype name");
  return made;
}

ValuePtr empty_array_of(const Value& arguments) {
  const Value& type = part_of(arguments, 0, Kind::kGlobal, "array class");
  if (type.text != "numpy ndarray") {
    fail("it contains an array of class " + type.text.substr(type.text.find(' ') + 1) +
         "; only numpy.ndarray is supported");
  }
  return make_value(Kind::kArray);
}

ValuePtr array_from_buffer(const Value& arguments) {
  const std::string& order = any_text_of(arguments, 3, "order");
  ValuePtr made = make_value(Kind::kTensor);
  made->tensor = tensor_of(part_of(arguments, 1, Kind::kArrayType, "dtype"),
                           integers_of(part_of(arguments, 2, Kind::kTuple, "shape"), "size"), order == "F",
                           bytes_at(arguments, 0).text);
  return made;
}

ValuePtr array_scalar_of(const Value& arguments) {
  const at::Scalar number =
      tensor_of(part_of(arguments, 0, Kind::kArrayType, "dtype"), {}, false, bytes_at(arguments, 1).text)
          .item();
  ValuePtr made = make_value(Kind::kFloat);
  if (number.isBoolean() || number.isIntegral(false)) {
    made->kind = number.isBoolean() ? Kind::kBool : Kind::kInt;
    made->number = number.to<int64_t>();
  } else if (number.isComplex()) {
    made->kind = Kind::kComplex;
    made->real = number.toComplexDouble().real();
    made->imaginary = number.toComplexDouble().imag();
  } else {
    made->real = number.toDouble();
  }
  return made;
}

void take_array_type_state(Value& type, const Value& state) {
  const std::string& order = any_text_of(state, 1, "byte order");
  for (size_t i = 2; i < 5; ++i) {
    part_of(state, i, Kind::kNone, "plain dtype");
  }
  type.number = order == ">" ? 1 : 0;
}

void take_array_state(Value& array, const Value& state) {
  const bool is_fortran = part_of(state, 3, Kind::kBool, "flag").number != 0;
  const Value& type = part_of(state, 2, Kind::kArrayType, "dtype");
  dtype_of(type);  // an array of objects has a list in place of bytes; this raises the error about its dtype
  array.tensor = tensor_of(type, integers_of(part_of(state, 1, Kind::kTuple, "shape"), "size"), is_fortran,
                           bytes_at(state, 4).text);
  array.kind = Kind::kTensor;
}

}  // namespace simple_torch::core::pickle
