#include "host/builtins/unicode_externs.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "host/builtins/builtins.h"
#include "host/syntax/utf8.h"
#include "host/tokenizers/characters.h"
#include "host/values/error.h"

namespace spl {
namespace {

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
  return make_text(
      utf8proc_category_string(static_cast<utf8proc_int32_t>(only_character(args[0], "category"))));
}

Value combining(Thread&, Value* args, int) {
  const auto character = static_cast<utf8proc_int32_t>(only_character(args[0], "combining"));
  return Value::integer(utf8proc_get_property(character)->combining_class);
}

bool is_decimal_digit(char32_t character) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(character)) == UTF8PROC_CATEGORY_ND;
}

// The value of a decimal digit; -1 for other characters. The digits of each script are ten characters in
// order.
Value decimal(Thread&, Value* args, int) {
  const char32_t character = only_character(args[0], "decimal");
  if (!is_decimal_digit(character)) {
    return Value::integer(-1);
  }
  char32_t first = character;
  while (is_decimal_digit(first - 1)) {
    --first;
  }
  return Value::integer(static_cast<int64_t>((character - first) % 10));
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

Value unicode_version(Thread&, Value*, int) { return make_text(utf8proc_unicode_version()); }

constexpr NativeEntry kUnicodeExterns[] = {
    {"rt_character_category", category, 1, 1},     {"rt_combining_class", combining, 1, 1},
    {"rt_decimal_digit", decimal, 1, 1},           {"rt_normalize_text", normalize, 2, 2},
    {"rt_unicode_version", unicode_version, 0, 0},
};

}  // namespace

std::span<const NativeEntry> unicode_externs() { return kUnicodeExterns; }

}  // namespace spl
