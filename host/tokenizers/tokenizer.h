// A tokenizer read from a tokenizer.json: equal to Python's tokenizers.Tokenizer.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/tokenizers/added_tokens.h"
#include "host/tokenizers/decoders.h"
#include "host/tokenizers/encoding.h"
#include "host/tokenizers/model.h"
#include "host/tokenizers/normalizers.h"
#include "host/tokenizers/post_processors.h"
#include "host/tokenizers/pre_tokenizers.h"

namespace spl::tokenizers {

/// A text, as a whole or in words.
struct Sequence {
  std::vector<std::string> parts;
  bool is_words = false;
};
struct Input {
  Sequence first;
  std::optional<Sequence> second;
};

/// Which text and which word tokens are of; with Encoding::kNoWord each piece of the text is a word.
struct Place {
  uint32_t type_id;
  int64_t word;
};

/// What a program may change.
struct Settings {
  std::optional<Truncation> truncation;
  std::optional<Padding> padding;
  bool encodes_special_tokens = false;
};

/// Does not change after it was read; several threads may use it.
class Tokenizer {
 public:
  /// The text of a tokenizer.json.
  static std::shared_ptr<const Tokenizer> parse(std::string document);

  const Settings& initial_settings() const { return settings_; }

  Encoding encode(const Input& input, bool adds_special_tokens, const Settings& settings) const;
  /// No value if `is_stopped`, which is called before each few inputs on any thread, returned true.
  std::optional<std::vector<Encoding>> encode_batch(const std::vector<Input>& inputs,
                                                    bool adds_special_tokens, const Settings& settings,
                                                    bool (*is_stopped)() = nullptr) const;
  std::string decode(const std::vector<uint32_t>& ids, bool skips_special_tokens) const;

  std::optional<uint32_t> token_to_id(std::string_view token) const;
  const std::string* id_to_token(uint32_t id) const;  // null if there is none
  size_t vocabulary_size(bool with_added_tokens) const;
  const Model& model() const { return *model_; }
  const AddedTokens& added_tokens() const { return *added_; }
  size_t special_tokens_to_add(bool is_pair) const {
    return post_processor_ == nullptr ? 0 : post_processor_->added_tokens(is_pair);
  }

  /// Rejects settings with which every call would fail.
  void check(const Truncation& truncation) const;

 private:
  explicit Tokenizer(const Json& document);
  void read_parts(Fields& fields);
  void read_settings(Fields& fields);

  /// Caches of threads that are not encoding, for the next ones.
  class CacheScope;

  Encoding encode_unpadded(const Input& input, bool adds_special_tokens, const Settings& settings,
                           TokenCache& cache) const;
  Encoding encode_sequence(const Sequence& sequence, uint32_t type_id, const Settings& settings,
                           TokenCache& cache, const OwnStrings& strings) const;
  Encoding encode_part(const std::string& text, Place place, const Settings& settings, TokenCache& cache,
                       const OwnStrings& strings) const;

  std::unique_ptr<const Normalizer> normalizer_;
  std::unique_ptr<const PreTokenizer> pre_tokenizer_;
  std::unique_ptr<const Model> model_;
  std::unique_ptr<const PostProcessor> post_processor_;
  std::unique_ptr<const Decoder> decoder_;
  std::unique_ptr<const AddedTokens> added_;
  Settings settings_;
  mutable std::mutex caches_mutex_;
  mutable std::vector<std::unique_ptr<TokenCache>> caches_;
};

}  // namespace spl::tokenizers
