// Changes of aligned text follow NormalizedString of Hugging Face's library.
#include "host/tokenizers/aligned_text.h"

#include <algorithm>

#include "host/syntax/utf8.h"

namespace spl::tokenizers {

AlignedText::AlignedText(std::string_view part, uint32_t begin) : begin_(begin) {
  text_.reserve(part.size());
  origins_.reserve(part.size());
  for (size_t at = 0; at < part.size();) {
    const auto start = static_cast<uint32_t>(at);
    text_.push_back(next_character(part, at));
    origins_.push_back({begin + start, begin + static_cast<uint32_t>(at)});
  }
}

void AlignedText::change(const std::vector<Change>& changes) {
  std::u32string text;
  std::vector<Span> origins;
  text.reserve(changes.size());
  origins.reserve(changes.size());
  size_t next = 0;
  for (const Change& change : changes) {
    text.push_back(change.code);
    if (change.change > 0) {
      origins.push_back(next == 0 ? Span{begin_, begin_} : origins_[next - 1]);
      continue;
    }
    origins.push_back(origins_[next]);
    next += 1 + static_cast<size_t>(-change.change);
  }
  text_ = std::move(text);
  origins_ = std::move(origins);
}

void AlignedText::keep_if(const std::function<bool(char32_t)>& is_kept) {
  size_t kept = 0;
  for (size_t i = 0; i < text_.size(); ++i) {
    if (is_kept(text_[i])) {
      text_[kept] = text_[i];
      origins_[kept] = origins_[i];
      ++kept;
    }
  }
  text_.resize(kept);
  origins_.resize(kept);
}

void AlignedText::lowercase() {
  std::u32string text;
  std::vector<Span> origins;
  text.reserve(text_.size());
  origins.reserve(text_.size());
  for (size_t i = 0; i < text_.size(); ++i) {
    append_lowercase(text_[i], text);
    origins.resize(text.size(), origins_[i]);
  }
  text_ = std::move(text);
  origins_ = std::move(origins);
}

void AlignedText::prepend(const std::u32string& prefix) {
  if (!text_.empty()) {
    origins_.insert(origins_.begin(), prefix.size(), origins_.front());
    text_.insert(0, prefix);
  }
}

void AlignedText::strip(bool left, bool right) {
  const auto is_text = [](char32_t c) { return !is_white_space(c); };
  const auto first = left ? std::find_if(text_.begin(), text_.end(), is_text) - text_.begin() : 0;
  text_.erase(0, static_cast<size_t>(first));
  origins_.erase(origins_.begin(), origins_.begin() + first);
  if (right) {
    const auto last = std::find_if(text_.rbegin(), text_.rend(), is_text);
    text_.erase(last.base(), text_.end());
    origins_.resize(text_.size());
  }
}

void AlignedText::replace(const std::vector<Replacement>& places, const std::u32string& content) {
  std::u32string text;
  std::vector<Span> origins;
  size_t done = 0;
  const auto copy_to = [&](size_t end) {
    text.append(text_, done, end - done);
    origins.insert(origins.end(), origins_.begin() + static_cast<ptrdiff_t>(done),
                   origins_.begin() + static_cast<ptrdiff_t>(end));
  };
  for (const Replacement& place : places) {
    copy_to(place.from);
    text += content;
    origins.resize(text.size(), origins_[place.to - 1]);
    done = place.to;
  }
  copy_to(text_.size());
  text_ = std::move(text);
  origins_ = std::move(origins);
}

Buffer::Buffer(const AlignedText& text) : text_(to_utf8(text.text_)), begin_(text.begin_) {
  origins_.reserve(text_.size());
  for (size_t i = 0; i < text.text_.size(); ++i) {
    origins_.insert(origins_.end(), utf8_size(text.text_[i]), text.origins_[i]);
  }
}

Span Buffer::origin(size_t from, size_t to) const {
  if (!origins_.empty()) {
    return {origins_[from].begin, origins_[to - 1].end};
  }
  // A byte inside a character stands for the whole character.
  const auto is_inside = [&](size_t at) {
    return at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xc0U) == 0x80U;
  };
  while (is_inside(from)) {
    --from;
  }
  while (is_inside(to)) {
    ++to;
  }
  return {begin_ + static_cast<uint32_t>(from), begin_ + static_cast<uint32_t>(to)};
}

AlignedText Buffer::part(size_t from, size_t to) const {
  const std::string_view part = std::string_view(text_).substr(from, to - from);
  AlignedText out(part, begin_ + static_cast<uint32_t>(from));
  if (!origins_.empty()) {
    out.begin_ = origins_[from].begin;
    size_t at = 0;
    for (Span& origin : out.origins_) {
      origin = origins_[from + at];
      next_character(part, at);
    }
  }
  return out;
}

std::u32string to_characters(std::string_view text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) {
    out.push_back(next_character(text, at));
  }
  return out;
}

std::string to_utf8(const std::u32string& text) {
  std::string out;
  out.reserve(text.size());
  for (const char32_t c : text) {
    append_utf8(out, c);
  }
  return out;
}

}  // namespace spl::tokenizers
