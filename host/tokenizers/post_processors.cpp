#include "host/tokenizers/post_processors.h"

#include <algorithm>
#include <unordered_map>

#include "host/tokenizers/byte_characters.h"
#include "host/tokenizers/characters.h"

namespace spl::tokenizers {
namespace post_processors {
namespace {

/// A special token that a post-processor adds.
struct SpecialToken {
  std::vector<uint32_t> ids;
  std::vector<std::string> tokens;
  explicit SpecialToken(const NumberedToken& token) : ids{token.id}, tokens{token.token} {}
  SpecialToken(const Json& value, const std::string& place) {
    Fields fields(value, place);
    fields.text("id");
    for (const Json& id : fields.array("ids").GetArray()) {
      ids.push_back(id_of(id, fields.place_of("ids")));
    }
    for (const Json& token : fields.array("tokens").GetArray()) {
      if (!token.IsString()) {
        fail_broken(fields.place_of("tokens"), "expected a string, got " + described(token));
      }
      tokens.emplace_back(text_of(token));
    }
    fields.finish();
    if (ids.size() != tokens.size()) {
      fail_broken(place, "ids and tokens must be of the same length");
    }
  }
  Encoding encoding(uint32_t type_id) const {
    Encoding out;
    for (size_t i = 0; i < ids.size(); ++i) {
      out.add(ids[i], type_id, &tokens[i], Encoding::kNoWord, {}, true);
    }
    return out;
  }
};

bool is_space_of_token(char32_t c) { return c == character_of_byte(' ') || is_white_space(c); }

size_t count_leading_spaces(std::string_view token) {
  size_t count = 0;
  for (size_t at = 0; at < token.size() && is_space_of_token(next_character(token, at));) {
    ++count;
  }
  return count;
}

size_t count_trailing_spaces(std::string_view token) {
  size_t count = 0;
  while (!token.empty()) {
    size_t begin = token.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(token[begin]) & 0xc0U) == 0x80U) {
      --begin;
    }
    size_t at = begin;
    if (!is_space_of_token(next_character(token, at))) {
      break;
    }
    token = token.substr(0, begin);
    ++count;
  }
  return count;
}

/// Removes the spaces of byte-level tokens from their offsets, except the one that the pre-tokenizer added.
void trim_offsets(Encoding& encoding, bool adds_prefix_space) {
  for (size_t i = 0; i < encoding.size(); ++i) {
    const auto trailing = static_cast<uint32_t>(count_trailing_spaces(*encoding.tokens[i]));
    auto leading = static_cast<uint32_t>(count_leading_spaces(*encoding.tokens[i]));
    Span& offset = encoding.offsets[i];
    if (leading > 0) {
      const bool is_first = i == 0 || offset.begin == 0;
      leading = is_first && adds_prefix_space && leading == 1 ? 0 : leading;
      offset.begin = std::min(offset.begin + leading, offset.end);
    }
    if (trailing > 0 && offset.end >= trailing) {
      offset.end = std::max(offset.end - trailing, offset.begin);
    }
  }
  for (Encoding& overflow : encoding.overflowing) {
    trim_offsets(overflow, adds_prefix_space);
  }
}

/// Puts the encoding and its overflow between special tokens; `before` may be null.
Encoding between(const SpecialToken* before, const Encoding& encoding, const SpecialToken& after,
                 uint32_t type_id, size_t sequence) {
  Encoding bare = encoding;
  bare.overflowing.clear();
  bare.has_range = {};
  std::fill(bare.special_tokens_mask.begin(), bare.special_tokens_mask.end(), uint8_t{0});
  std::fill(bare.attention_mask.begin(), bare.attention_mask.end(), uint8_t{1});
  bare.set_sequence(sequence);
  Encoding out;
  if (before != nullptr) {
    out.append(before->encoding(type_id));
  }
  out.append(bare);
  out.append(after.encoding(type_id));
  for (const Encoding& overflow : encoding.overflowing) {
    out.overflowing.push_back(between(before, overflow, after, type_id, sequence));
  }
  return out;
}

class BertProcessing : public PostProcessor {
 public:
  explicit BertProcessing(Fields& fields)
      : sep_(numbered_token(fields.at("sep"), fields.place_of("sep"))),
        cls_(numbered_token(fields.at("cls"), fields.place_of("cls"))) {}
  size_t added_tokens(bool is_pair) const override { return is_pair ? 3 : 2; }
  void apply(std::vector<Encoding>& encodings, bool adds_special_tokens) const override {
    for (size_t i = 0; adds_special_tokens && i < encodings.size(); ++i) {
      encodings[i] = between(i == 0 ? &cls_ : nullptr, encodings[i], sep_, i == 0 ? 0 : 1, i == 0 ? 0 : 1);
    }
  }

 private:
  SpecialToken sep_, cls_;
};

class RobertaProcessing : public PostProcessor {
 public:
  explicit RobertaProcessing(Fields& fields)
      : sep_(numbered_token(fields.at("sep"), fields.place_of("sep"))),
        cls_(numbered_token(fields.at("cls"), fields.place_of("cls"))),
        trims_(fields.flag("trim_offsets")),
        adds_prefix_space_(fields.flag("add_prefix_space")) {}
  size_t added_tokens(bool is_pair) const override { return is_pair ? 4 : 2; }
  void apply(std::vector<Encoding>& encodings, bool adds_special_tokens) const override {
    for (size_t i = 0; i < encodings.size(); ++i) {
      if (trims_) {
        trim_offsets(encodings[i], adds_prefix_space_);
      }
      encodings[i].set_type_ids(0);
      if (adds_special_tokens) {
        for (Encoding& overflow : encodings[i].overflowing) {
          overflow.set_type_ids(0);
        }
        encodings[i] = between(i == 0 ? &cls_ : &sep_, encodings[i], sep_, 0, i == 0 ? 0 : 1);
      }
    }
  }

 private:
  SpecialToken sep_, cls_;
  bool trims_, adds_prefix_space_;
};

class ByteLevel : public PostProcessor {
 public:
  explicit ByteLevel(Fields& fields)
      : adds_prefix_space_(fields.flag("add_prefix_space")), trims_(fields.flag("trim_offsets")) {
    fields.flag_or("use_regex", true);  // for the pre-tokenizer of this type
  }
  size_t added_tokens(bool) const override { return 0; }
  void apply(std::vector<Encoding>& encodings, bool) const override {
    for (size_t i = 0; i < encodings.size(); ++i) {
      if (trims_) {
        trim_offsets(encodings[i], adds_prefix_space_);
      }
      encodings[i].set_sequence(std::min<size_t>(i, 1));
    }
  }

 private:
  bool adds_prefix_space_, trims_;
};

class TemplateProcessing : public PostProcessor {
 public:
  explicit TemplateProcessing(Fields& fields) {
    const std::string place = fields.place_of("special_tokens");
    for (const auto& member : fields.object("special_tokens").GetObject()) {
      const std::string name(text_of(member.name));
      special_tokens_.insert_or_assign(name, SpecialToken(member.value, item_place(place, name)));
    }
    single_ = template_of(fields, "single");
    pair_ = template_of(fields, "pair");
    if (std::any_of(single_.begin(), single_.end(), [](const Part& part) { return part.sequence == 1; })) {
      fail_broken(fields.place_of("single"), "the template of one text must not use sequence B");
    }
  }

  size_t added_tokens(bool is_pair) const override {
    size_t count = 0;
    for (const Part& part : is_pair ? pair_ : single_) {
      count += part.token == nullptr ? 0 : part.token->ids.size();
    }
    return count;
  }

  bool divides() const override { return true; }
  void apply(std::vector<Encoding>& encodings, bool adds_special_tokens) const override {
    std::vector<Encoding> out;
    for (const Part& part : encodings.size() == 2 ? pair_ : single_) {
      if (part.token == nullptr) {
        Encoding& encoding = encodings[part.sequence];
        encoding.set_type_ids(part.type_id);
        encoding.set_sequence(part.sequence);
        out.push_back(encoding);
      } else if (adds_special_tokens) {
        out.push_back(part.token->encoding(part.type_id));
      }
    }
    encodings = std::move(out);
  }

 private:
  /// A text, or a special token.
  struct Part {
    size_t sequence = 0;
    const SpecialToken* token = nullptr;
    uint32_t type_id = 0;
  };

  std::vector<Part> template_of(Fields& fields, const char* name) const {
    std::vector<Part> parts;
    for (const Json& value : fields.array(name).GetArray()) {
      parts.push_back(part_of(value, fields.place_of(name) + "[" + std::to_string(parts.size()) + "]"));
    }
    return parts;
  }

  Part part_of(const Json& value, const std::string& place) const {
    Fields outer(value, place);
    const bool is_token = outer.find("SpecialToken") != nullptr;
    const char* const name = is_token ? "SpecialToken" : "Sequence";
    Fields fields(outer.at(name), outer.place_of(name));
    Part part;
    if (is_token) {
      const std::string id = fields.text("id");
      const auto found = special_tokens_.find(id);
      if (found == special_tokens_.end()) {
        fail_broken(fields.place_of("id"), "no special token '" + id + "' in special_tokens");
      }
      part.token = &found->second;
    } else {
      part.sequence = fields.choice("id", {"A", "B"});
    }
    part.type_id = static_cast<uint32_t>(fields.count("type_id"));
    fields.finish();
    outer.finish();
    return part;
  }

  std::unordered_map<std::string, SpecialToken> special_tokens_;
  std::vector<Part> single_, pair_;
};

class Sequence : public PostProcessor {
 public:
  explicit Sequence(Fields& fields) {
    const std::string place = fields.place_of("processors");
    for (const Json& part : fields.array("processors").GetArray()) {
      if (!parts_.empty() && parts_.back()->divides()) {
        fail_unsupported(place, "a processor after TemplateProcessing is not supported");
      }
      parts_.push_back(read_post_processor(part, place + "[" + std::to_string(parts_.size()) + "]"));
    }
  }
  bool divides() const override { return !parts_.empty() && parts_.back()->divides(); }
  size_t added_tokens(bool is_pair) const override {
    size_t count = 0;
    for (const auto& part : parts_) {
      count += part->added_tokens(is_pair);
    }
    return count;
  }
  void apply(std::vector<Encoding>& encodings, bool adds_special_tokens) const override {
    for (const auto& part : parts_) {
      part->apply(encodings, adds_special_tokens);
    }
  }

 private:
  std::vector<std::unique_ptr<const PostProcessor>> parts_;
};

std::unique_ptr<const PostProcessor> post_processor_of(Fields& fields) {
  const std::string type = fields.text("type");
  if (type == "BertProcessing") {
    return std::make_unique<BertProcessing>(fields);
  }
  if (type == "RobertaProcessing") {
    return std::make_unique<RobertaProcessing>(fields);
  }
  if (type == "ByteLevel") {
    return std::make_unique<ByteLevel>(fields);
  }
  if (type == "TemplateProcessing") {
    return std::make_unique<TemplateProcessing>(fields);
  }
  if (type == "Sequence") {
    return std::make_unique<Sequence>(fields);
  }
  fail_unsupported(fields.place_of("type"), "the post-processor '" + type + "' is not supported");
}

}  // namespace
}  // namespace post_processors

std::unique_ptr<const PostProcessor> read_post_processor(const Json& value, const std::string& place) {
  Fields fields(value, place);
  auto processor = post_processors::post_processor_of(fields);
  fields.finish();
  return processor;
}

Encoding post_process(const PostProcessor* processor, std::vector<Encoding> encodings,
                      bool adds_special_tokens) {
  if (processor == nullptr && encodings.size() == 1) {
    return std::move(encodings.front());
  }
  for (size_t i = 0; i < encodings.size(); ++i) {
    encodings[i].set_sequence(i);
    if (processor != nullptr) {
      encodings[i].set_type_ids(static_cast<uint32_t>(i));
      for (Encoding& overflow : encodings[i].overflowing) {
        overflow.set_sequence(i);
      }
    }
  }
  if (processor != nullptr) {
    processor->apply(encodings, adds_special_tokens);
  }
  if (encodings.size() == 1) {
    return std::move(encodings.front());
  }
  Encoding joined;
  for (const Encoding& encoding : encodings) {
    joined.append(encoding);
  }
  return joined;
}

}  // namespace spl::tokenizers
