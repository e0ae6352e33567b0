// The grammar and the errors are those of CPython 3.11's re/_parser.py.
#include "host/builtins/regex_syntax.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "host/builtins/regex_character_set.h"
#include "host/builtins/regex_scanner.h"
#include "host/values/error.h"

namespace spl {
namespace {

constexpr int64_t kUnlimited = 4294967295;
constexpr int64_t kMaxRepeat = 65535;  // of PCRE2
constexpr uint32_t kTypeFlags = kRegexAscii | kRegexLocale | kRegexUnicode;

uint32_t flag_of(char32_t letter) {
  switch (letter) {
    case 'i':
      return kRegexIgnoreCase;
    case 'L':
      return kRegexLocale;
    case 'm':
      return kRegexMultiline;
    case 's':
      return kRegexDotAll;
    case 'x':
      return kRegexVerbose;
    case 'a':
      return kRegexAscii;
    case 'u':
      return kRegexUnicode;
    default:
      return 0;
  }
}

/// A part of the pattern: its forms for any subject and for subjects of ASCII, and its width.
struct Piece {
  RegexForms forms;
  int64_t low = 0, high = 0;

  void append(const Piece& other) {
    forms.append(other.forms);
    low = std::min(low + other.low, kUnlimited - 1);
    high = std::min(high + other.high, kUnlimited);
  }
};

enum class ItemKind : uint8_t { kOther, kAnchor, kAssertion, kRepeat };
struct Item {
  Piece piece;
  ItemKind kind = ItemKind::kOther;
};

Item item_of(const std::string& form, int64_t width, ItemKind kind = ItemKind::kOther) {
  return {{RegexForms(form), width, width}, kind};
}

class RegexTranslator {
 public:
  RegexTranslator(const std::string& pattern, uint32_t flags) : source_(pattern, "regex.compile") {
    result_.flags = flags;
    result_.parents = {0};
    widths_.emplace_back();
    result_.is_ascii = std::all_of(pattern.begin(), pattern.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  }

  RegexTranslation translate() {
    const Piece whole = alternatives(result_.flags, true);
    check_flags();
    if (!source_.at_end()) {
      source_.error("unbalanced parenthesis");
    }
    for (const auto& [group, position] : conditions_) {
      if (group >= static_cast<int64_t>(widths_.size())) {
        source_.error_at("invalid group reference " + std::to_string(group), position);
      }
    }
    if (has_varying_lookbehind_) {
      fail("regex.compile: look-behind requires fixed-width pattern");
    }
    const std::string start = folds_case(result_.flags) ? "(?i)" : "";
    result_.pattern = start + whole.forms.any;
    result_.ascii_pattern = start + whole.forms.ascii;
    return std::move(result_);
  }

 private:
  // With the flag ASCII, only ASCII letters have two cases. Sets and letters then list both.
  static bool folds_case(uint32_t flags) {
    return (flags & kRegexIgnoreCase) != 0 && (flags & kRegexAscii) == 0;
  }
  static bool lists_cases(uint32_t flags) {
    return (flags & kRegexIgnoreCase) != 0 && (flags & kRegexAscii) != 0;
  }

  void check_flags() {
    if ((result_.flags & kRegexLocale) != 0) {
      fail("regex.compile: cannot use LOCALE flag with a str pattern");
    }
    if ((result_.flags & kRegexAscii) != 0 && (result_.flags & kRegexUnicode) != 0) {
      fail("regex.compile: ASCII and UNICODE flags are incompatible");
    }
    if ((result_.flags & kRegexAscii) == 0) {
      result_.flags |= kRegexUnicode;
    }
  }

  Piece alternatives(uint32_t flags, bool is_whole = false) {
    Piece all;
    for (bool is_first = true;; is_first = false) {
      // Flags at the start of the pattern are those of the other alternatives, too.
      const Piece one = sequence(is_whole ? result_.flags : flags, is_whole && is_first);
      if (is_first) {
        all = one;
      } else {
        all.forms.append(RegexForms("|"));
        all.forms.append(one.forms);
        all.low = std::min(all.low, one.low);
        all.high = std::max(all.high, one.high);
      }
      if (!source_.match('|')) {
        return all;
      }
    }
  }

  Piece sequence(uint32_t flags, bool may_set_flags = false) {
    std::vector<Item> items;
    while (!source_.at_end() && !source_.next_is_one_of(U"|)")) {
      const std::u32string token = source_.get();
      if ((flags & kRegexVerbose) != 0 && skips(token)) {
        continue;
      }
      if (token.size() == 1 && is_one_of(token[0], U"*+?{")) {
        repeat(items, token[0]);
      } else if (token == U"(") {
        if (std::optional<Item> group = group_item(flags, may_set_flags && items.empty())) {
          items.push_back(std::move(*group));
        } else if (may_set_flags) {
          flags = result_.flags;
        }
      } else {
        items.push_back(plain_item(token, flags));
      }
    }
    Piece all;
    for (const Item& item : items) {
      all.append(item.piece);
    }
    return all;
  }

  /// Whether a token is white space, or begins a comment, which is consumed.
  bool skips(const std::u32string& token) {
    if (token == U"#") {
      while (!source_.at_end() && source_.get() != U"\n") {
      }
      return true;
    }
    return token.size() == 1 && is_one_of(token[0], U" \t\n\r\v\f");
  }

  Item plain_item(const std::u32string& token, uint32_t flags) {
    if (token.size() == 2) {
      return escape_item(token, flags);
    }
    switch (token[0]) {
      case '[':
        return {{read_set(flags), 1, 1}};
      case '.':
        return item_of((flags & kRegexDotAll) != 0 ? "." : "\\N", 1);
      case '^':
        return item_of((flags & kRegexMultiline) != 0 ? "(?m:^)" : "\\A", 0, ItemKind::kAnchor);
      case '$':
        return item_of((flags & kRegexMultiline) != 0 ? "(?m:$)" : "$", 0, ItemKind::kAnchor);
      default:
        return literal_item(token[0], flags);
    }
  }

  Item literal_item(char32_t c, uint32_t flags) {
    if (lists_cases(flags) && is_ascii_letter(c)) {
      return item_of(std::string("[") + static_cast<char>(c | 0x20U) + static_cast<char>(c & ~0x20U) + "]",
                     1);
    }
    return item_of(regex_literal(c), 1);
  }

  Item escape_item(const std::u32string& escape, uint32_t flags) {
    const char32_t c = escape[1];
    switch (c) {
      case 'A':
        return item_of("\\A", 0, ItemKind::kAnchor);
      case 'Z':
        return item_of("\\z", 0, ItemKind::kAnchor);
      case 'b':
      case 'B':
        return {{word_boundary(c == 'B', (flags & kRegexAscii) != 0), 0, 0}, ItemKind::kAnchor};
      default:
        break;
    }
    if (is_class_letter(c)) {
      RegexSet set;
      set.add_class(c, (flags & kRegexAscii) != 0);
      return {{set.forms(false, false), 1, 1}};
    }
    if (const int32_t code = control_escape(c); code >= 0) {
      return literal_item(static_cast<char32_t>(code), flags);
    }
    if (c != '0' && is_one_of(c, kDecimalDigits)) {
      return digits_item(escape, flags);
    }
    return literal_item(read_code(escape), flags);
  }

  // An octal escape or the number of a group.
  Item digits_item(std::u32string escape, uint32_t flags) {
    if (source_.next_is_one_of(kDecimalDigits)) {
      escape += source_.get();
      if (is_one_of(escape[1], kOctalDigits) && is_one_of(escape[2], kOctalDigits) &&
          source_.next_is_one_of(kOctalDigits)) {
        escape += source_.get();
        return literal_item(octal_code(escape), flags);
      }
    }
    const int64_t group = number_of(escape.substr(1), 10);
    if (group >= static_cast<int64_t>(widths_.size())) {
      source_.error("invalid group reference " + std::to_string(group), escape.size() - 1);
    }
    if (!widths_[static_cast<size_t>(group)].has_value()) {
      source_.error("cannot refer to an open group", escape.size());
    }
    return reference_item(static_cast<size_t>(group));
  }

  Item reference_item(size_t group) {
    check_reference_in_lookbehind(group);
    const auto [low, high] = *widths_[group];
    return {{RegexForms("\\g{" + std::to_string(group) + "}"), low, high}};
  }

  void check_reference_in_lookbehind(size_t group) {
    if (lookbehind_groups_ == 0) {
      return;
    }
    if (group >= widths_.size() || !widths_[group].has_value()) {
      source_.error("cannot refer to an open group");
    }
    if (group >= lookbehind_groups_) {
      source_.error("cannot refer to group defined in the same lookbehind subpattern");
    }
  }

  char32_t octal_code(const std::u32string& escape) {
    const int64_t code = number_of(escape.substr(1), 8);
    if (code > 0377) {
      source_.error("octal escape value " + to_utf8(escape) + " outside of range 0-0o377", escape.size());
    }
    result_.is_ascii = result_.is_ascii && code < 0x80;
    return static_cast<char32_t>(code);
  }

  // The character of an escape that is no class, anchor or reference.
  char32_t read_code(std::u32string escape) {
    const char32_t c = escape[1];
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits != 0) {
      escape += source_.get_while(digits, kHexDigits);
      if (escape.size() != digits + 2) {
        source_.error("incomplete escape " + to_utf8(escape), escape.size());
      }
      return checked_code(number_of(escape.substr(2), 16), escape);
    }
    if (c == 'N') {
      source_.error("\\N{...} is not supported: write the character or its number, \\uXXXX,", 2);
    }
    if (is_one_of(c, kOctalDigits)) {
      escape += source_.get_while(2, kOctalDigits);
      return octal_code(escape);
    }
    if (is_ascii_letter(c) || is_one_of(c, kDecimalDigits)) {
      source_.error("bad escape " + to_utf8(escape), escape.size());
    }
    return c;
  }

  char32_t checked_code(int64_t code, const std::u32string& escape) {
    if (code > 0x10ffff) {
      source_.error("bad escape " + to_utf8(escape), escape.size());
    }
    if (code >= 0xd800 && code < 0xe000) {
      source_.error("surrogate " + to_utf8(escape) + " is no character", escape.size());
    }
    result_.is_ascii = result_.is_ascii && code < 0x80;
    return static_cast<char32_t>(code);
  }

  /// A member of a set: a character, or a class with code -1.
  struct Member {
    int64_t code;
    char32_t class_letter;
  };
  Member read_member(const std::u32string& token) {
    if (token.size() == 1) {
      return {token[0], 0};
    }
    const char32_t c = token[1];
    if (is_class_letter(c)) {
      return {-1, c};
    }
    const int32_t control = c == 'b' ? '\b' : control_escape(c);
    return {control >= 0 ? control : static_cast<int64_t>(read_code(token)), 0};
  }

  RegexForms read_set(uint32_t flags) {
    const size_t here = source_.position() - 1;
    const auto next_token = [&] {
      if (source_.at_end()) {
        source_.error("unterminated character set", source_.position() - here);
      }
      return source_.get();
    };
    RegexSet set;
    const auto add = [&](const Member& member) {
      if (member.code >= 0) {
        set.add_range(static_cast<char32_t>(member.code), static_cast<char32_t>(member.code));
      } else {
        set.add_class(member.class_letter, (flags & kRegexAscii) != 0);
      }
    };
    const bool is_negated = source_.match('^');
    for (bool is_first = true;; is_first = false) {
      const std::u32string token = next_token();
      if (token == U"]" && !is_first) {
        break;
      }
      const Member first = read_member(token);
      if (!source_.match('-')) {
        add(first);
        continue;
      }
      const std::u32string end = next_token();
      if (end == U"]") {
        add(first);
        set.add_range('-', '-');
        break;
      }
      const Member last = read_member(end);
      if (first.code < 0 || last.code < first.code) {
        source_.error("bad character range " + to_utf8(token) + "-" + to_utf8(end),
                      token.size() + 1 + end.size());
      }
      set.add_range(static_cast<char32_t>(first.code), static_cast<char32_t>(last.code));
    }
    return set.forms(is_negated, lists_cases(flags));
  }

  void repeat(std::vector<Item>& items, char32_t mark) {
    const size_t here = source_.position();
    int64_t low = mark == '+' ? 1 : 0;
    int64_t high = mark == '?' ? 1 : kUnlimited;
    if (mark == '{' && !read_bounds(low, high, here)) {
      items.push_back(item_of("\\{", 1));
      return;
    }
    if (items.empty() || items.back().kind == ItemKind::kAnchor) {
      source_.error("nothing to repeat", source_.position() - here + 1);
    }
    if (items.back().kind == ItemKind::kRepeat) {
      source_.error("multiple repeat", source_.position() - here + 1);
    }
    Item& item = items.back();
    if (item.kind == ItemKind::kAssertion) {
      item.piece.forms.wrap("(?:", ")");  // PCRE2 does not repeat an assertion itself
    }
    item.piece.forms.append(RegexForms(quantifier(low, high) + manner()));
    item.piece.low = product(item.piece.low, low, kUnlimited - 1);
    item.piece.high = product(item.piece.high, high, kUnlimited);
    item.kind = ItemKind::kRepeat;
  }

  std::string manner() { return source_.match('?') ? "?" : source_.match('+') ? "+" : ""; }
  static std::string quantifier(int64_t low, int64_t high) {
    if (high == kUnlimited && low <= 1) {
      return low == 0 ? "*" : "+";
    }
    const std::string end = high == kUnlimited ? "" : std::to_string(high);
    return low == 0 && high == 1 ? "?" : "{" + std::to_string(low) + "," + end + "}";
  }
  static int64_t product(int64_t width, int64_t times, int64_t limit) {
    return times != 0 && width > limit / times ? limit : width * times;
  }

  /// The bounds after a brace; false if it is a plain character.
  bool read_bounds(int64_t& low, int64_t& high, size_t here) {
    if (source_.next_is('}')) {
      return false;
    }
    const std::u32string first = source_.get_while(SIZE_MAX, kDecimalDigits);
    const bool has_two = source_.match(',');
    const std::u32string last = has_two ? source_.get_while(SIZE_MAX, kDecimalDigits) : first;
    if (!source_.match('}')) {
      source_.seek(here);
      return false;
    }
    low = number_of(first, 10);
    high = last.empty() ? kUnlimited : number_of(last, 10);
    if (low > kMaxRepeat || (high > kMaxRepeat && !last.empty())) {
      source_.error("the repetition number is too large (at most 65535)", source_.position() - here);
    }
    if (high < low) {
      source_.error("min repeat greater than max repeat", source_.position() - here);
    }
    return true;
  }

  /// What follows a parenthesis. Nothing for a comment, and for flags of the whole pattern.
  std::optional<Item> group_item(uint32_t flags, bool may_set_flags) {
    const size_t start = source_.position() - 1;
    if (!source_.match('?')) {
      return captured(std::nullopt, flags, start);
    }
    const std::u32string token = next_token("unexpected end of pattern");
    if (token == U"P") {
      return python_extension(flags, start);
    }
    if (token == U":") {
      return wrapped("(?:", flags, start);
    }
    if (token == U">") {
      return wrapped("(?>", flags, start);
    }
    if (token == U"#") {
      return skip_comment(start);
    }
    if (token == U"=" || token == U"!") {
      return assertion("(?" + to_utf8(token), false, flags, start);
    }
    if (token == U"<") {
      const std::u32string kind = next_token("unexpected end of pattern");
      if (kind != U"=" && kind != U"!") {
        source_.error("unknown extension ?<" + to_utf8(kind), kind.size() + 2);
      }
      return assertion("(?<" + to_utf8(kind), true, flags, start);
    }
    if (token == U"(") {
      return condition(flags, start);
    }
    if (token == U"-" || (token.size() == 1 && flag_of(token[0]) != 0)) {
      return flags_group(token, flags, may_set_flags, start);
    }
    source_.error("unknown extension ?" + to_utf8(token), token.size() + 1);
  }

  std::u32string next_token(const char* message) {
    if (source_.at_end()) {
      source_.error(message);
    }
    return source_.get();
  }

  void expect_end(size_t start) {
    if (!source_.match(')')) {
      source_.error("missing ), unterminated subpattern", source_.position() - start);
    }
  }

  std::optional<Item> skip_comment(size_t start) {
    do {
      if (source_.at_end()) {
        source_.error("missing ), unterminated comment", source_.position() - start);
      }
    } while (source_.get() != U")");
    return std::nullopt;
  }

  Item wrapped(const std::string& open, uint32_t flags, size_t start) {
    Item item{alternatives(flags)};
    expect_end(start);
    item.piece.forms.wrap(open, ")");
    return item;
  }

  Item captured(const std::optional<std::u32string>& name, uint32_t flags, size_t start) {
    const auto group = static_cast<int>(widths_.size());
    if (name.has_value()) {
      const std::string plain = to_utf8(*name);
      if (const int other = result_.group_of(plain); other >= 0) {
        source_.error("redefinition of group name " + quoted_name(*name) + " as group " +
                          std::to_string(group) + "; was group " + std::to_string(other),
                      name->size() + 1);
      }
      result_.names.emplace_back(plain, group);
    }
    result_.has_group_in_assertion = result_.has_group_in_assertion || assertions_ > 0;
    result_.parents.push_back(open_group_);
    widths_.emplace_back();
    const int outer = std::exchange(open_group_, group);
    Item item = wrapped("(", flags, start);
    open_group_ = outer;
    widths_[static_cast<size_t>(group)] = {item.piece.low, item.piece.high};
    return item;
  }

  std::optional<Item> python_extension(uint32_t flags, size_t start) {
    if (source_.match('<')) {
      const std::u32string name = source_.get_until('>', "group name");
      check_name(name);
      return captured(name, flags, start);
    }
    if (source_.match('=')) {
      const std::u32string name = source_.get_until(')', "group name");
      check_name(name);
      const auto group = static_cast<size_t>(known_group(name));
      if (!widths_[group].has_value()) {
        source_.error("cannot refer to an open group", name.size() + 1);
      }
      return reference_item(group);
    }
    const std::u32string token = next_token("unexpected end of pattern");
    source_.error("unknown extension ?P" + to_utf8(token), token.size() + 2);
  }

  void check_name(const std::u32string& name) {
    if (!is_identifier(name)) {
      source_.error("bad character in group name " + quoted_name(name), name.size() + 1);
    }
  }
  int known_group(const std::u32string& name) {
    const int group = result_.group_of(to_utf8(name));
    if (group < 0) {
      source_.error("unknown group name " + quoted_name(name), name.size() + 1);
    }
    return group;
  }

  Item assertion(const std::string& open, bool is_behind, uint32_t flags, size_t start) {
    const size_t outer = lookbehind_groups_;
    if (is_behind && outer == 0) {
      lookbehind_groups_ = widths_.size();
    }
    ++assertions_;
    Item item{alternatives(flags), ItemKind::kAssertion};
    --assertions_;
    if (is_behind) {
      lookbehind_groups_ = outer;
      has_varying_lookbehind_ = has_varying_lookbehind_ || item.piece.low != item.piece.high;
    }
    expect_end(start);
    item.piece.forms.wrap(open, ")");
    item.piece.low = item.piece.high = 0;
    return item;
  }

  Item condition(uint32_t flags, size_t start) {
    const std::u32string name = source_.get_until(')', "group name");
    const int64_t group = is_identifier(name) ? known_group(name) : condition_number(name);
    check_reference_in_lookbehind(static_cast<size_t>(group));
    Item item{sequence(flags)};
    Piece& piece = item.piece;
    if (source_.match('|')) {
      const Piece other = sequence(flags);
      if (source_.next_is('|')) {
        source_.error("conditional backref with more than two branches");
      }
      piece.forms.append(RegexForms("|"));
      piece.forms.append(other.forms);
      piece.low = std::min(piece.low, other.low);
      piece.high = std::max(piece.high, other.high);
    } else {
      piece.low = 0;
    }
    expect_end(start);
    piece.forms.wrap("(?(" + std::to_string(group) + ")", ")");
    return item;
  }

  int64_t condition_number(const std::u32string& name) {
    const bool is_number =
        std::all_of(name.begin(), name.end(), [](char32_t c) { return is_one_of(c, kDecimalDigits); });
    if (!is_number) {
      source_.error("bad character in group name " + quoted_name(name), name.size() + 1);
    }
    const int64_t group = number_of(name, 10);
    if (group == 0) {
      source_.error("bad group number", name.size() + 1);
    }
    conditions_.emplace_back(group, source_.position() - name.size() - 1);
    return group;
  }

  std::optional<Item> flags_group(const std::u32string& first, uint32_t flags, bool may_set_flags,
                                  size_t start) {
    uint32_t added = 0, removed = 0;
    std::u32string token = first;
    if (token != U"-") {
      token = read_added_flags(token, added);
      if (token == U")") {
        if (!may_set_flags) {
          source_.error("global flags not at the start of the expression", source_.position() - start);
        }
        result_.flags |= added;
        return std::nullopt;
      }
    }
    if (token == U"-") {
      removed = read_removed_flags();
    }
    if ((added & removed) != 0) {
      source_.error("bad inline flags: flag turned on and off", 1);
    }
    const uint32_t kept = (added & kTypeFlags) != 0 ? flags & ~kTypeFlags : flags;
    const uint32_t inner = (kept | added) & ~removed;
    return wrapped(folds_case(inner) ? "(?i:" : "(?-i:", inner, start);
  }

  [[noreturn]] void reject_flag(const std::u32string& token, const char* missing) {
    const bool is_letter = token.size() == 1 && is_ascii_letter(token[0]);
    source_.error(is_letter ? "unknown flag" : missing, token.size());
  }

  /// Returns the token after the flags.
  std::u32string read_added_flags(std::u32string token, uint32_t& added) {
    while (true) {
      const uint32_t flag = flag_of(token[0]);
      if (flag == kRegexLocale) {
        source_.error("bad inline flags: cannot use 'L' flag with a str pattern");
      }
      added |= flag;
      if ((flag & kTypeFlags) != 0 && (added & kTypeFlags) != flag) {
        source_.error("bad inline flags: flags 'a', 'u' and 'L' are incompatible");
      }
      token = next_token("missing -, : or )");
      if (token.size() == 1 && is_one_of(token[0], U")-:")) {
        return token;
      }
      if (token.size() != 1 || flag_of(token[0]) == 0) {
        reject_flag(token, "missing -, : or )");
      }
    }
  }

  uint32_t read_removed_flags() {
    uint32_t removed = 0;
    std::u32string token = next_token("missing flag");
    if (token.size() != 1 || flag_of(token[0]) == 0) {
      reject_flag(token, "missing flag");
    }
    while (true) {
      const uint32_t flag = flag_of(token[0]);
      if ((flag & kTypeFlags) != 0) {
        source_.error("bad inline flags: cannot turn off flags 'a', 'u' and 'L'");
      }
      removed |= flag;
      token = next_token("missing :");
      if (token == U":") {
        return removed;
      }
      if (token.size() != 1 || flag_of(token[0]) == 0) {
        reject_flag(token, "missing :");
      }
    }
  }

  RegexScanner source_;
  RegexTranslation result_;
  std::vector<std::optional<std::pair<int64_t, int64_t>>> widths_;  // by group; nothing while it is open
  std::vector<std::pair<int64_t, size_t>> conditions_;              // numbers of groups, and their positions
  size_t lookbehind_groups_ = 0;                                    // in a lookbehind: the groups before it
  int open_group_ = 0, assertions_ = 0;
  bool has_varying_lookbehind_ = false;
};

}  // namespace

int RegexTranslation::group_of(const std::string& name) const {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == name; });
  return found == names.end() ? -1 : found->second;
}

RegexTranslation translate_regex(const std::string& pattern, uint32_t flags) {
  return RegexTranslator(pattern, flags).translate();
}

}  // namespace spl
