#include "host/tokenizers/pre_tokenizers.h"

#include <algorithm>

#include "host/tokenizers/byte_characters.h"
#include "host/tokenizers/characters.h"
#include "host/tokenizers/pattern.h"

namespace spl::tokenizers {
namespace pre_tokenizers {
namespace {

// GPT-2's.
constexpr const char* kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Pieces whose characters are bytes in disguise receive those characters.
void reveal_bytes(Pieces& all) {
  for (Piece& piece : all.pieces) {
    if (!piece.is_bytes) {
      continue;
    }
    AlignedText text = all.aligned(piece);
    std::vector<Change> changes;
    for (const char32_t c : text.text()) {
      int inserted = 0;
      for (const char byte : to_utf8(std::u32string(1, c))) {
        changes.push_back({character_of_byte(static_cast<unsigned char>(byte)), inserted});
        inserted = 1;
      }
    }
    text.change(changes);
    piece = all.add(Buffer(text));
  }
}

/// Cuts each piece by `find(text, matches)`, whose matches cover the text.
template <class Find>
void split(Pieces& all, SplitBehavior behavior, const Find& find) {
  reveal_bytes(all);
  std::vector<Piece> old;
  old.swap(all.pieces);
  std::vector<Match> matches;
  for (const Piece& piece : old) {
    if (piece.added >= 0) {
      all.pieces.push_back(piece);
      continue;
    }
    matches.clear();
    find(all.text(piece), matches);
    apply_behavior(matches, behavior);
    for (const Match& match : matches) {
      if (match.begin < match.end) {
        all.pieces.push_back({piece.buffer, piece.begin + static_cast<uint32_t>(match.begin),
                              piece.begin + static_cast<uint32_t>(match.end)});
      }
    }
  }
}

/// Each character of a class is a match.
template <class IsMatch>
void find_characters(std::string_view text, std::vector<Match>& matches, const IsMatch& is_match) {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    if (is_match(next_character(text, at))) {
      if (done < begin) {
        matches.push_back({done, begin, false});
      }
      matches.push_back({begin, at, true});
      done = at;
    }
  }
  if (done < text.size()) {
    matches.push_back({done, text.size(), false});
  }
}

template <class IsMatch>
void split_characters(Pieces& all, SplitBehavior behavior, const IsMatch& is_match) {
  split(all, behavior, [&](std::string_view text, std::vector<Match>& matches) {
    find_characters(text, matches, is_match);
  });
}

/// Runs of characters for which `kind` is equal; those of kind 0 are left out.
template <class KindOf>
void find_runs(std::string_view text, std::vector<Match>& matches, const KindOf& kind) {
  size_t begin = 0;
  int current = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    const int own = kind(next_character(text, at));
    if (own != current) {
      if (current != 0) {
        matches.push_back({begin, start, false});
      }
      begin = start;
      current = own;
    }
  }
  if (current != 0) {
    matches.push_back({begin, text.size(), false});
  }
}

class BertPreTokenizer : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override {
    split(pieces, SplitBehavior::kIsolated, [](std::string_view text, std::vector<Match>& matches) {
      size_t begin = 0;
      for (size_t at = 0; at < text.size();) {
        const size_t start = at;
        const char32_t c = next_character(text, at);
        const bool is_mark = is_punctuation(c);
        if (is_mark || is_white_space(c)) {
          matches.push_back({begin, start, false});
          begin = is_mark ? start : at;
        }
        if (is_mark) {
          matches.push_back({begin, at, false});
          begin = at;
        }
      }
      matches.push_back({begin, text.size(), false});
    });
  }
};

class ByteLevel : public PreTokenizer {
 public:
  explicit ByteLevel(Fields& fields)
      : adds_space_(fields.flag("add_prefix_space")),
        splits_(fields.flag_or("use_regex", true)),
        pattern_(Pattern::regex(kByteLevelPattern, fields.place())) {
    fields.flag("trim_offsets");  // for the post-processor of this type
  }

  void apply(Pieces& all) const override {
    reveal_bytes(all);
    if (adds_space_) {
      add_spaces(all);
    }
    if (splits_) {
      split(all, SplitBehavior::kIsolated,
            [&](std::string_view text, std::vector<Match>& matches) { pattern_.find_all(text, matches); });
    }
    for (Piece& piece : all.pieces) {
      piece.is_bytes = piece.added < 0;
    }
  }

 private:
  static void add_spaces(Pieces& all) {
    for (Piece& piece : all.pieces) {
      if (piece.added < 0 && !all.text(piece).starts_with(' ')) {
        AlignedText text = all.aligned(piece);
        text.prepend(U" ");
        piece = all.add(Buffer(text));
      }
    }
  }

  bool adds_space_, splits_;
  Pattern pattern_;
};

class Split : public PreTokenizer {
 public:
  explicit Split(Fields& fields)
      : pattern_(Pattern::of_field(fields.at("pattern"), fields.place_of("pattern"))),
        behavior_(split_behavior(fields)),
        inverts_(fields.flag("invert")) {}
  void apply(Pieces& pieces) const override {
    split(pieces, behavior_, [&](std::string_view text, std::vector<Match>& matches) {
      pattern_.find_all(text, matches);
      for (Match& match : matches) {
        match.is_match = match.is_match != inverts_;
      }
    });
  }

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool inverts_;
};

class Metaspace : public PreTokenizer {
 public:
  explicit Metaspace(Fields& fields)
      : replacement_(fields.character("replacement")),
        scheme_(prepend_scheme(fields)),
        splits_(fields.flag_or("split", true)) {
    fields.find("str_rep");  // of old files: the replacement as a string
  }

  void apply(Pieces& all) const override {
    reveal_bytes(all);
    for (Piece& piece : all.pieces) {
      if (piece.added < 0) {
        replace_spaces(all, piece);
      }
    }
    if (splits_) {
      split_characters(all, SplitBehavior::kMergedWithNext, [&](char32_t c) { return c == replacement_; });
    }
  }

 private:
  void replace_spaces(Pieces& all, Piece& piece) const {
    AlignedText text = all.aligned(piece);
    text.map([&](char32_t c) { return c == U' ' ? replacement_ : c; });
    const bool prepends =
        scheme_ == PrependScheme::kAlways || (scheme_ == PrependScheme::kFirst && text.begin() == 0);
    if (prepends && text.text().front() != replacement_) {
      text.prepend(std::u32string(1, replacement_));
    }
    piece = all.add(Buffer(text));
  }

  char32_t replacement_;
  PrependScheme scheme_;
  bool splits_;
};

class Whitespace : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override {
    split(pieces, SplitBehavior::kIsolated, [](std::string_view text, std::vector<Match>& matches) {
      find_runs(text, matches, [](char32_t c) {
        return is_word_character(c) ? 1 : is_white_space(c) ? 0 : 2;
      });
    });
  }
};

class WhitespaceSplit : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override {
    split_characters(pieces, SplitBehavior::kRemoved, is_white_space);
  }
};

class Punctuation : public PreTokenizer {
 public:
  explicit Punctuation(Fields& fields)
      : behavior_(fields.find("behavior") == nullptr ? SplitBehavior::kIsolated : split_behavior(fields)) {}
  void apply(Pieces& pieces) const override { split_characters(pieces, behavior_, is_punctuation); }

 private:
  SplitBehavior behavior_;
};

class Digits : public PreTokenizer {
 public:
  explicit Digits(Fields& fields)
      : behavior_(fields.flag("individual_digits") ? SplitBehavior::kIsolated : SplitBehavior::kContiguous) {}
  void apply(Pieces& pieces) const override { split_characters(pieces, behavior_, is_numeral); }

 private:
  SplitBehavior behavior_;
};

class CharDelimiterSplit : public PreTokenizer {
 public:
  explicit CharDelimiterSplit(Fields& fields) : delimiter_(fields.character("delimiter")) {}
  void apply(Pieces& pieces) const override {
    split_characters(pieces, SplitBehavior::kRemoved, [&](char32_t c) { return c == delimiter_; });
  }

 private:
  char32_t delimiter_;
};

class Sequence : public PreTokenizer {
 public:
  explicit Sequence(Fields& fields) {
    const std::string place = fields.place_of("pretokenizers");
    for (const Json& part : fields.array("pretokenizers").GetArray()) {
      parts_.push_back(read_pre_tokenizer(part, place + "[" + std::to_string(parts_.size()) + "]"));
    }
  }
  void apply(Pieces& pieces) const override {
    for (const auto& part : parts_) {
      part->apply(pieces);
    }
  }

 private:
  std::vector<std::unique_ptr<const PreTokenizer>> parts_;
};

std::unique_ptr<const PreTokenizer> pre_tokenizer_of(Fields& fields) {
  const std::string type = fields.text("type");
  if (type == "BertPreTokenizer") {
    return std::make_unique<BertPreTokenizer>();
  }
  if (type == "ByteLevel") {
    return std::make_unique<ByteLevel>(fields);
  }
  if (type == "Split") {
    return std::make_unique<Split>(fields);
  }
  if (type == "Metaspace") {
    return std::make_unique<Metaspace>(fields);
  }
  if (type == "Whitespace") {
    return std::make_unique<Whitespace>();
  }
  if (type == "WhitespaceSplit") {
    return std::make_unique<WhitespaceSplit>();
  }
  if (type == "Punctuation") {
    return std::make_unique<Punctuation>(fields);
  }
  if (type == "Digits") {
    return std::make_unique<Digits>(fields);
  }
  if (type == "CharDelimiterSplit") {
    return std::make_unique<CharDelimiterSplit>(fields);
  }
  if (type == "Sequence") {
    return std::make_unique<Sequence>(fields);
  }
  fail_unsupported(fields.place_of("type"), "the pre-tokenizer '" + type + "' is not supported");
}

}  // namespace
}  // namespace pre_tokenizers

PrependScheme prepend_scheme(Fields& fields) {
  const bool is_given = fields.find("prepend_scheme") != nullptr;
  const auto scheme =
      is_given ? static_cast<PrependScheme>(fields.choice("prepend_scheme", {"first", "never", "always"}))
               : PrependScheme::kAlways;
  if (!fields.flag_or("add_prefix_space", true) && scheme != PrependScheme::kNever) {
    fail_broken(fields.place(), "add_prefix_space does not match declared prepend_scheme");
  }
  return scheme;
}

std::unique_ptr<const PreTokenizer> read_pre_tokenizer(const Json& value, const std::string& place) {
  Fields fields(value, place);
  auto pre_tokenizer = pre_tokenizers::pre_tokenizer_of(fields);
  fields.finish();
  return pre_tokenizer;
}

}  // namespace spl::tokenizers
