#include "host/builtins/byte_text_externs.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "host/builtins/builtins.h"
#include "host/values/error.h"

namespace spl {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kHexadecimal = "0123456789abcdef";

uint8_t byte_of(char c) { return static_cast<uint8_t>(c); }

Value base64_encode(Thread&, Value* args, int) {
  const std::string& content = expect_text(args[0], "base64: the content");
  std::string out;
  out.reserve((content.size() + 2) / 3 * 4);
  for (size_t at = 0; at < content.size(); at += 3) {
    const size_t count = std::min<size_t>(content.size() - at, 3);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      bits = bits << 8U | (i < count ? byte_of(content[at + i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) {
      out += i <= count ? kBase64[bits >> (18U - 6U * i) & 63U] : '=';
    }
  }
  return make_text(std::move(out));
}

const std::array<int8_t, 256>& base64_values() {
  static const std::array<int8_t, 256> values = [] {
    std::array<int8_t, 256> made{};
    made.fill(-1);
    for (size_t i = 0; i < kBase64.size(); ++i) {
      made[byte_of(kBase64[i])] = static_cast<int8_t>(i);
    }
    return made;
  }();
  return values;
}

/// Decodes as CPython's binascii.a2b_base64().
class Base64Decoder {
 public:
  Base64Decoder(const std::string& content, bool is_strict) : content_(content), is_strict_(is_strict) {}

  std::string decode() {
    for (at_ = 0; at_ < content_.size() && !is_complete_; ++at_) {
      take(content_[at_]);
    }
    if (count_ == 1) {
      fail("base64: Invalid base64-encoded string: number of data characters (" +
           std::to_string(characters()) + ") cannot be 1 more than a multiple of 4");
    }
    if (count_ != 0 && !is_complete_) {
      fail("base64: Incorrect padding");
    }
    return std::move(out_);
  }

 private:
  size_t characters() const { return out_.size() / 3 * 4 + 1; }

  void take(char c) {
    if (c == '=') {
      return take_padding();
    }
    const int8_t value = base64_values()[byte_of(c)];
    if (value < 0) {
      if (is_strict_) {
        fail("base64: Only base64 data is allowed");
      }
      return;
    }
    if (is_strict_ && padding_ > 0) {
      fail("base64: Discontinuous padding not allowed");
    }
    padding_ = 0;
    bits_ = bits_ << 6U | static_cast<uint32_t>(value);
    count_ = (count_ + 1) % 4;
    if (count_ != 1) {
      const unsigned rest = count_ == 2 ? 4 : count_ == 3 ? 2 : 0;
      out_ += static_cast<char>(bits_ >> rest & 0xffU);
    }
  }

  void take_padding() {
    ++padding_;
    if (count_ >= 2 && count_ + padding_ >= 4) {
      is_complete_ = true;
      if (is_strict_ && at_ + 1 < content_.size()) {
        fail("base64: Excess data after padding");
      }
    } else if (is_strict_ && at_ == 0) {
      fail("base64: Leading padding not allowed");
    } else if (is_strict_ && count_ < 2) {
      fail("base64: Excess padding not allowed");
    }
  }

  const std::string& content_;
  bool is_strict_;
  size_t at_ = 0;
  unsigned count_ = 0, padding_ = 0;  // characters of the current four
  uint32_t bits_ = 0;
  bool is_complete_ = false;
  std::string out_;
};

// (content, is_strict)
Value base64_decode(Thread&, Value* args, int) {
  return make_text(Base64Decoder(expect_text(args[0], "base64: the content"), truthy(args[1])).decode());
}

Value hex_encode(Thread&, Value* args, int) {
  std::string out;
  for (const char c : expect_text(args[0], "hex: the content")) {
    out += kHexadecimal[byte_of(c) >> 4U];
    out += kHexadecimal[byte_of(c) & 15U];
  }
  return make_text(std::move(out));
}

int hex_digit(char c) {
  const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
  const size_t at = kHexadecimal.find(lower);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

Value hex_decode(Thread&, Value* args, int) {
  const std::string& content = expect_text(args[0], "hex: the content");
  if (content.size() % 2 != 0) {
    fail("hex: Odd-length string, got " + std::to_string(content.size()) + " digits");
  }
  std::string out;
  for (size_t at = 0; at < content.size(); at += 2) {
    const int high = hex_digit(content[at]), low = hex_digit(content[at + 1]);
    if (high < 0 || low < 0) {
      fail("hex: Non-hexadecimal digit found at position " + std::to_string(high < 0 ? at : at + 1));
    }
    out += static_cast<char>(high * 16 + low);
  }
  return make_text(std::move(out));
}

// (content, characters that stay): letters, digits and _.-~ stay, too.
Value percent_encode(Thread&, Value* args, int) {
  const std::string& safe = expect_text(args[1], "quote: the safe characters");
  std::string out;
  for (const char c : expect_text(args[0], "quote: the content")) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("_.-~").find(c) != std::string_view::npos ||
                          (byte_of(c) < 0x80 && safe.find(c) != std::string::npos);
    if (is_plain) {
      out += c;
    } else {
      out += '%';
      out += "0123456789ABCDEF"[byte_of(c) >> 4U];
      out += "0123456789ABCDEF"[byte_of(c) & 15U];
    }
  }
  return make_text(std::move(out));
}

// The number of bytes at the start that begin a character of UTF-8, and whether they are a whole one. As in
// Python, the bytes of a character that is cut short are replaced together.
std::pair<size_t, bool> utf8_prefix(std::string_view bytes) {
  const uint8_t lead = byte_of(bytes[0]);
  if (lead < 0x80) {
    return {1, true};
  }
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) {
    return {1, false};
  }
  for (size_t at = 1; at < size; ++at) {
    const uint8_t low = at > 1 ? 0x80 : lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const uint8_t high = at > 1 ? 0xbf : lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (at >= bytes.size() || byte_of(bytes[at]) < low || byte_of(bytes[at]) > high) {
      return {at, false};
    }
  }
  return {size, true};
}

std::string with_replacements(const std::string& bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size();) {
    const auto [size, is_whole] = utf8_prefix(std::string_view(bytes).substr(at));
    out += is_whole ? bytes.substr(at, size) : "\xef\xbf\xbd";
    at += size;
  }
  return out;
}

// Bytes that are no UTF-8 become U+FFFD.
Value percent_decode(Thread&, Value* args, int) {
  const std::string& content = expect_text(args[0], "unquote: the content");
  std::string out;
  for (size_t at = 0; at < content.size(); ++at) {
    const bool has_digits = content[at] == '%' && at + 2 < content.size() &&
                            hex_digit(content[at + 1]) >= 0 && hex_digit(content[at + 2]) >= 0;
    if (has_digits) {
      out += static_cast<char>(hex_digit(content[at + 1]) * 16 + hex_digit(content[at + 2]));
      at += 2;
    } else {
      out += content[at];
    }
  }
  return make_text(with_replacements(out));
}

// Bytes for secrets, from the system.
Value random_bytes(Thread&, Value* args, int) {
  const int64_t count = to_integer(args[0]);
  if (count < 0 || count > 256) {
    fail("random bytes: the count must be from 0 to 256, got " + std::to_string(count));
  }
  std::string bytes(static_cast<size_t>(count), '\0');
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    fail(std::string("random bytes: ") + std::strerror(errno));
  }
  return make_text(std::move(bytes));
}

// An array of bytes as text.
Value text_of_bytes(Thread&, Value* args, int) {
  if (!args[0].is(Kind::kArray)) {
    fail("from_bytes: expected an array of integers, got " + type_name(args[0]));
  }
  std::string out;
  for (const Value item : as_object<Array>(args[0])->items) {
    const int64_t byte = to_integer(item);
    if (byte < 0 || byte > 255) {
      fail("from_bytes: bytes must be in range(0, 256), got " + display(item));
    }
    out += static_cast<char>(byte);
  }
  return make_text(std::move(out));
}

// (numbers, widths in bytes): the numbers, the lowest byte first.
Value pack_numbers(Thread&, Value* args, int) {
  const auto& numbers = as_object<Array>(args[0])->items;
  const auto& widths = as_object<Array>(args[1])->items;
  std::string out;
  for (size_t i = 0; i < numbers.size() && i < widths.size(); ++i) {
    auto number = static_cast<uint64_t>(to_integer(numbers[i]));
    for (int64_t left = to_integer(widths[i]); left > 0; --left) {
      out += static_cast<char>(number & 0xffU);
      number >>= 8U;
    }
  }
  return make_text(std::move(out));
}

// (content, first byte, widths): the numbers; empty if the content is too short.
Value unpack_numbers(Thread&, Value* args, int) {
  const std::string& content = expect_text(args[0], "unpack: the content");
  const int64_t begin = to_integer(args[1]);
  std::vector<Value> numbers;
  auto at = static_cast<size_t>(std::max<int64_t>(begin, 0));
  for (const Value width : as_object<Array>(args[2])->items) {
    const auto count = static_cast<size_t>(to_integer(width));
    if (begin < 0 || at > content.size() || content.size() - at < count) {
      return make_array({});
    }
    uint64_t number = 0;
    for (size_t i = count; i > 0; --i) {
      number = number << 8U | static_cast<unsigned char>(content[at + i - 1]);
    }
    at += count;
    numbers.push_back(Value::integer(static_cast<int64_t>(number)));
  }
  return make_array(std::move(numbers));
}

// (content, first byte, end): a part, by bytes.
Value byte_slice(Thread&, Value* args, int) {
  const std::string& content = expect_text(args[0], "slice: the content");
  const auto size = static_cast<int64_t>(content.size());
  const int64_t begin = std::clamp<int64_t>(to_integer(args[1]), 0, size);
  const int64_t end = std::clamp<int64_t>(to_integer(args[2]), begin, size);
  return make_text(content.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
}
Value byte_length(Thread&, Value* args, int) {
  return Value::integer(static_cast<int64_t>(expect_text(args[0], "the content").size()));
}
// (content, part): the last byte position of a part; -1 if it has none.
Value byte_rfind(Thread&, Value* args, int) {
  const size_t at = expect_text(args[0], "the content").rfind(expect_text(args[1], "the part"));
  return Value::integer(at == std::string::npos ? -1 : static_cast<int64_t>(at));
}

constexpr NativeEntry kByteTextExterns[] = {
    {"rt_base64_encode", base64_encode, 1, 1},   {"rt_base64_decode", base64_decode, 2, 2},
    {"rt_hex_encode", hex_encode, 1, 1},         {"rt_hex_decode", hex_decode, 1, 1},
    {"rt_percent_encode", percent_encode, 2, 2}, {"rt_percent_decode", percent_decode, 1, 1},
    {"rt_random_bytes", random_bytes, 1, 1},     {"rt_text_of_bytes", text_of_bytes, 1, 1},
    {"rt_pack_numbers", pack_numbers, 2, 2},     {"rt_unpack_numbers", unpack_numbers, 3, 3},
    {"rt_byte_slice", byte_slice, 3, 3},         {"rt_byte_length", byte_length, 1, 1},
    {"rt_byte_rfind", byte_rfind, 2, 2},
};

}  // namespace

std::span<const NativeEntry> byte_text_externs() { return kByteTextExterns; }

}  // namespace spl
