#include "host/tokenizers/tokenizer.h"

#include <rapidjson/error/en.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <thread>

#include "host/tokenizers/byte_characters.h"
#include "host/tokenizers/characters.h"

namespace spl::tokenizers {
namespace {

constexpr size_t kTextsOfThread = 16;  // fewer are not worth a thread

Truncation truncation_of(const Json& value, const std::string& place) {
  Fields fields(value, place);
  Truncation out;
  if (fields.find("direction") != nullptr) {
    out.direction = static_cast<Direction>(fields.choice("direction", {"Left", "Right"}));
  }
  out.max_length = fields.count("max_length");
  out.strategy =
      static_cast<TruncationStrategy>(fields.choice("strategy", {"LongestFirst", "OnlyFirst", "OnlySecond"}));
  out.stride = fields.count("stride");
  fields.finish();
  return out;
}

Padding padding_of(const Json& value, const std::string& place) {
  Fields fields(value, place);
  Padding out;
  const Json& strategy = fields.at("strategy");
  if (strategy.IsObject()) {
    Fields fixed(strategy, fields.place_of("strategy"));
    out.length = fixed.count("Fixed");
    out.is_fixed = true;
    fixed.finish();
  } else {
    fields.choice("strategy", {"BatchLongest"});
  }
  out.direction = static_cast<Direction>(fields.choice("direction", {"Left", "Right"}));
  out.multiple = fields.find("pad_to_multiple_of") == nullptr ? 0 : fields.count("pad_to_multiple_of");
  out.pad_id = static_cast<uint32_t>(fields.count("pad_id"));
  out.pad_type_id = static_cast<uint32_t>(fields.count("pad_type_id"));
  out.pad_token = fields.text("pad_token");
  fields.finish();
  return out;
}

template <class Part, class Read>
std::unique_ptr<const Part> read_optional(Fields& fields, const char* name, const Read& read) {
  const Json* value = fields.find(name);
  return value == nullptr ? nullptr : read(*value, name);
}

/// Offsets in bytes as offsets in characters, as in Python's library.
class CharacterOffsets {
 public:
  explicit CharacterOffsets(std::string_view text) : size_(text.size()), is_ascii_(is_ascii(text)) {
    if (is_ascii_) {
      return;
    }
    characters_.reserve(text.size());
    uint32_t character = 0;
    for (size_t at = 0; at < text.size(); ++character) {
      next_character(text, at);
      characters_.resize(at, character);
    }
  }
  Span convert(Span bytes) const {
    if (bytes.begin >= size_) {
      return bytes;
    }
    const uint32_t begin = at(bytes.begin);
    if (bytes.end < size_) {
      return {begin, at(bytes.end)};
    }
    return {begin, (bytes.end > 0 && bytes.end - 1 < size_ ? at(bytes.end - 1) : begin + 1) + 1};
  }

 private:
  uint32_t at(uint32_t byte) const { return is_ascii_ ? byte : characters_[byte]; }
  size_t size_;
  bool is_ascii_;
  std::vector<uint32_t> characters_;  // of each byte
};

/// The tokens of the pieces of one text.
class PieceEncoder {
 public:
  PieceEncoder(const AddedTokens& added, const Model& model, Pieces& pieces, TokenCache& cache)
      : added_(added), model_(model), pieces_(pieces), cache_(cache), tokens_(pieces.pieces.size()) {}

  void encode_all() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      encode(i);
    }
  }

  /// `strings` receives texts of tokens that no vocabulary has.
  Encoding encoding(std::string_view input, Place place, const OwnStrings& strings) const {
    const CharacterOffsets characters(input);
    Encoding out;
    out.own_strings = strings;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Place own = {place.type_id,
                         place.word == Encoding::kNoWord ? static_cast<int64_t>(i) : place.word};
      const Piece& piece = pieces_.pieces[i];
      if (piece.added >= 0) {
        add_added(piece, own, characters, out);
        continue;
      }
      for (const ModelToken& token : tokens_[i]) {
        const Vocabulary::Token& known = model_.vocabulary().at(token.index);
        const std::string* shown = token.is_text ? text_of(piece, token, out) : &known.text;
        out.add(known.id, own.type_id, shown, own.word, characters.convert(origin(piece, token)), false);
      }
    }
    return out;
  }

 private:
  void encode(size_t i) {
    const Piece& piece = pieces_.pieces[i];
    if (piece.added < 0) {
      model_.encode(pieces_.text(piece), piece.is_bytes, cache_, tokens_[i]);
    }
  }

  Span origin(const Piece& piece, const ModelToken& token) const {
    if (token.end > piece.end - piece.begin) {
      return {token.begin, token.end};  // bytes of a prefix or suffix that is not in the text
    }
    return pieces_.buffer(piece).origin(piece.begin + token.begin, piece.begin + token.end);
  }

  // The bytes of a token that the vocabulary does not have.
  const std::string* text_of(const Piece& piece, const ModelToken& token, Encoding& out) const {
    const std::string_view text = pieces_.text(piece).substr(token.begin, token.end - token.begin);
    out.own_strings->push_back(piece.is_bytes ? characters_of_bytes(text) : std::string(text));
    return &out.own_strings->back();
  }

  // Such a token has the text that it was found in, with the spaces around it.
  void add_added(const Piece& piece, Place place, const CharacterOffsets& characters, Encoding& out) const {
    const AddedToken& token = added_.at(static_cast<size_t>(piece.added));
    const std::string_view text = pieces_.text(piece);
    const std::string* shown = &token.content;
    if (text != token.content) {
      out.own_strings->emplace_back(text);
      shown = &out.own_strings->back();
    }
    const Span span = pieces_.buffer(piece).origin(piece.begin, piece.end);
    out.add(token.id, place.type_id, shown, place.word, characters.convert(span), false);
  }

  const AddedTokens& added_;
  const Model& model_;
  Pieces& pieces_;
  TokenCache& cache_;
  std::vector<std::vector<ModelToken>> tokens_;  // of each piece
};

}  // namespace

class Tokenizer::CacheScope {
 public:
  explicit CacheScope(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
    const std::scoped_lock lock(tokenizer.caches_mutex_);
    if (tokenizer.caches_.empty()) {
      cache_ = std::make_unique<TokenCache>();
    } else {
      cache_ = std::move(tokenizer.caches_.back());
      tokenizer.caches_.pop_back();
    }
  }
  ~CacheScope() {
    const std::scoped_lock lock(tokenizer_.caches_mutex_);
    tokenizer_.caches_.push_back(std::move(cache_));
  }
  CacheScope(const CacheScope&) = delete;
  CacheScope& operator=(const CacheScope&) = delete;
  TokenCache& cache() { return *cache_; }

 private:
  const Tokenizer& tokenizer_;
  std::unique_ptr<TokenCache> cache_;
};

std::shared_ptr<const Tokenizer> Tokenizer::parse(std::string text) {
  if (text.size() >= std::numeric_limits<rapidjson::SizeType>::max()) {
    fail_broken("tokenizer.json", "the file must be smaller than 4 GiB");
  }
  if (!is_valid_utf8(text)) {
    fail_broken("tokenizer.json", "the file is not valid UTF-8");
  }
  rapidjson::Document document;
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag;
  document.Parse<kFlags>(text.data(), text.size());
  if (document.HasParseError()) {
    fail_broken("tokenizer.json", std::string(rapidjson::GetParseError_En(document.GetParseError())) +
                                      " (byte " + std::to_string(document.GetErrorOffset()) + ")");
  }
  return std::shared_ptr<const Tokenizer>(new Tokenizer(document));
}

Tokenizer::Tokenizer(const Json& document) {
  Fields fields(document, "tokenizer.json");
  const std::string version = fields.text_or("version", "1.0");
  if (version != "1.0") {
    fail_unsupported(fields.place_of("version"), "unknown version '" + version + "'");
  }
  read_parts(fields);
  read_settings(fields);
  fields.finish();
}

void Tokenizer::read_parts(Fields& fields) {
  normalizer_ = read_optional<Normalizer>(fields, "normalizer", read_normalizer);
  pre_tokenizer_ = read_optional<PreTokenizer>(fields, "pre_tokenizer", read_pre_tokenizer);
  model_ = read_model(fields.at("model"), "model");
  post_processor_ = read_optional<PostProcessor>(fields, "post_processor", read_post_processor);
  decoder_ = read_optional<Decoder>(fields, "decoder", read_decoder);
  added_ =
      std::make_unique<AddedTokens>(fields.find("added_tokens"), *model_, normalizer_.get(), "added_tokens");
}

void Tokenizer::read_settings(Fields& fields) {
  if (const Json* truncation = fields.find("truncation")) {
    settings_.truncation = truncation_of(*truncation, "truncation");
  }
  if (const Json* padding = fields.find("padding")) {
    settings_.padding = padding_of(*padding, "padding");
  }
}

void Tokenizer::check(const Truncation& truncation) const {
  const size_t added = special_tokens_to_add(false);
  const size_t left = truncation.max_length - std::min(truncation.max_length, added);
  if (truncation.max_length < added || left < truncation.stride) {
    throw Error(ErrorKind::kInvalidArgument,
                "stride must not exceed max_length without special tokens, got stride " +
                    std::to_string(truncation.stride) + ", max_length " +
                    std::to_string(truncation.max_length) + " and " + std::to_string(added) +
                    " special tokens");
  }
}

Encoding Tokenizer::encode(const Input& input, bool adds_special_tokens, const Settings& settings) const {
  CacheScope scope(*this);
  std::vector<Encoding> encodings;
  encodings.push_back(encode_unpadded(input, adds_special_tokens, settings, scope.cache()));
  if (settings.padding) {
    pad(encodings[0], padded_length(encodings, *settings.padding), *settings.padding);
  }
  return std::move(encodings[0]);
}

std::optional<std::vector<Encoding>> Tokenizer::encode_batch(const std::vector<Input>& inputs,
                                                             bool adds_special_tokens,
                                                             const Settings& settings,
                                                             bool (*is_stopped)()) const {
  std::vector<Encoding> encodings(inputs.size());
  std::atomic<size_t> next{0};
  std::atomic<bool> has_stopped{false};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    CacheScope scope(*this);
    try {
      for (size_t from = next.fetch_add(kTextsOfThread); from < inputs.size();
           from = next.fetch_add(kTextsOfThread)) {
        if (has_stopped || (is_stopped != nullptr && is_stopped())) {
          has_stopped = true;
          return;
        }
        for (size_t i = from; i < std::min(from + kTextsOfThread, inputs.size()); ++i) {
          encodings[i] = encode_unpadded(inputs[i], adds_special_tokens, settings, scope.cache());
        }
      }
    } catch (...) {
      const std::scoped_lock lock(failure_mutex);
      failure = failure == nullptr ? std::current_exception() : failure;
      next = inputs.size();
    }
  };
  const size_t useful = (inputs.size() + kTextsOfThread - 1) / kTextsOfThread;
  const size_t count = std::min<size_t>(std::max(1U, std::thread::hardware_concurrency()), useful);
  std::vector<std::jthread> threads;
  for (size_t i = 1; i < count; ++i) {
    threads.emplace_back(work);
  }
  work();
  threads.clear();
  if (failure != nullptr) {
    std::rethrow_exception(failure);
  }
  if (has_stopped) {
    return std::nullopt;
  }
  if (settings.padding) {
    const size_t length = padded_length(encodings, *settings.padding);
    for (Encoding& encoding : encodings) {
      pad(encoding, length, *settings.padding);
    }
  }
  return encodings;
}

Encoding Tokenizer::encode_unpadded(const Input& input, bool adds_special_tokens, const Settings& settings,
                                    TokenCache& cache) const {
  const auto strings = std::make_shared<std::deque<std::string>>();
  std::vector<Encoding> encodings;
  encodings.push_back(encode_sequence(input.first, 0, settings, cache, strings));
  if (input.second) {
    encodings.push_back(encode_sequence(*input.second, 1, settings, cache, strings));
  }
  if (settings.truncation) {
    const size_t added = adds_special_tokens ? special_tokens_to_add(input.second.has_value()) : 0;
    const size_t most = settings.truncation->max_length;
    if (added > most) {
      throw Error(ErrorKind::kInvalidArgument,
                  "truncation: max_length must be at least the number of special tokens " +
                      std::to_string(added) + ", got " + std::to_string(most));
    }
    truncate(encodings[0], input.second ? &encodings[1] : nullptr, *settings.truncation, most - added);
  }
  return post_process(post_processor_.get(), std::move(encodings), adds_special_tokens);
}

Encoding Tokenizer::encode_sequence(const Sequence& sequence, uint32_t type_id, const Settings& settings,
                                    TokenCache& cache, const OwnStrings& strings) const {
  if (!sequence.is_words) {
    return encode_part(sequence.parts[0], {type_id, Encoding::kNoWord}, settings, cache, strings);
  }
  Encoding joined;
  joined.own_strings = strings;
  for (size_t i = 0; i < sequence.parts.size(); ++i) {
    joined.append(
        encode_part(sequence.parts[i], {type_id, static_cast<int64_t>(i)}, settings, cache, strings));
  }
  return joined;
}

Encoding Tokenizer::encode_part(const std::string& text, Place place, const Settings& settings,
                                TokenCache& cache, const OwnStrings& strings) const {
  if (text.size() >= std::numeric_limits<int32_t>::max()) {
    throw Error(ErrorKind::kInvalidArgument, "the text must be smaller than 2 GiB");
  }
  if (!is_valid_utf8(text)) {
    throw Error(ErrorKind::kInvalidArgument, "the text is not valid UTF-8");
  }
  Pieces pieces = added_->extract(text, normalizer_.get(), settings.encodes_special_tokens);
  if (pre_tokenizer_ != nullptr) {
    pre_tokenizer_->apply(pieces);
  }
  PieceEncoder encoder(*added_, *model_, pieces, cache);
  encoder.encode_all();
  return encoder.encoding(text, place, strings);
}

std::string Tokenizer::decode(const std::vector<uint32_t>& ids, bool skips_special_tokens) const {
  std::vector<std::string> tokens;
  for (const uint32_t id : ids) {
    const std::string* const token = id_to_token(id);
    if (token != nullptr && !(skips_special_tokens && added_->is_special(*token))) {
      tokens.push_back(*token);
    }
  }
  if (decoder_ != nullptr) {
    decoder_->apply(tokens);
  }
  std::string out;
  for (size_t i = 0; i < tokens.size(); ++i) {
    out += (i > 0 && decoder_ == nullptr ? " " : "") + tokens[i];
  }
  return out;
}

std::optional<uint32_t> Tokenizer::token_to_id(std::string_view token) const {
  if (const AddedToken* added = added_->find(token)) {
    return added->id;
  }
  const auto index = model_->vocabulary().find(token);
  return index ? std::optional(model_->vocabulary().at(*index).id) : std::nullopt;
}

const std::string* Tokenizer::id_to_token(uint32_t id) const {
  if (const AddedToken* added = added_->find_id(id)) {
    return &added->shown;
  }
  const auto index = model_->vocabulary().find_id(id);
  return index ? &model_->vocabulary().at(*index).text : nullptr;
}

size_t Tokenizer::vocabulary_size(bool with_added_tokens) const {
  size_t size = model_->vocabulary().size();
  for (const AddedToken& token : added_->tokens()) {
    size += with_added_tokens && !model_->vocabulary().find(token.content) ? 1 : 0;
  }
  return size;
}

}  // namespace spl::tokenizers
