// Reads the wire format of protobuf from memory. Format: https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <string_view>

namespace simple_torch::core::onnx {

enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// One field of a message: its number, and a number or bytes.
struct Field {
  uint32_t number = 0;
  Wire wire = Wire::kVarint;
  uint64_t value = 0;      // of the wires with numbers
  std::string_view bytes;  // of kBytes: a string, a message or packed numbers
};

/// Iterates over the fields of a message. Throws Error(kIo) for malformed bytes.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  /// False at the end.
  bool next(Field& field);

 private:
  std::string_view rest_;
};

/// Removes one number from the beginning of `bytes`. Throws Error(kIo) where they end too early.
uint64_t take_number(std::string_view& bytes, Wire wire);

}  // namespace simple_torch::core::onnx
