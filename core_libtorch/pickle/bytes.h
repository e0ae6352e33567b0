// The bytes of a pickle, taken from front to back.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace simple_torch::core::pickle {

/// Throw Error(kIo): what a file holds that is not read, and what is wrong with its pickle.
[[noreturn]] void fail(const std::string& why);
[[noreturn]] void fail_broken(const std::string& what);

/// Latin-1 as UTF-8, and the way back: none for text with other characters than those.
std::string text_of_latin1(std::string_view bytes);
std::optional<std::string> latin1_of_text(std::string_view text);

/// Throws Error(kIo) where the bytes end too early.
class Bytes {
 public:
  explicit Bytes(std::string_view all) : rest_(all) {}

  std::string_view take(uint64_t count);
  /// Up to the end of a line, which is passed over.
  std::string_view line();
  /// Throws Error(kIo) for what is no UTF-8.
  std::string_view text(uint64_t count);
  /// An integer in two's complement, little-endian, in that many bytes. Throws Error(kIo) beyond 64 bits.
  int64_t long_number(size_t count);

  /// As it lies in memory.
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
