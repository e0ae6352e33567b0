// Tokens that are found in the text before the model runs: special tokens, and others that were added.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/tokenizers/fields.h"
#include "host/tokenizers/model.h"
#include "host/tokenizers/normalizers.h"
#include "host/tokenizers/number_map.h"
#include "host/tokenizers/pieces.h"

namespace spl::tokenizers {

struct AddedToken {
  std::string content;
  uint32_t id = 0;
  bool is_single_word = false, strips_left = false, strips_right = false;
  bool is_normalized = true, is_special = false;
  /// What id_to_token returns: the content after the normalizer for tokens that are matched after it.
  std::string shown;
};

/// Finds strings in a text: at each place the longest, from left to right.
class StringFinder {
 public:
  /// `value` is what matches report. Strings are not empty.
  void add(std::string_view text, uint32_t value);
  bool empty() const { return ends_.size() == 1; }
  struct Found {
    size_t begin, end;
    uint32_t value;
  };
  std::optional<Found> next(std::string_view text, size_t from) const;
  bool contains(std::string_view text) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  NumberMap<uint32_t> children_;
  std::vector<uint32_t> ends_{kNone};  // the value of each node
  bool starts_[256] = {};
};

class AddedTokens {
 public:
  /// Tokens of the file's list; null for none. Numbers must be those that Python's library would choose.
  AddedTokens(const Json* list, const Model& model, const Normalizer* normalizer, const std::string& place);

  const AddedToken& at(size_t index) const { return tokens_[index]; }
  const AddedToken* find(std::string_view content) const;
  const AddedToken* find_id(uint32_t id) const;
  bool is_special(const std::string& text) const { return special_.contains(text); }
  const std::vector<AddedToken>& tokens() const { return tokens_; }

  /// The input as pieces: added tokens, and normalized text between them.
  Pieces extract(std::string_view input, const Normalizer* normalizer, bool encodes_special_tokens) const;

 private:
  void read_token(const Json& value, const Model& model, const Normalizer* normalizer,
                  const std::string& place);
  void split(Pieces& pieces, const Piece& piece, const StringFinder& finder,
             bool encodes_special_tokens) const;

  uint32_t next_id_ = 0;  // of the next token that the model does not have
  std::vector<AddedToken> tokens_;
  std::unordered_map<std::string, uint32_t> by_content_;
  std::unordered_map<uint32_t, uint32_t> by_id_;
  std::unordered_set<std::string> special_;
  StringFinder before_, after_;  // of tokens to find before and after the normalizer
};

}  // namespace spl::tokenizers
