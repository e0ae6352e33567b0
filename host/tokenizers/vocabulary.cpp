#include "host/tokenizers/vocabulary.h"

#include <utility>

namespace spl::tokenizers {

Vocabulary::Vocabulary(const Json& object, const std::string& place) {
  reserve(object.MemberCount());
  for (const auto& member : object.GetObject()) {
    const std::string text(text_of(member.name));
    const uint32_t id =
        member.value.IsUint() ? member.value.GetUint() : id_of(member.value, item_place(place, text));
    const auto index = static_cast<uint32_t>(tokens_.size());
    tokens_.push_back({text, id});
    if (!by_text_.emplace(tokens_.back().text, index).second) {
      fail_broken(place, "duplicate token '" + text + "'");
    }
    const auto [other, is_new] = by_id_.emplace(id, index);
    if (!is_new) {
      fail_broken(place, "tokens '" + tokens_[other->second].text + "' and '" + text +
                             "' have the same number " + std::to_string(id));
    }
  }
}

Vocabulary::Vocabulary(std::vector<std::string> texts) {
  reserve(texts.size());
  for (uint32_t id = 0; id < texts.size(); ++id) {
    tokens_.push_back({std::move(texts[id]), id});
    by_text_[tokens_.back().text] = id;
    by_id_.emplace(id, id);
  }
}

void Vocabulary::reserve(size_t count) {
  tokens_.reserve(count);
  by_text_.reserve(count);
  by_id_.reserve(count);
}

std::optional<uint32_t> Vocabulary::find(std::string_view text) const {
  const auto found = by_text_.find(text);
  return found == by_text_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<uint32_t> Vocabulary::find_id(uint32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace spl::tokenizers
