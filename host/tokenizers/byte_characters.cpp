#include "host/tokenizers/byte_characters.h"

#include <array>

#include "host/syntax/utf8.h"

namespace spl::tokenizers {
namespace {

constexpr char32_t kFirstOther = 0x100;

// Printing characters of Latin-1 stand for themselves; the other bytes are the characters from U+0100 on.
struct Table {
  std::array<char32_t, 256> characters{};
  std::array<int, 0x144> bytes{};
  std::array<std::string, 256> utf8;
  Table() {
    bytes.fill(-1);
    char32_t other = kFirstOther;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool prints = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
      characters.at(byte) = prints ? char32_t{byte} : other++;
      bytes.at(characters.at(byte)) = static_cast<int>(byte);
      append_utf8(utf8.at(byte), characters.at(byte));
    }
  }
};

const Table& table() {
  static const auto* const made = new Table;  // never freed: threads that outlive main use it
  return *made;
}

}  // namespace

char32_t character_of_byte(unsigned char byte) { return table().characters.at(byte); }

int byte_of_character(char32_t character) {
  return character < table().bytes.size() ? table().bytes.at(character) : -1;
}

std::string characters_of_bytes(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char byte : bytes) {
    out += table().utf8.at(static_cast<unsigned char>(byte));
  }
  return out;
}

}  // namespace spl::tokenizers
