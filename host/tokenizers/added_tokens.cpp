#include "host/tokenizers/added_tokens.h"

#include <algorithm>

#include "host/tokenizers/characters.h"

namespace spl::tokenizers {
namespace {

uint64_t key_of(uint32_t node, char c) { return uint64_t{node} << 8U | static_cast<unsigned char>(c); }

/// The character that ends at byte `end`.
char32_t character_before(std::string_view text, size_t end, size_t& begin) {
  begin = end - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0U) == 0x80U) {
    --begin;
  }
  size_t at = begin;
  return next_character(text, at);
}

bool ends_with_word(std::string_view text) {
  size_t begin = 0;
  return !text.empty() && is_word_character(character_before(text, text.size(), begin));
}

bool starts_with_word(std::string_view text) {
  size_t at = 0;
  return !text.empty() && is_word_character(next_character(text, at));
}

size_t without_spaces_before(std::string_view text, size_t end) {
  size_t begin = 0;
  while (end > 0 && is_white_space(character_before(text, end, begin))) {
    end = begin;
  }
  return end;
}

size_t behind_spaces(std::string_view text, size_t at) {
  size_t next = at;
  while (next < text.size() && is_white_space(next_character(text, next))) {
    at = next;
  }
  return at;
}

}  // namespace

void StringFinder::add(std::string_view text, uint32_t value) {
  starts_[static_cast<unsigned char>(text.front())] = true;
  uint32_t node = 0;
  for (const char c : text) {
    const uint32_t* next = children_.find(key_of(node, c));
    if (next != nullptr) {
      node = *next;
      continue;
    }
    children_.set(key_of(node, c), static_cast<uint32_t>(ends_.size()));
    node = static_cast<uint32_t>(ends_.size());
    ends_.push_back(kNone);
  }
  ends_[node] = value;
}

std::optional<StringFinder::Found> StringFinder::next(std::string_view text, size_t from) const {
  for (size_t begin = from; begin < text.size(); ++begin) {
    if (!starts_[static_cast<unsigned char>(text[begin])]) {
      continue;
    }
    std::optional<Found> longest;
    uint32_t node = 0;
    for (size_t at = begin; at < text.size(); ++at) {
      const uint32_t* next = children_.find(key_of(node, text[at]));
      if (next == nullptr) {
        break;
      }
      node = *next;
      if (ends_[node] != kNone) {
        longest = Found{begin, at + 1, ends_[node]};
      }
    }
    if (longest) {
      return longest;
    }
  }
  return std::nullopt;
}

bool StringFinder::contains(std::string_view text) const {
  uint32_t node = 0;
  for (const char c : text) {
    const uint32_t* next = children_.find(key_of(node, c));
    if (next == nullptr) {
      return false;
    }
    node = *next;
  }
  return ends_[node] != kNone;
}

AddedTokens::AddedTokens(const Json* list, const Model& model, const Normalizer* normalizer,
                         const std::string& place) {
  if (list == nullptr) {
    return;
  }
  if (!list->IsArray()) {
    fail_broken(place, "expected an array, got " + described(*list));
  }
  tokens_.reserve(list->Size());
  next_id_ = static_cast<uint32_t>(model.vocabulary().size());
  size_t index = 0;
  for (const Json& value : list->GetArray()) {
    read_token(value, model, normalizer, place + "[" + std::to_string(index++) + "]");
  }
  for (uint32_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    StringFinder& finder = token.is_normalized ? after_ : before_;
    if (token.shown.empty() || finder.contains(token.shown)) {
      fail_broken(place,
                  "after the normalizer, the token '" + token.content + "' is empty or equals another one");
    }
    finder.add(token.shown, i);
  }
}

void AddedTokens::read_token(const Json& value, const Model& model, const Normalizer* normalizer,
                             const std::string& place) {
  Fields fields(value, place);
  AddedToken token;
  token.id = static_cast<uint32_t>(fields.count("id"));
  token.content = fields.text("content");
  token.is_single_word = fields.flag("single_word");
  token.strips_left = fields.flag("lstrip");
  token.strips_right = fields.flag("rstrip");
  token.is_normalized = fields.flag("normalized");
  token.is_special = fields.flag("special");
  fields.finish();
  if (token.content.empty() || by_content_.contains(token.content)) {
    fail_broken(place, "the token '" + token.content + "' is empty or occurs twice");
  }
  const auto in_model = model.vocabulary().find(token.content);
  const uint32_t expected = in_model ? model.vocabulary().at(*in_model).id : next_id_++;
  if (token.id != expected || by_id_.contains(token.id)) {
    fail_broken(place, "the token '" + token.content + "' has the number " + std::to_string(token.id) +
                           ", but its number in the vocabulary is " + std::to_string(expected));
  }
  token.shown =
      token.is_normalized ? std::string(normalize(normalizer, token.content, 0).text()) : token.content;
  const auto index = static_cast<uint32_t>(tokens_.size());
  by_content_.emplace(token.content, index);
  by_id_.emplace(token.id, index);
  if (token.is_special) {
    special_.insert(token.content);
  }
  tokens_.push_back(std::move(token));
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = by_content_.find(std::string(content));
  return found == by_content_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::find_id(uint32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

Pieces AddedTokens::extract(std::string_view input, const Normalizer* normalizer,
                            bool encodes_special_tokens) const {
  Pieces raw;
  split(raw, raw.add(Buffer(std::string(input), 0)), before_, encodes_special_tokens);
  if (normalizer == nullptr && after_.empty()) {
    return raw;
  }
  Pieces out;
  for (const Piece& piece : raw.pieces) {
    const std::string_view text = raw.text(piece);
    if (piece.added >= 0) {
      Piece added = out.add(Buffer(std::string(text), piece.begin));
      added.added = piece.added;
      out.pieces.push_back(added);
    } else {
      split(out, out.add(normalize(normalizer, text, piece.begin)), after_, encodes_special_tokens);
    }
  }
  return out;
}

void AddedTokens::split(Pieces& pieces, const Piece& piece, const StringFinder& finder,
                        bool encodes_special_tokens) const {
  const std::string_view text = pieces.text(piece);
  size_t done = 0;
  const auto add = [&](size_t begin, size_t end, int32_t added) {
    if (begin < end) {
      pieces.pieces.push_back({piece.buffer, piece.begin + static_cast<uint32_t>(begin),
                               piece.begin + static_cast<uint32_t>(end), added});
    }
  };
  for (size_t from = 0; const auto found = finder.next(text, from);) {
    from = found->end;
    const AddedToken& token = tokens_[found->value];
    if (encodes_special_tokens && token.is_special) {
      continue;
    }
    size_t begin = found->begin, end = found->end;
    const bool is_part_of_word = ends_with_word(text.substr(0, begin)) || starts_with_word(text.substr(end));
    if (token.is_single_word && is_part_of_word) {
      continue;
    }
    if (token.strips_left) {
      begin = std::max(without_spaces_before(text, begin), done);
    }
    if (token.strips_right) {
      end = behind_spaces(text, end);
    }
    add(done, begin, -1);
    add(begin, end, static_cast<int32_t>(found->value));
    done = end;
  }
  add(done, text.size(), -1);
}

}  // namespace spl::tokenizers
