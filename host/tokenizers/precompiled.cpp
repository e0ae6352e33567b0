// The normalizer of SentencePiece: a trie from strings to their replacements, which the file has in base64.
#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "host/syntax/utf8.h"
#include "host/tokenizers/normalizers.h"

namespace spl::tokenizers {
namespace {

constexpr size_t kLongGrapheme = 6;  // bytes from which the characters are replaced one by one

/// Marks that Unicode 17 added; those of earlier versions are in new_characters().
constexpr std::pair<char32_t, char32_t> kUnicode17[] = {
    {0x1acf, 0x1add},   {0x1ae0, 0x1aeb},   {0x10efa, 0x10efb}, {0x11b60, 0x11b67},
    {0x1e6e3, 0x1e6e3}, {0x1e6e6, 0x1e6e6}, {0x1e6ee, 0x1e6ef}, {0x1e6f5, 0x1e6f5}};

int value_of_digit(char c) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t found = kDigits.find(c);
  return found == std::string_view::npos ? -1 : static_cast<int>(found);
}

/// Nothing if the text is not base64 with its padding.
std::optional<std::string> decoded_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  text.remove_suffix(padding);
  std::string out;
  uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const int digit = value_of_digit(c);
    if (digit < 0) {
      return std::nullopt;
    }
    bits = bits << 6U | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>(bits >> count & 0xffU));
    }
  }
  return (bits & ((1U << count) - 1)) == 0 ? std::optional(out) : std::nullopt;
}

/// A double array of Darts: units of 32 bits, in which a character leads from one to another by exclusive or.
class DoubleArray {
 public:
  DoubleArray() = default;
  explicit DoubleArray(std::string_view bytes) {
    for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
      units_.push_back(number_at(bytes, at));
    }
  }
  static uint32_t number_at(std::string_view bytes, size_t at) {
    uint32_t number = 0;
    for (size_t i = 4; i-- > 0;) {
      number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
    }
    return number;
  }

  /// The value of the shortest key that starts the text.
  std::optional<uint32_t> shortest(std::string_view text) const {
    size_t node = offset(unit(0));
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte == 0) {
        break;
      }
      node ^= byte;
      const uint32_t found = unit(node);
      if ((found & kLabel) != byte) {
        break;
      }
      node ^= offset(found);
      if ((found & kHasLeaf) != 0) {
        return unit(node) & kValue;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr uint32_t kLabel = 1U << 31U | 0xffU, kHasLeaf = 1U << 8U, kValue = (1U << 31U) - 1;
  static size_t offset(uint32_t unit) { return size_t{unit >> 10U} << ((unit & 1U << 9U) >> 6U); }
  uint32_t unit(size_t index) const {
    if (index >= units_.size()) {
      throw Error(ErrorKind::kInvalidArgument, "Precompiled: the trie of precompiled_charsmap is damaged");
    }
    return units_[index];
  }
  std::vector<uint32_t> units_;
};

class Precompiled : public Normalizer {
 public:
  explicit Precompiled(Fields& fields) {
    const std::string place = fields.place_of("precompiled_charsmap");
    const auto map = decoded_base64(fields.text("precompiled_charsmap"));
    if (!map) {
      fail_broken(place, "the string is not base64");
    }
    const size_t size = map->size() < 4 ? 0 : DoubleArray::number_at(*map, 0);
    if (map->size() < 4 || size > map->size() - 4 || size % 4 != 0) {
      fail_broken(place, "expected the size of a trie, the trie and strings, got " +
                             std::to_string(map->size()) + " bytes");
    }
    trie_ = DoubleArray(std::string_view(*map).substr(4, size));
    strings_ = map->substr(4 + size);
    if (!is_valid_utf8(strings_)) {
      fail_broken(place, "the strings are not valid UTF-8");
    }
  }

  void apply(AlignedText& text) const override {
    const std::u32string& all = text.text();
    std::vector<Change> changes;
    changes.reserve(all.size());
    bool is_changed = false;
    for (size_t begin = 0; begin < all.size();) {
      const size_t end = end_of_grapheme(all, begin);
      is_changed = change(std::u32string_view(all).substr(begin, end - begin), changes) || is_changed;
      begin = end;
    }
    if (is_changed) {
      text.change(changes);
    }
  }

  bool apply_in_place(std::string& ascii) const override {
    for (char& c : ascii) {
      const auto found = replacement({&c, 1});
      if (c == '\r' || (found && found->size() != 1)) {
        return false;
      }
      c = found ? found->front() : c;
    }
    return is_ascii(ascii);
  }

 private:
  static size_t end_of_grapheme(std::u32string_view text, size_t begin) {
    utf8proc_int32_t state = 0;
    size_t end = begin + 1;
    while (end < text.size() && (!is_break(text[end - 1], text[end], state) || is_new_mark(text, end))) {
      ++end;
    }
    return end;
  }
  static bool is_break(char32_t before, char32_t after, utf8proc_int32_t& state) {
    return utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before),
                                            static_cast<utf8proc_int32_t>(after), &state);
  }
  /// Whether the character is a mark that is newer than utf8proc, after one that a mark can follow.
  static bool is_new_mark(std::u32string_view text, size_t at) {
    const auto property = [&](size_t i) {
      return utf8proc_get_property(static_cast<utf8proc_int32_t>(text[i]));
    };
    const auto before = property(at - 1)->boundclass;
    return property(at)->category == UTF8PROC_CATEGORY_CN && is_in_new_marks(text[at]) &&
           before != UTF8PROC_BOUNDCLASS_CR && before != UTF8PROC_BOUNDCLASS_LF &&
           before != UTF8PROC_BOUNDCLASS_CONTROL;
  }
  static bool is_in_new_marks(char32_t c) {
    static const auto* const marks = [] {  // never freed: threads that outlive main use it
      auto* all = new std::vector<std::pair<char32_t, char32_t>>(new_characters("M"));
      all->insert(all->end(), std::begin(kUnicode17), std::end(kUnicode17));
      return all;
    }();
    return std::any_of(marks->begin(), marks->end(),
                       [c](const auto& range) { return c >= range.first && c <= range.second; });
  }

  std::optional<std::string_view> replacement(std::string_view text) const {
    const auto index = trie_.shortest(text);
    if (!index) {
      return std::nullopt;
    }
    const std::string_view strings = strings_;
    if (*index > strings.size() || (*index < strings.size() && (strings[*index] & 0xc0) == 0x80)) {
      throw Error(ErrorKind::kInvalidArgument, "Precompiled: the trie of precompiled_charsmap is damaged");
    }
    return strings.substr(*index, strings.find('\0', *index) - *index);
  }

  /// A key that is a prefix of a short grapheme replaces all of it, as in the Python library.
  bool change(std::u32string_view grapheme, std::vector<Change>& changes) const {
    const std::string bytes = to_utf8(std::u32string(grapheme));
    if (bytes.size() < kLongGrapheme) {
      if (const auto found = replacement(bytes)) {
        add(*found, grapheme.size(), changes);
        return true;
      }
    }
    bool is_changed = false;
    for (size_t at = 0; at < bytes.size();) {
      const size_t begin = at;
      const char32_t c = next_character(bytes, at);
      if (const auto found = replacement(std::string_view(bytes).substr(begin, at - begin))) {
        add(*found, 1, changes);
        is_changed = true;
      } else {
        changes.push_back({c, 0});
      }
    }
    return is_changed;
  }

  // The last characters of a longer replacement are inserted. The last of a shorter one removes the others;
  // of an empty one it is the character before it, if there is one, as in the Python library.
  static void add(std::string_view replacement, size_t replaced, std::vector<Change>& changes) {
    const std::u32string characters = to_characters(replacement);
    for (size_t i = 0; i < characters.size(); ++i) {
      changes.push_back({characters[i], i < replaced ? 0 : 1});
    }
    if (characters.size() < replaced && !changes.empty()) {
      changes.back().change += static_cast<int>(characters.size()) - static_cast<int>(replaced);
    }
  }

  DoubleArray trie_;
  std::string strings_;  // the replacements, each with a zero byte after it
};

}  // namespace

std::unique_ptr<const Normalizer> make_precompiled(Fields& fields) {
  return std::make_unique<Precompiled>(fields);
}

}  // namespace spl::tokenizers
