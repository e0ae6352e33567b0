#include "host/tokenizers/encoding.h"

#include <algorithm>

#include "host/tokenizers/error.h"

namespace spl::tokenizers {
namespace {

template <class Item>
void append_all(std::vector<Item>& to, const std::vector<Item>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

template <class Item>
std::vector<Item> slice(const std::vector<Item>& items, size_t from, size_t to) {
  return {items.begin() + static_cast<ptrdiff_t>(from), items.begin() + static_cast<ptrdiff_t>(to)};
}

template <class Item>
void fill(std::vector<Item>& items, size_t count, Item value, Direction direction) {
  items.insert(direction == Direction::kLeft ? items.begin() : items.end(), count, value);
}

/// The parts of `size` tokens, each of `max_length` and the last of fewer, which overlap by `stride`.
std::vector<Span> parts_of(size_t size, size_t max_length, size_t stride, Direction direction) {
  std::vector<Span> parts;
  const size_t step = max_length - stride;
  if (direction == Direction::kRight) {
    for (size_t start = 0; start < size; start += step) {
      const size_t stop = std::min(start + max_length, size);
      parts.push_back({static_cast<uint32_t>(start), static_cast<uint32_t>(stop)});
      if (stop == size) {
        break;
      }
    }
    return parts;
  }
  for (size_t stop = size; stop > 0; stop = stop > step ? stop - step : 0) {
    const size_t start = stop > max_length ? stop - max_length : 0;
    parts.push_back({static_cast<uint32_t>(start), static_cast<uint32_t>(stop)});
    if (start == 0) {
      break;
    }
  }
  return parts;
}

void truncate_one(Encoding& encoding, size_t max_length, const Truncation& settings) {
  if (max_length >= encoding.size()) {
    return;
  }
  if (max_length == 0) {
    Encoding empty;
    empty.overflowing.push_back(std::move(encoding));
    encoding = std::move(empty);
    return;
  }
  if (settings.stride >= max_length) {
    throw Error(ErrorKind::kInvalidArgument,
                "truncation: stride must be less than the length without special tokens, got " +
                    std::to_string(settings.stride) + " and " + std::to_string(max_length));
  }
  const std::vector<Span> parts = parts_of(encoding.size(), max_length, settings.stride, settings.direction);
  Encoding first = encoding.part(parts[0].begin, parts[0].end);
  for (size_t i = 1; i < parts.size(); ++i) {
    first.overflowing.push_back(encoding.part(parts[i].begin, parts[i].end));
  }
  encoding = std::move(first);
}

void truncate_longest(Encoding& first, Encoding& second, const Truncation& settings, size_t max_length) {
  size_t shorter = first.size(), longer = second.size();
  const bool is_swapped = shorter > longer;
  if (is_swapped) {
    std::swap(shorter, longer);
  }
  longer = shorter > max_length ? shorter : std::max(shorter, max_length - shorter);
  if (shorter + longer > max_length) {
    shorter = max_length / 2;
    longer = shorter + max_length % 2;
  }
  truncate_one(first, is_swapped ? longer : shorter, settings);
  truncate_one(second, is_swapped ? shorter : longer, settings);
}

}  // namespace

void Encoding::add(uint32_t id, uint32_t type_id, const std::string* token, int64_t word, Span offset,
                   bool is_special) {
  ids.push_back(id);
  type_ids.push_back(type_id);
  tokens.push_back(token);
  words.push_back(word);
  offsets.push_back(offset);
  special_tokens_mask.push_back(is_special ? 1 : 0);
  attention_mask.push_back(1);
}

void Encoding::set_sequence(size_t sequence) {
  sequence_ranges.at(sequence) = {0, static_cast<uint32_t>(size())};
  has_range.at(sequence) = true;
}

void Encoding::set_type_ids(uint32_t type_id) { type_ids.assign(size(), type_id); }

void Encoding::append(const Encoding& other) {
  std::vector<Encoding> overflow;
  const auto add_joined = [&](Encoding left, const Encoding& right) {
    left.append(right);
    overflow.push_back(std::move(left));
  };
  for (const Encoding& own : overflowing) {
    add_joined(own, other);
    for (const Encoding& others : other.overflowing) {
      add_joined(own, others);
    }
  }
  for (const Encoding& others : other.overflowing) {
    add_joined(*this, others);
  }
  const auto before = static_cast<uint32_t>(size());
  for (size_t i = 0; i < 2; ++i) {
    if (other.has_range.at(i)) {
      has_range.at(i) = true;
      sequence_ranges.at(i) = {before + other.sequence_ranges.at(i).begin,
                               before + other.sequence_ranges.at(i).end};
    }
  }
  append_all(ids, other.ids);
  append_all(type_ids, other.type_ids);
  append_all(tokens, other.tokens);
  append_all(words, other.words);
  append_all(offsets, other.offsets);
  append_all(special_tokens_mask, other.special_tokens_mask);
  append_all(attention_mask, other.attention_mask);
  own_strings = own_strings != nullptr ? own_strings : other.own_strings;
  overflowing = std::move(overflow);
}

Encoding Encoding::part(size_t from, size_t to) const {
  Encoding out;
  out.ids = slice(ids, from, to);
  out.type_ids = slice(type_ids, from, to);
  out.tokens = slice(tokens, from, to);
  out.words = slice(words, from, to);
  out.offsets = slice(offsets, from, to);
  out.special_tokens_mask = slice(special_tokens_mask, from, to);
  out.attention_mask = slice(attention_mask, from, to);
  out.own_strings = own_strings;
  return out;
}

std::vector<int64_t> Encoding::sequence_ids() const {
  std::vector<int64_t> out(size(), has_range[0] || has_range[1] ? -1 : 0);
  for (size_t i = 0; i < 2; ++i) {
    if (has_range.at(i)) {
      std::fill(out.begin() + sequence_ranges.at(i).begin, out.begin() + sequence_ranges.at(i).end,
                static_cast<int64_t>(i));
    }
  }
  return out;
}

void truncate(Encoding& encoding, Encoding* pair, const Truncation& settings, size_t max_length) {
  const size_t total = encoding.size() + (pair == nullptr ? 0 : pair->size());
  if (max_length != 0 && total <= max_length) {
    return;
  }
  if (max_length == 0) {
    truncate_one(encoding, 0, settings);
    if (pair != nullptr) {
      truncate_one(*pair, 0, settings);
    }
    return;
  }
  if (settings.strategy == TruncationStrategy::kLongestFirst) {
    if (pair == nullptr) {
      truncate_one(encoding, max_length, settings);
    } else {
      truncate_longest(encoding, *pair, settings, max_length);
    }
    return;
  }
  const bool cuts_first = settings.strategy == TruncationStrategy::kOnlyFirst;
  if (!cuts_first && pair == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, "Truncation error: Second sequence not provided");
  }
  Encoding& target = cuts_first ? encoding : *pair;
  const size_t removed = total - max_length;
  if (target.size() <= removed) {
    throw Error(ErrorKind::kInvalidArgument,
                "Truncation error: Sequence to truncate too short to respect the provided max_length");
  }
  truncate_one(target, target.size() - removed, settings);
}

size_t padded_length(const std::vector<Encoding>& encodings, const Padding& settings) {
  size_t length = settings.length;
  if (!settings.is_fixed) {
    length = 0;
    for (const Encoding& encoding : encodings) {
      length = std::max(length, encoding.size());
    }
  }
  const size_t excess = settings.multiple == 0 ? 0 : length % settings.multiple;
  return excess == 0 ? length : length + settings.multiple - excess;
}

void pad(Encoding& encoding, size_t length, const Padding& settings) {
  for (Encoding& overflow : encoding.overflowing) {
    pad(overflow, length, settings);
  }
  if (encoding.size() >= length) {
    return;
  }
  if (encoding.own_strings == nullptr) {
    encoding.own_strings = std::make_shared<std::deque<std::string>>();
  }
  encoding.own_strings->push_back(settings.pad_token);
  const std::string* const token = &encoding.own_strings->back();
  const size_t count = length - encoding.size();
  const Direction direction = settings.direction;
  fill(encoding.ids, count, settings.pad_id, direction);
  fill(encoding.type_ids, count, settings.pad_type_id, direction);
  fill(encoding.tokens, count, token, direction);
  fill(encoding.words, count, Encoding::kNoWord, direction);
  fill(encoding.offsets, count, Span{}, direction);
  fill(encoding.special_tokens_mask, count, uint8_t{1}, direction);
  fill(encoding.attention_mask, count, uint8_t{0}, direction);
  if (direction == Direction::kLeft) {
    for (Span& range : encoding.sequence_ranges) {
      range = {range.begin + static_cast<uint32_t>(count), range.end + static_cast<uint32_t>(count)};
    }
  }
}

}  // namespace spl::tokenizers
