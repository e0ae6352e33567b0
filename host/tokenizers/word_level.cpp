// WordLevel: each piece is one token. And the choice of a model by its type.
#include "host/tokenizers/byte_characters.h"
#include "host/tokenizers/model.h"

namespace spl::tokenizers {
namespace {

class WordLevel : public Model {
 public:
  explicit WordLevel(Fields& fields) : Model(fields), unknown_(fields.text("unk_token")) {}

  void encode(std::string_view piece, bool is_bytes, TokenCache&,
              std::vector<ModelToken>& out) const override {
    auto found = is_bytes ? vocabulary_.find(characters_of_bytes(piece)) : vocabulary_.find(piece);
    if (!found) {
      found = vocabulary_.find(unknown_);
    }
    if (!found) {
      throw Error(ErrorKind::kInvalidArgument, "WordLevel error: Missing [UNK] token from the vocabulary");
    }
    out.push_back({*found, 0, static_cast<uint32_t>(piece.size())});
  }

 private:
  std::string unknown_;
};

}  // namespace

std::unique_ptr<const Model> make_word_level(Fields& fields) { return std::make_unique<WordLevel>(fields); }

namespace {

/// Files of the first versions of the library have no type.
std::string type_of(Fields& fields) {
  if (fields.find("type") != nullptr) {
    return fields.text("type");
  }
  if (fields.find("merges") != nullptr) {
    return "BPE";
  }
  if (fields.at("vocab").IsArray()) {
    return "Unigram";
  }
  return fields.find("max_input_chars_per_word") != nullptr ? "WordPiece" : "WordLevel";
}

}  // namespace

std::unique_ptr<const Model> read_model(const Json& value, const std::string& place) {
  Fields fields(value, place);
  const std::string type = type_of(fields);
  std::unique_ptr<const Model> model;
  if (type == "WordPiece") {
    model = make_word_piece(fields);
  } else if (type == "BPE") {
    model = make_bpe(fields);
  } else if (type == "WordLevel") {
    model = make_word_level(fields);
  } else if (type == "Unigram") {
    model = make_unigram(fields);
  } else {
    fail_unsupported(fields.place_of("type"), "the model '" + type + "' is not supported");
  }
  fields.finish();
  return model;
}

}  // namespace spl::tokenizers
