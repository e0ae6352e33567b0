// The model of a tokenizer.json: it encodes one piece of text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/tokenizers/vocabulary.h"

namespace spl::tokenizers {

/// A token of a piece: its position in the vocabulary, and the bytes of the piece that it stands for.
struct ModelToken {
  uint32_t index, begin, end;
  bool is_text = false;  // its string is these bytes of the piece, which are unknown
};

/// The tokens of pieces that occurred before. One thread uses it at a time.
using TokenCache = std::unordered_map<std::string, std::vector<ModelToken>>;

class Model {
 public:
  virtual ~Model() = default;
  /// Appends the tokens of the piece, which is not empty. If `is_bytes`, they are those of the characters of
  /// its bytes.
  virtual void encode(std::string_view piece, bool is_bytes, TokenCache& cache,
                      std::vector<ModelToken>& out) const = 0;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit Model(Fields& fields) : vocabulary_(fields.object("vocab"), fields.place_of("vocab")) {}
  /// The tokens in the order of their numbers.
  explicit Model(std::vector<std::string> tokens) : vocabulary_(std::move(tokens)) {}
  Vocabulary vocabulary_;
};

std::unique_ptr<const Model> read_model(const Json& value, const std::string& place);

std::unique_ptr<const Model> make_word_piece(Fields& fields);
std::unique_ptr<const Model> make_word_level(Fields& fields);
std::unique_ptr<const Model> make_bpe(Fields& fields);
std::unique_ptr<const Model> make_unigram(Fields& fields);

}  // namespace spl::tokenizers
