#include "core_libtorch/onnx/protobuf.h"

#include <cstring>

#include "core_libtorch/error.h"

namespace simple_torch::core::onnx {
namespace {

[[noreturn]] void fail_at_end() {
  throw Error(ErrorKind::kIo, "it is truncated or corrupt: a message ends inside a field");
}

uint64_t take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes.empty()) {
      fail_at_end();
    }
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) {
      return value;
    }
  }
  throw Error(ErrorKind::kIo, "it is corrupt: a number has more than 10 bytes");
}

// Little-endian, as the machine.
template <class Number>
uint64_t take_fixed(std::string_view& bytes) {
  if (bytes.size() < sizeof(Number)) {
    fail_at_end();
  }
  Number value{};
  std::memcpy(&value, bytes.data(), sizeof(value));
  bytes.remove_prefix(sizeof(value));
  return value;
}

}  // namespace

uint64_t take_number(std::string_view& bytes, Wire wire) {
  switch (wire) {
    case Wire::kFixed32:
      return take_fixed<uint32_t>(bytes);
    case Wire::kFixed64:
      return take_fixed<uint64_t>(bytes);
    default:
      return take_varint(bytes);
  }
}

bool Fields::next(Field& field) {
  if (rest_.empty()) {
    return false;
  }
  const uint64_t tag = take_varint(rest_);
  field.number = static_cast<uint32_t>(tag >> 3);
  field.wire = static_cast<Wire>(tag & 7);
  switch (field.wire) {
    case Wire::kVarint:
    case Wire::kFixed32:
    case Wire::kFixed64:
      field.value = take_number(rest_, field.wire);
      field.bytes = {};
      return true;
    case Wire::kBytes: {
      const uint64_t size = take_varint(rest_);
      if (size > rest_.size()) {
        fail_at_end();
      }
      field.value = 0;
      field.bytes = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    }
    default:
      throw Error(ErrorKind::kIo, "it is corrupt, or no protobuf file: a field has wire type " +
                                      std::to_string(static_cast<int>(tag & 7)));
  }
}

}  // namespace simple_torch::core::onnx
