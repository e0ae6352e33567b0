#include "host/builtins/regex.h"

#include <algorithm>
#include <limits>

#include "host/builtins/builtins.h"
#include "host/syntax/utf8.h"
#include "host/values/error.h"

namespace spl {
namespace {

std::string message_of(int code) {
  unsigned char text[256] = {};
  pcre2().get_error_message(code, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

bool has_ascii_only(std::string_view text) {
  unsigned char all = 0;
  for (const char c : text) {
    all |= static_cast<unsigned char>(c);
  }
  return all < 0x80;
}

void check_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t step = utf8_step(text, at);
    if (step == 1 && static_cast<unsigned char>(text[at]) >= 0x80) {
      fail("regex: the text is not valid UTF-8 at byte " + std::to_string(at));
    }
    at += step;
  }
}

}  // namespace

RegexSubject::RegexSubject(Value text, int64_t pos, int64_t endpos)
    : content_(expect_text(text, "regex: the text")), is_ascii_(has_ascii_only(content_)) {
  const auto* object = as_object<Text>(text);
  const auto length = static_cast<int64_t>(object->length());
  const auto byte_at = [&](int64_t position) {
    return position >= length ? content_.size()
                              : object->byte_of(static_cast<size_t>(std::max<int64_t>(position, 0)));
  };
  if (!is_ascii_) {
    check_utf8(content_);
  }
  begin_ = byte_at(pos);
  end_ = byte_at(endpos);
  known_byte_ = begin_;
  known_character_ = std::clamp<int64_t>(pos, 0, length);
}

Value RegexSubject::part(size_t from, size_t to) const {
  return make_text(std::string(content_.substr(from, to - from)));
}

int64_t RegexSubject::character_at(size_t byte) {
  if (is_ascii_) {
    return static_cast<int64_t>(byte);
  }
  if (byte < known_byte_ / 2) {
    known_byte_ = 0;
    known_character_ = 0;
  }
  const size_t low = std::min(byte, known_byte_), high = std::max(byte, known_byte_);
  const auto count = static_cast<int64_t>(utf8_length(content_.substr(low, high - low)));
  known_character_ += byte >= known_byte_ ? count : -count;
  known_byte_ = byte;
  return known_character_;
}

Regex::Regex(const std::string& pattern, uint32_t flags) : syntax_(translate_regex(pattern, flags)) {
  code_for(true, RegexMode::kSearch);  // reports what PCRE2 cannot do
}

Regex::Code& Regex::code_for(bool is_ascii, RegexMode mode) {
  Code& code = codes_[is_ascii ? 1 : 0][static_cast<size_t>(mode)];
  if (!code.code) {
    code = compiled(is_ascii, mode);
  }
  return code;
}

Regex::Code Regex::compiled(bool is_ascii, RegexMode mode) const {
  const Pcre2Library& library = pcre2();
  uint32_t options = PCRE2_ALT_CIRCUMFLEX | PCRE2_DOTALL;
  options |= is_ascii && syntax_.is_ascii ? 0 : PCRE2_UTF;
  options |= mode == RegexMode::kSearch ? 0 : PCRE2_ANCHORED;
  options |= mode == RegexMode::kFullMatch ? PCRE2_ENDANCHORED : 0;
  const std::string& pattern = is_ascii ? syntax_.ascii_pattern : syntax_.pattern;
  int error = 0;
  size_t offset = 0;
  Code made;
  made.code.reset(library.compile(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(), options,
                                  &error, &offset, library.compile_context));
  if (!made.code) {
    fail("regex.compile: PCRE2 does not support the pattern: " + message_of(error));
  }
  library.jit_compile(made.code.get(), PCRE2_JIT_COMPLETE);  // without it, matching is slower
  made.data.reset(library.match_data_create(made.code.get(), nullptr));
  return made;
}

const size_t* Regex::find(const RegexSubject& subject, size_t from, RegexMode mode, bool rejects_empty) {
  if (from > subject.end()) {
    return nullptr;
  }
  const Pcre2Library& library = pcre2();
  const Code& code = code_for(subject.is_ascii(), mode);
  const uint32_t options = PCRE2_NO_UTF_CHECK | (rejects_empty ? PCRE2_NOTEMPTY_ATSTART : 0);
  const auto run = [&](uint32_t more) {
    return library.match(code.code.get(), reinterpret_cast<PCRE2_SPTR8>(subject.content().data()),
                         subject.end(), from, options | more, code.data.get(), library.match_context);
  };
  int found = run(0);
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
    found = run(PCRE2_NO_JIT);
  }
  if (found == PCRE2_ERROR_NOMATCH) {
    return nullptr;
  }
  if (found < 0) {
    fail("regex: the pattern needs too many steps or too much memory on this text: " + message_of(found),
         "nested repetitions such as (a+)+ try every division; (?>...) and a++ do not");
  }
  return library.get_ovector(code.data.get());
}

const size_t* RegexMatches::next() {
  const size_t* const spans = regex_.find(subject_, at_, RegexMode::kSearch, rejects_empty_);
  if (spans == nullptr) {
    return nullptr;
  }
  rejects_empty_ = spans[0] == spans[1];
  at_ = spans[1];
  return spans;
}

}  // namespace spl
