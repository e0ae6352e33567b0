#include "host/builtins/unicode_externs.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "host/builtins/builtins.h"
#include "host/tokenizers/characters.h"
#include "host/values/error.h"

namespace spl {
namespace {

struct CategoryFrom {
  char32_t first;
  char name[3];
};
struct ClassFrom {
  char32_t first;
  uint8_t order;
};

#include "host/builtins/character_categories.inc"

/// The entry of the range that contains the character.
template <class Entry, size_t kCount>
const Entry& entry_of(const Entry (&table)[kCount], char32_t character) {
  const auto after = std::upper_bound(std::begin(table), std::end(table), character,
                                      [](char32_t c, const Entry& entry) { return c < entry.first; });
  return *(after - 1);
}

char32_t only_character(Value value, const char* function) {
  const std::string& text = expect_text(value, function);
  size_t at = 0;
  const bool is_valid = !text.empty() && tokenizers::is_valid_utf8(text);
  const char32_t character = is_valid ? tokenizers::next_character(text, at) : 0;
  if (!is_valid || at != text.size()) {
    fail_arguments(std::string(function) + "() argument must be a single character, got " + display(value));
  }
  return character;
}

Value category(Thread&, Value* args, int) {
  return make_text(entry_of(kCategories, only_character(args[0], "category")).name);
}

Value combining(Thread&, Value* args, int) {
  return Value::integer(entry_of(kCombiningClasses, only_character(args[0], "combining")).order);
}

// The value of a decimal digit; -1 for other characters.
Value decimal(Thread&, Value* args, int) {
  const char32_t character = only_character(args[0], "decimal");
  const auto after = std::upper_bound(std::begin(kDigitZeros), std::end(kDigitZeros), character);
  const bool is_digit = after != std::begin(kDigitZeros) && character - *(after - 1) < 10;
  return Value::integer(is_digit ? static_cast<int64_t>(character - *(after - 1)) : -1);
}

void append_utf8(std::string& out, char32_t c) {
  const auto byte = [&](char32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0U | c >> 6U);
    byte(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    byte(0xE0U | c >> 12U);
    byte(0x80U | (c >> 6U & 0x3FU));
    byte(0x80U | (c & 0x3FU));
  } else {
    byte(0xF0U | c >> 18U);
    byte(0x80U | (c >> 12U & 0x3FU));
    byte(0x80U | (c >> 6U & 0x3FU));
    byte(0x80U | (c & 0x3FU));
  }
}

Value normalize(Thread&, Value* args, int) {
  using tokenizers::NormalForm;
  const std::string& name = expect_text(args[0], "normalize(): the form");
  const std::string& text = expect_text(args[1], "normalize(): the string");
  static constexpr std::pair<const char*, NormalForm> kForms[] = {{"NFC", NormalForm::kNfc},
                                                                  {"NFD", NormalForm::kNfd},
                                                                  {"NFKC", NormalForm::kNfkc},
                                                                  {"NFKD", NormalForm::kNfkd}};
  const auto form = std::find_if(std::begin(kForms), std::end(kForms),
                                 [&](const auto& each) { return each.first == name; });
  if (form == std::end(kForms)) {
    fail_value("normalize(): invalid normalization form " + representation(args[0]));
  }
  if (!tokenizers::is_valid_utf8(text)) {
    fail_value("normalize(): the string is no valid UTF-8");
  }
  std::u32string characters;
  for (size_t at = 0; at < text.size();) {
    characters += tokenizers::next_character(text, at);
  }
  std::string out;
  for (const tokenizers::Change& change : tokenizers::normalized(characters, form->second)) {
    append_utf8(out, change.code);
  }
  return make_text(std::move(out));
}

Value unicode_version(Thread&, Value*, int) { return make_text(kUnicodeVersion); }

constexpr NativeEntry kUnicodeExterns[] = {
    {"rt_character_category", category, 1, 1},     {"rt_combining_class", combining, 1, 1},
    {"rt_decimal_digit", decimal, 1, 1},           {"rt_normalize_text", normalize, 2, 2},
    {"rt_unicode_version", unicode_version, 0, 0},
};

}  // namespace

std::span<const NativeEntry> unicode_externs() { return kUnicodeExterns; }

}  // namespace spl
