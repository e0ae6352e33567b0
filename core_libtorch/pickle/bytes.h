// Reads the bytes of a pickle from front to back.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace simple_torch::core::pickle {

/// Throw Error(kIo): for unsupported contents, and for a corrupt pickle.
[[noreturn]] void fail(const std::string& why);
[[noreturn]] void fail_broken(const std::string& what);

/// Converts Latin-1 to UTF-8 and back; nothing for a string with other characters.
std::string text_of_latin1(std::string_view bytes);
std::optional<std::string> latin1_of_text(std::string_view text);

/// Throws Error(kIo) if there are not enough bytes.
class Bytes {
 public:
  explicit Bytes(std::string_view all) : rest_(all) {}

  size_t left() const { return rest_.size(); }
  std::string_view take(uint64_t count);
  /// Skips a frame's opcode and length, which protocol 4 writes before long pickles.
  void skip_frame();
  /// The bytes before the next newline; skips the newline.
  std::string_view line();
  /// Throws Error(kIo) for invalid UTF-8.
  std::string_view text(uint64_t count);
  /// A little-endian two's-complement integer of `count` bytes. Throws Error(kIo) beyond 64 bits.
  int64_t long_number(size_t count);

  /// A value in the machine's byte order.
  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

 private:
  std::string_view rest_;
};

}  // namespace simple_torch::core::pickle
