// The result of encoding a text, with the fields and the rules of Python's tokenizers.Encoding.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "host/tokenizers/aligned_text.h"

namespace spl::tokenizers {

/// Strings of one call that no vocabulary has, such as an added token with the spaces before it.
using OwnStrings = std::shared_ptr<std::deque<std::string>>;

struct Encoding {
  static constexpr int64_t kNoWord = -1;

  std::vector<uint32_t> ids, type_ids;
  std::vector<const std::string*> tokens;  // strings of the tokenizer or of own_strings
  std::vector<int64_t> words;
  std::vector<Span> offsets;  // in characters
  std::vector<uint8_t> special_tokens_mask, attention_mask;
  std::vector<Encoding> overflowing;
  /// The tokens of the first and the second text; has_range marks those that are known.
  std::array<Span, 2> sequence_ranges{};
  std::array<bool, 2> has_range{};
  OwnStrings own_strings;  // the same for all encodings of a call; null if they need none

  size_t size() const { return ids.size(); }
  void add(uint32_t id, uint32_t type_id, const std::string* token, int64_t word, Span offset,
           bool is_special);
  void set_sequence(size_t sequence);
  void set_type_ids(uint32_t type_id);
  void append(const Encoding& other);
  /// Copies of the tokens [from, to), without ranges and overflow.
  Encoding part(size_t from, size_t to) const;
  /// -1 for tokens of no text.
  std::vector<int64_t> sequence_ids() const;
};

enum class Direction { kLeft, kRight };
enum class TruncationStrategy { kLongestFirst, kOnlyFirst, kOnlySecond };

struct Truncation {
  Direction direction = Direction::kRight;
  size_t max_length = 512, stride = 0;
  TruncationStrategy strategy = TruncationStrategy::kLongestFirst;
};

struct Padding {
  Direction direction = Direction::kRight;
  size_t length = 0;  // 0 pads to the longest of a batch
  bool is_fixed = false;
  size_t multiple = 0;
  uint32_t pad_id = 0, pad_type_id = 0;
  std::string pad_token = "[PAD]";
};

/// `pair` may be null. `max_length` replaces that of the settings.
void truncate(Encoding& encoding, Encoding* pair, const Truncation& settings, size_t max_length);
/// The length to which these encodings are padded.
size_t padded_length(const std::vector<Encoding>& encodings, const Padding& settings);
void pad(Encoding& encoding, size_t length, const Padding& settings);

}  // namespace spl::tokenizers
