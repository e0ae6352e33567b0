#include "core_libtorch/pickle/bytes.h"

#include <array>
#include <bit>

#include "core_libtorch/error.h"

namespace simple_torch::core::pickle {
namespace {

/// The length of the first character; 0 for invalid UTF-8 (RFC 3629).
size_t bytes_of_character(std::string_view text) {
  const int ones = std::countl_one(static_cast<unsigned char>(text[0]));
  const size_t count = ones == 0 ? 1 : static_cast<size_t>(ones);
  if (ones == 1 || ones > 4 || text.size() < count) {
    return 0;
  }
  uint32_t code = static_cast<unsigned char>(text[0]) & (0x7fU >> static_cast<unsigned>(ones));
  for (const char byte : text.substr(1, count - 1)) {
    if (std::countl_one(static_cast<unsigned char>(byte)) != 1) {
      return 0;
    }
    code = code << 6U | (static_cast<unsigned char>(byte) & 0x3fU);
  }
  constexpr std::array<uint32_t, 5> kMinCode{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  return code >= kMinCode[count] && code <= 0x10ffff && !is_surrogate ? count : 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t count = bytes_of_character(text);
    if (count == 0) {
      return false;
    }
    text.remove_prefix(count);
  }
  return true;
}

}  // namespace

void fail(const std::string& why) { throw Error(ErrorKind::kIo, is_utf8(why) ? why : text_of_latin1(why)); }

void fail_broken(const std::string& what) { fail("the pickle is corrupt: " + what); }

std::string_view Bytes::take(uint64_t count) {
  if (rest_.size() < count) {
    fail_broken("it is truncated");
  }
  const std::string_view bytes = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return bytes;
}

void Bytes::skip_frame() {
  if (rest_.starts_with('\x95')) {
    take(1 + sizeof(uint64_t));
  }
}

std::string_view Bytes::line() {
  const size_t end = rest_.find('\n');
  if (end == std::string_view::npos) {
    fail_broken("it is truncated");
  }
  const std::string_view bytes = take(end);
  take(1);
  return bytes;
}

std::string_view Bytes::text(uint64_t count) {
  const std::string_view bytes = take(count);
  if (!is_utf8(bytes)) {
    fail_broken("a string is not UTF-8");
  }
  return bytes;
}

int64_t Bytes::long_number(size_t count) {
  std::string_view digits = take(count);
  const char sign = count > 0 && (digits.back() & '\x80') != 0 ? '\xff' : '\0';
  while (digits.size() > 8 && digits.back() == sign) {
    digits.remove_suffix(1);
  }
  uint64_t value = sign != 0 ? ~uint64_t{0} : 0;
  for (size_t i = 0; i < digits.size() && i < 8; ++i) {
    value &= ~(uint64_t{0xff} << (8 * i));
    value |= static_cast<uint64_t>(static_cast<unsigned char>(digits[i])) << (8 * i);
  }
  const bool fits =
      digits.size() < 8 || (digits.size() == 8 && (static_cast<int64_t>(value) < 0) == (sign != 0));
  if (!fits) {
    fail(
        "it contains an integer of more than 64 bits, which is not supported; save it as a string or a "
        "float");
  }
  return static_cast<int64_t>(value);
}

std::string text_of_latin1(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (code >= 0x80) {
      text += static_cast<char>(0xc0U | (code >> 6U));
    }
    text += static_cast<char>(code < 0x80 ? code : 0x80U | (code & 0x3fU));
  }
  return text;
}

std::optional<std::string> latin1_of_text(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto code = static_cast<unsigned char>(text[i]);
    if (code < 0x80) {
      bytes += text[i];
    } else if ((code == 0xc2 || code == 0xc3) && i + 1 < text.size()) {
      bytes += static_cast<char>((code & 3U) << 6U | (static_cast<unsigned char>(text[++i]) & 0x3fU));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace simple_torch::core::pickle
