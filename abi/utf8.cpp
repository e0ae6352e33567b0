#include "abi/utf8.h"

#include <cstdint>

namespace simple_torch::abi {
namespace {

/// The length that the first byte announces; 0 if no sequence starts with it.
size_t announced_length(unsigned char first) noexcept {
  if (first < 0x80) {
    return 1;
  }
  return first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

/// The length of the valid sequence at the start of `text`, which is not empty; 0 if it is invalid.
size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = announced_length(byte(0));
  if (length > text.size()) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) {
      return 0;
    }
  }
  // Longer forms than necessary, surrogates, and code points above U+10FFFF.
  const bool is_excluded = (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xED && byte(1) >= 0xA0) ||
                           (byte(0) == 0xF0 && byte(1) < 0x90) || (byte(0) == 0xF4 && byte(1) >= 0x90);
  return length > 1 && is_excluded ? 0 : length;
}

void append_escaped(std::string& out, unsigned char byte) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
}

}  // namespace

size_t valid_utf8_prefix(std::string_view text) noexcept {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = sequence_length(text.substr(at));
    if (length == 0) {
      break;
    }
    at += length;
  }
  return at;
}

void assign_utf8(std::string& out, std::string_view text) {
  out.clear();
  while (!text.empty()) {
    const size_t valid = valid_utf8_prefix(text);
    out.append(text.substr(0, valid));
    text.remove_prefix(valid);
    if (!text.empty()) {
      append_escaped(out, static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
    }
  }
}

}  // namespace simple_torch::abi
