#include "host/tokenizers/normalizers.h"

#include <algorithm>
#include <optional>

#include "host/tokenizers/byte_characters.h"
#include "host/tokenizers/pattern.h"

namespace spl::tokenizers {
namespace normalizers {
namespace {

void lowercase_ascii(std::string& text) {
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
}

class BertNormalizer : public Normalizer {
 public:
  explicit BertNormalizer(Fields& fields)
      : cleans_(fields.flag("clean_text")),
        splits_chinese_(fields.flag("handle_chinese_chars")),
        lowercases_(fields.flag("lowercase")),
        strips_accents_(fields.flag_or("strip_accents", lowercases_)) {}

  void apply(AlignedText& text) const override {
    if (cleans_) {
      text.keep_if([](char32_t c) { return c != 0 && c != 0xfffd && !is_control(c); });
      text.map([](char32_t c) { return is_white_space(c) ? U' ' : c; });
    }
    if (splits_chinese_ && std::any_of(text.text().begin(), text.text().end(), is_chinese)) {
      split_chinese(text);
    }
    if (strips_accents_) {
      text.change(normalized(text.text(), NormalForm::kNfd));
      text.keep_if([](char32_t c) { return !is_accent(c); });
    }
    if (lowercases_) {
      text.lowercase();
    }
  }

  bool apply_in_place(std::string& ascii) const override {
    if (cleans_) {
      for (char& c : ascii) {
        if (c == '\t' || c == '\n' || c == '\r') {
          c = ' ';
        }
        if (c < ' ' || c == 0x7f) {
          return false;
        }
      }
    }
    if (lowercases_) {
      lowercase_ascii(ascii);
    }
    return true;
  }

 private:
  static void split_chinese(AlignedText& text) {
    std::vector<Change> changes;
    for (const char32_t c : text.text()) {
      if (is_chinese(c)) {
        changes.insert(changes.end(), {{U' ', 0}, {c, 1}, {U' ', 1}});
      } else {
        changes.push_back({c, 0});
      }
    }
    text.change(changes);
  }

  bool cleans_, splits_chinese_, lowercases_, strips_accents_;
};

class Unicode : public Normalizer {
 public:
  explicit Unicode(NormalForm form) : form_(form) {}
  void apply(AlignedText& text) const override { text.change(normalized(text.text(), form_)); }
  bool apply_in_place(std::string&) const override { return true; }

 private:
  NormalForm form_;
};

class StripAccents : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    text.keep_if([](char32_t c) { return !is_combining_mark(c); });
  }
  bool apply_in_place(std::string&) const override { return true; }
};

class Lowercase : public Normalizer {
 public:
  void apply(AlignedText& text) const override { text.lowercase(); }
  bool apply_in_place(std::string& ascii) const override {
    lowercase_ascii(ascii);
    return true;
  }
};

class Strip : public Normalizer {
 public:
  explicit Strip(Fields& fields) : left_(fields.flag("strip_left")), right_(fields.flag("strip_right")) {}
  void apply(AlignedText& text) const override { text.strip(left_, right_); }
  bool apply_in_place(std::string& ascii) const override {
    const auto is_space = [](char c) { return is_white_space(static_cast<unsigned char>(c)); };
    return ascii.empty() || ((!left_ || !is_space(ascii.front())) && (!right_ || !is_space(ascii.back())));
  }

 private:
  bool left_, right_;
};

class Prepend : public Normalizer {
 public:
  explicit Prepend(Fields& fields) : prefix_(to_characters(fields.text("prepend"))) {}
  void apply(AlignedText& text) const override { text.prepend(prefix_); }
  bool apply_in_place(std::string& ascii) const override { return ascii.empty(); }

 private:
  std::u32string prefix_;
};

class Replace : public Normalizer {
 public:
  explicit Replace(Fields& fields)
      : pattern_(Pattern::of_field(fields.at("pattern"), fields.place_of("pattern"))),
        content_(to_characters(fields.text("content"))) {
    if (pattern_.matches_empty()) {
      fail_unsupported(fields.place_of("pattern"), "a pattern that matches an empty string is not supported");
    }
  }

  void apply(AlignedText& text) const override {
    const std::string bytes = to_utf8(text.text());
    std::vector<Match> matches;
    pattern_.find_all(bytes, matches);
    std::vector<AlignedText::Replacement> places;
    size_t character = 0;
    for (const Match& match : matches) {
      const size_t first = character;
      for (size_t at = match.begin; at < match.end; ++character) {
        next_character(bytes, at);
      }
      if (match.is_match) {
        places.push_back({first, character});
      }
    }
    if (!places.empty()) {
      text.replace(places, content_);
    }
  }

  bool apply_in_place(std::string& ascii) const override {
    std::vector<Match> matches;
    pattern_.find_all(ascii, matches);
    return std::none_of(matches.begin(), matches.end(), [](const Match& match) { return match.is_match; });
  }

 private:
  Pattern pattern_;
  std::u32string content_;
};

class Nmt : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    text.keep_if([](char32_t c) { return !is_removed(c); });
    text.map([](char32_t c) { return is_space(c) ? U' ' : c; });
  }
  bool apply_in_place(std::string& ascii) const override {
    for (char& c : ascii) {
      if (is_removed(static_cast<unsigned char>(c))) {
        return false;
      }
      c = is_space(static_cast<unsigned char>(c)) ? ' ' : c;
    }
    return true;
  }

 private:
  static bool is_removed(char32_t c) {
    return (c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f;
  }
  static bool is_space(char32_t c) {
    constexpr std::u32string_view kSpaces = U"\t\n\f\r\u1680\u2028\u2029\u2581\ufeff\ufffd";
    return (c >= 0x200b && c <= 0x200f) || kSpaces.find(c) != std::u32string_view::npos;
  }
};

class ByteLevel : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    std::vector<Change> changes;
    for (const char32_t c : text.text()) {
      int inserted = 0;
      for (const char byte : to_utf8(std::u32string(1, c))) {
        changes.push_back({character_of_byte(static_cast<unsigned char>(byte)), inserted});
        inserted = 1;
      }
    }
    text.change(changes);
  }
  bool apply_in_place(std::string& ascii) const override {
    return std::all_of(ascii.begin(), ascii.end(), [](char c) { return c > ' ' && c < 0x7f; });
  }
};

class Sequence : public Normalizer {
 public:
  explicit Sequence(Fields& fields) {
    const std::string place = fields.place_of("normalizers");
    for (const Json& part : fields.array("normalizers").GetArray()) {
      parts_.push_back(read_normalizer(part, place + "[" + std::to_string(parts_.size()) + "]"));
    }
  }
  void apply(AlignedText& text) const override {
    for (const auto& part : parts_) {
      part->apply(text);
    }
  }
  bool apply_in_place(std::string& ascii) const override {
    return std::all_of(parts_.begin(), parts_.end(),
                       [&](const auto& part) { return part->apply_in_place(ascii); });
  }

 private:
  std::vector<std::unique_ptr<const Normalizer>> parts_;
};

std::optional<NormalForm> form_of(const std::string& type) {
  constexpr std::string_view kNames[] = {"NFC", "NFD", "NFKC", "NFKD"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), type);
  return found == std::end(kNames) ? std::nullopt
                                   : std::optional(static_cast<NormalForm>(found - std::begin(kNames)));
}

std::unique_ptr<const Normalizer> normalizer_of(Fields& fields) {
  const std::string type = fields.text("type");
  if (const auto form = form_of(type)) {
    return std::make_unique<Unicode>(*form);
  }
  if (type == "BertNormalizer") {
    return std::make_unique<BertNormalizer>(fields);
  }
  if (type == "StripAccents") {
    return std::make_unique<StripAccents>();
  }
  if (type == "Lowercase") {
    return std::make_unique<Lowercase>();
  }
  if (type == "Strip") {
    return std::make_unique<Strip>(fields);
  }
  if (type == "Prepend") {
    return std::make_unique<Prepend>(fields);
  }
  if (type == "Replace") {
    return std::make_unique<Replace>(fields);
  }
  if (type == "Nmt") {
    return std::make_unique<Nmt>();
  }
  if (type == "ByteLevel") {
    return std::make_unique<ByteLevel>();
  }
  if (type == "Precompiled") {
    return make_precompiled(fields);
  }
  if (type == "Sequence") {
    return std::make_unique<Sequence>(fields);
  }
  fail_unsupported(fields.place_of("type"), "the normalizer '" + type + "' is not supported");
}

}  // namespace
}  // namespace normalizers

std::unique_ptr<const Normalizer> read_normalizer(const Json& value, const std::string& place) {
  Fields fields(value, place);
  auto normalizer = normalizers::normalizer_of(fields);
  fields.finish();
  return normalizer;
}

Buffer normalize(const Normalizer* normalizer, std::string_view part, uint32_t begin) {
  std::string text(part);
  if (normalizer == nullptr || (is_ascii(part) && normalizer->apply_in_place(text))) {
    return {std::move(text), begin};
  }
  AlignedText aligned(part, begin);
  normalizer->apply(aligned);
  return Buffer(aligned);
}

}  // namespace spl::tokenizers
