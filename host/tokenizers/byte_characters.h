// The characters that stand for bytes in the tokens of byte-level BPE, as GPT-2 has them.
#pragma once

#include <string>
#include <string_view>

namespace spl::tokenizers {

char32_t character_of_byte(unsigned char byte);
/// The byte of a character; -1 if it stands for none.
int byte_of_character(char32_t character);
/// The characters of all bytes.
std::string characters_of_bytes(std::string_view bytes);

}  // namespace spl::tokenizers
