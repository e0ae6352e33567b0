#include "host/tokenizers/decoders.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "host/syntax/utf8.h"
#include "host/tokenizers/aligned_text.h"
#include "host/tokenizers/byte_characters.h"
#include "host/tokenizers/characters.h"
#include "host/tokenizers/pattern.h"
#include "host/tokenizers/pre_tokenizers.h"

namespace spl::tokenizers {
namespace decoders {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  size_t done = 0;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, done)) {
    out.append(text, done, at - done).append(to);
    done = at + from.size();
  }
  if (done > 0) {
    text = out.append(text, done);
  }
}

/// Removes the spaces that the pre-tokenizer of BERT put before marks and short forms of English words.
void clean_up(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kChanges[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kChanges) {
    replace_all(text, from, to);
  }
}

/// The number of bytes at `at` that the replacement character stands for: the start of a character that does
/// not go on, or one byte.
size_t invalid_size(std::string_view bytes, size_t at) {
  const auto byte = [&](size_t i) -> unsigned {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
  };
  const auto is_in = [](unsigned b, unsigned low, unsigned high) { return b >= low && b <= high; };
  const unsigned lead = byte(at), second = byte(at + 1);
  const bool has_three =
      (lead == 0xe0 && is_in(second, 0xa0, 0xbf)) || (lead == 0xed && is_in(second, 0x80, 0x9f)) ||
      (lead != 0xe0 && lead != 0xed && is_in(lead, 0xe1, 0xef) && is_in(second, 0x80, 0xbf));
  const bool has_four = (lead == 0xf0 && is_in(second, 0x90, 0xbf)) ||
                        (lead == 0xf4 && is_in(second, 0x80, 0x8f)) ||
                        (is_in(lead, 0xf1, 0xf3) && is_in(second, 0x80, 0xbf));
  if (has_three) {
    return 2;
  }
  return has_four ? (is_in(byte(at + 2), 0x80, 0xbf) ? 3 : 2) : 1;
}

size_t valid_size(std::string_view bytes, size_t at) {
  const auto lead = static_cast<unsigned char>(bytes[at]);
  const size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return is_valid_utf8(bytes.substr(at, size)) ? size : 0;
}

std::string with_replacements(std::string_view bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size();) {
    if (const size_t size = valid_size(bytes, at); size > 0) {
      out.append(bytes.substr(at, size));
      at += size;
    } else {
      out += kReplacement;
      at += invalid_size(bytes, at);
    }
  }
  return out;
}

class ByteLevel : public Decoder {
 public:
  explicit ByteLevel(Fields& fields) {
    // Settings of the pre-tokenizer of this type.
    fields.flag("add_prefix_space");
    fields.flag("trim_offsets");
    fields.flag_or("use_regex", true);
  }
  void apply(std::vector<std::string>& tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) {
      append_bytes(token, bytes);
    }
    tokens = {is_valid_utf8(bytes) ? bytes : with_replacements(bytes)};
  }

 private:
  static void append_bytes(const std::string& token, std::string& bytes) {
    const size_t before = bytes.size();
    for (size_t at = 0; at < token.size();) {
      const int byte = byte_of_character(next_character(token, at));
      if (byte < 0) {  // an added token
        bytes.resize(before);
        bytes += token;
        return;
      }
      bytes.push_back(static_cast<char>(byte));
    }
  }
};

class WordPiece : public Decoder {
 public:
  explicit WordPiece(Fields& fields) : prefix_(fields.text("prefix")), cleans_(fields.flag("cleanup")) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i].starts_with(prefix_)) {
        tokens[i].erase(0, prefix_.size());
      } else if (i > 0) {
        tokens[i].insert(0, " ");
      }
      if (cleans_) {
        clean_up(tokens[i]);
      }
    }
  }

 private:
  std::string prefix_;
  bool cleans_;
};

class Metaspace : public Decoder {
 public:
  explicit Metaspace(Fields& fields)
      : replacement_(fields.character("replacement")),
        prepends_(prepend_scheme(fields) != PrependScheme::kNever) {
    fields.flag_or("split", true);  // for the pre-tokenizer of this type
    fields.find("str_rep");
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i) {
      std::u32string text = to_characters(tokens[i]);
      if (i == 0 && prepends_) {
        text.erase(std::remove(text.begin(), text.end(), replacement_), text.end());
      }
      std::replace(text.begin(), text.end(), replacement_, U' ');
      tokens[i] = to_utf8(text);
    }
  }

 private:
  char32_t replacement_;
  bool prepends_;
};

class BpeDecoder : public Decoder {
 public:
  explicit BpeDecoder(Fields& fields) : suffix_(fields.text("suffix")) {
    if (suffix_.empty()) {
      fail_unsupported(fields.place_of("suffix"), "an empty suffix is not supported");
    }
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
    }
  }

 private:
  std::string suffix_;
};

class ByteFallback : public Decoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::vector<std::string> out;
    std::string bytes;
    const auto end_bytes = [&] {
      if (is_valid_utf8(bytes)) {
        if (!bytes.empty()) {
          out.push_back(bytes);
        }
      } else {
        out.insert(out.end(), bytes.size(), std::string(kReplacement));
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const int byte = byte_of_token(token); byte >= 0) {
        bytes.push_back(static_cast<char>(byte));
      } else {
        end_bytes();
        out.push_back(std::move(token));
      }
    }
    end_bytes();
    tokens = std::move(out);
  }

 private:
  // Of <0x00> to <0xFF>; -1 for other tokens. As in Rust, a plus sign may precede one digit.
  static int byte_of_token(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) {
      return -1;
    }
    std::string digits(token.substr(3, 2));
    if (digits[0] == '+') {
      digits.erase(0, 1);
    }
    const bool is_hex = std::all_of(digits.begin(), digits.end(),
                                    [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
    return is_hex ? std::stoi(digits, nullptr, 16) : -1;
  }
};

class Fuse : public Decoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::string joined;
    for (const std::string& token : tokens) {
      joined += token;
    }
    tokens = {joined};
  }
};

class Strip : public Decoder {
 public:
  explicit Strip(Fields& fields)
      : content_(fields.character("content")), start_(fields.count("start")), stop_(fields.count("stop")) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      const std::u32string text = to_characters(token);
      size_t first = 0, last = text.size();
      while (first < std::min<size_t>(start_, text.size()) && text[first] == content_) {
        ++first;
      }
      for (uint64_t i = 0; i < stop_ && last > first && text[last - 1] == content_; ++i) {
        --last;
      }
      token = to_utf8(text.substr(first, last - first));
    }
  }

 private:
  char32_t content_;
  uint64_t start_, stop_;
};

class Replace : public Decoder {
 public:
  explicit Replace(Fields& fields)
      : pattern_(Pattern::of_field(fields.at("pattern"), fields.place_of("pattern"))),
        content_(fields.text("content")) {}
  void apply(std::vector<std::string>& tokens) const override {
    std::vector<Match> matches;
    for (std::string& token : tokens) {
      matches.clear();
      pattern_.find_all(token, matches);
      std::string out;
      for (const Match& match : matches) {
        out += match.is_match ? content_ : token.substr(match.begin, match.end - match.begin);
      }
      token = std::move(out);
    }
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Ctc : public Decoder {
 public:
  explicit Ctc(Fields& fields)
      : pad_(fields.text("pad_token")),
        delimiter_(fields.text("word_delimiter_token")),
        cleans_(fields.flag("cleanup")) {
    if (pad_.empty() || delimiter_.empty()) {
      fail_unsupported(fields.place(), "empty tokens are not supported");
    }
  }
  void apply(std::vector<std::string>& tokens) const override {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      replace_all(token, pad_, "");
      if (cleans_) {
        clean_up(token);
        replace_all(token, delimiter_, " ");
      }
    }
  }

 private:
  std::string pad_, delimiter_;
  bool cleans_;
};

class Sequence : public Decoder {
 public:
  explicit Sequence(Fields& fields) {
    const std::string place = fields.place_of("decoders");
    for (const Json& part : fields.array("decoders").GetArray()) {
      parts_.push_back(read_decoder(part, place + "[" + std::to_string(parts_.size()) + "]"));
    }
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (const auto& part : parts_) {
      part->apply(tokens);
    }
  }

 private:
  std::vector<std::unique_ptr<const Decoder>> parts_;
};

template <class Type>
std::unique_ptr<const Decoder> make(Fields& fields) {
  return std::make_unique<Type>(fields);
}

std::unique_ptr<const Decoder> decoder_of(Fields& fields) {
  using Maker = std::unique_ptr<const Decoder> (*)(Fields&);
  constexpr std::pair<std::string_view, Maker> kMakers[] = {
      {"ByteLevel", make<ByteLevel>},
      {"WordPiece", make<WordPiece>},
      {"Metaspace", make<Metaspace>},
      {"BPEDecoder", make<BpeDecoder>},
      {"Strip", make<Strip>},
      {"Replace", make<Replace>},
      {"CTC", make<Ctc>},
      {"Sequence", make<Sequence>},
  };
  const std::string type = fields.text("type");
  if (type == "ByteFallback") {
    return std::make_unique<ByteFallback>();
  }
  if (type == "Fuse") {
    return std::make_unique<Fuse>();
  }
  const auto* found = std::find_if(std::begin(kMakers), std::end(kMakers),
                                   [&](const auto& row) { return row.first == type; });
  if (found == std::end(kMakers)) {
    fail_unsupported(fields.place_of("type"), "the decoder '" + type + "' is not supported");
  }
  return found->second(fields);
}

}  // namespace
}  // namespace decoders

std::unique_ptr<const Decoder> read_decoder(const Json& value, const std::string& place) {
  Fields fields(value, place);
  auto decoder = decoders::decoder_of(fields);
  fields.finish();
  return decoder;
}

}  // namespace spl::tokenizers
