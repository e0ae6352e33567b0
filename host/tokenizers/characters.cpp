// Classes by the generated tables; decompositions by utf8proc.
#include "host/tokenizers/characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <iterator>
#include <memory>
#include <span>

namespace spl::tokenizers {
namespace {

struct CharacterRange {
  char32_t first, last;
};
struct CharacterPair {
  char32_t code, small;
};
struct CategoryRange {
  std::string_view category;
  char32_t first, last;
};

#include "host/tokenizers/character_tables.inc"

/// A set of characters: a bit for each of the basic plane, a search for the others.
class CharacterSet {
 public:
  explicit CharacterSet(std::span<const CharacterRange> ranges) : ranges_(ranges) {
    for (const CharacterRange& range : ranges) {
      for (char32_t c = range.first; c <= range.last && c < kPlane; ++c) {
        basic_.set(c);
      }
    }
  }
  bool contains(char32_t c) const { return c < kPlane ? basic_.test(c) : is_in_ranges(c); }

 private:
  static constexpr char32_t kPlane = 0x10000;
  bool is_in_ranges(char32_t c) const {
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), c,
                         [](char32_t code, const CharacterRange& r) { return code < r.first; });
    return after != ranges_.begin() && c <= std::prev(after)->last;
  }
  std::span<const CharacterRange> ranges_;
  std::bitset<kPlane> basic_;
};

template <const auto& Ranges>
bool is_in(char32_t c) {
  static const auto* const set = new CharacterSet(Ranges);  // never freed: threads that outlive main use it
  return set->contains(c);
}

constexpr CharacterRange kWhiteSpace[] = {
    {0x9, 0xd},       {0x20, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
    {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};

constexpr CharacterRange kChinese[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},
                                       {0x20000, 0x2a6df}, {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f},
                                       {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};

int combining_class(char32_t c) {
  if (c < 0x300 || is_in<kNotReordered>(c)) {
    return 0;
  }
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

bool keeps_form(char32_t c, bool compatible) {
  return c < 0xa0 || (compatible ? is_in<kNotCompatible>(c) : is_in<kNotDecomposed>(c));
}

/// A decomposed text: marks after a starter are sorted by their class.
class Decomposition {
 public:
  explicit Decomposition(bool compatible) : compatible_(compatible) {}
  void add(char32_t c) {
    if (keeps_form(c, compatible_)) {
      push(c, true);
      return;
    }
    std::array<utf8proc_int32_t, 32> parts{};
    int boundary = 0;
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE |
                                                        (compatible_ ? UTF8PROC_COMPAT : UTF8PROC_NULLTERM));
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                static_cast<utf8proc_ssize_t>(parts.size()), options, &boundary);
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      push(static_cast<char32_t>(parts[static_cast<size_t>(i)]), i == 0);
    }
  }
  std::vector<Change> take() {
    sort_marks();
    return std::move(changes_);
  }

 private:
  void push(char32_t c, bool is_first) {
    if (combining_class(c) == 0) {
      sort_marks();
      changes_.push_back({c, is_first ? 0 : 1});
      sorted_ = changes_.size();
    } else {
      changes_.push_back({c, is_first ? 0 : 1});
    }
  }
  void sort_marks() {
    const auto marks = changes_.begin() + static_cast<ptrdiff_t>(sorted_);
    if (changes_.end() - marks > 1) {
      std::stable_sort(marks, changes_.end(), [](const Change& a, const Change& b) {
        return combining_class(a.code) < combining_class(b.code);
      });
    }
    sorted_ = changes_.size();
  }

  bool compatible_;
  std::vector<Change> changes_;
  size_t sorted_ = 0;  // the marks from here on are not sorted yet
};

/// The character that two characters compose; 0 if there is none.
char32_t composed(char32_t first, char32_t second) {
  if (second < 0x300) {
    return 0;
  }
  std::array<utf8proc_int32_t, 2> both = {static_cast<utf8proc_int32_t>(first),
                                          static_cast<utf8proc_int32_t>(second)};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  const bool is_one = utf8proc_normalize_utf32(both.data(), 2, options) == 1;
  const auto whole = static_cast<char32_t>(both[0]);
  return is_one && !is_in<kNotDecomposed>(whole) ? whole : 0;
}

/// Composes a starter with the marks that follow it. A mark is blocked by one of the same or a higher class.
std::vector<Change> recomposed(const std::vector<Change>& parts) {
  std::vector<Change> out;
  size_t starter = SIZE_MAX;  // in `out`
  int last_class = -1;        // of the marks between the starter and the next character; -1 without marks
  for (const Change& part : parts) {
    const int own_class = combining_class(part.code);
    const bool is_blocked = last_class >= 0 && last_class >= own_class;
    if (starter != SIZE_MAX && !is_blocked) {
      if (const char32_t whole = composed(out[starter].code, part.code); whole != 0) {
        out[starter] = {whole, out[starter].change + part.change - 1};
        continue;
      }
    }
    if (own_class == 0) {
      starter = out.size();
      last_class = -1;
    } else if (starter != SIZE_MAX) {
      last_class = own_class;
    }
    out.push_back(part);
  }
  return out;
}

}  // namespace

char32_t next_character(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  const char32_t lead = byte(at);
  if (lead < 0x80) {
    ++at;
    return lead;
  }
  const size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  char32_t code = lead & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) {
    code = code << 6 | (byte(at + i) & 0x3fU);
  }
  at += size;
  return code;
}

size_t utf8_size(char32_t character) {
  return character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
}

bool is_valid_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto size = static_cast<utf8proc_ssize_t>(text.size());
  utf8proc_int32_t code = 0;
  for (utf8proc_ssize_t at = 0; at < size;) {
    if (bytes[at] < 0x80) {
      ++at;
      continue;
    }
    const utf8proc_ssize_t step = utf8proc_iterate(bytes + at, size - at, &code);
    if (step <= 0) {
      return false;
    }
    at += step;
  }
  return true;
}

bool is_ascii(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; });
}

bool is_white_space(char32_t c) { return c < 0x80 ? c == ' ' || (c >= 9 && c <= 13) : is_in<kWhiteSpace>(c); }
bool is_punctuation(char32_t c) { return is_in<kPunctuation>(c); }
bool is_control(char32_t c) { return is_in<kControls>(c); }
bool is_chinese(char32_t c) { return c >= 0x3400 && is_in<kChinese>(c); }
bool is_accent(char32_t c) { return c >= 0x300 && is_in<kAccents>(c); }
bool is_combining_mark(char32_t c) { return c >= 0x300 && is_in<kCombiningMarks>(c); }
bool is_numeral(char32_t c) { return is_in<kNumerals>(c); }
bool is_word_character(char32_t c) { return is_in<kWordCharacters>(c); }

void append_lowercase(char32_t c, std::u32string& out) {
  if (c < 0x80) {
    out.push_back(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return;
  }
  if (c == 0x130) {  // the one letter with two small characters
    out.append({U'i', char32_t{0x307}});
    return;
  }
  const auto* found =
      std::lower_bound(std::begin(kNewSmallLetters), std::end(kNewSmallLetters), c,
                       [](const CharacterPair& pair, char32_t code) { return pair.code < code; });
  if (found != std::end(kNewSmallLetters) && found->code == c) {
    out.push_back(found->small);
  } else {
    out.push_back(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  }
}

std::vector<Change> normalized(const std::u32string& text, NormalForm form) {
  Decomposition parts(form == NormalForm::kNfkc || form == NormalForm::kNfkd);
  for (const char32_t c : text) {
    parts.add(c);
  }
  const bool composes = form == NormalForm::kNfc || form == NormalForm::kNfkc;
  return composes ? recomposed(parts.take()) : parts.take();
}

std::vector<std::pair<char32_t, char32_t>> new_characters(std::string_view category) {
  std::vector<std::pair<char32_t, char32_t>> found;
  for (const CategoryRange& range : kNewCharacters) {
    const bool is_part =
        range.category == category ||
        (category.size() == 1 && range.category[0] == category[0] && range.category.size() == 2);
    if (is_part) {
      found.emplace_back(range.first, range.last);
    }
  }
  return found;
}

}  // namespace spl::tokenizers
