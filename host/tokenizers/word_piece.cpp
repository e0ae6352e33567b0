// WordPiece: the longest token that starts the word, then the longest continuing one, and so on.
#include "host/tokenizers/byte_characters.h"
#include "host/tokenizers/characters.h"
#include "host/tokenizers/model.h"
#include "host/tokenizers/trie.h"

namespace spl::tokenizers {
namespace {

constexpr uint32_t kNone = Trie::kNone;

class WordPiece : public Model {
 public:
  explicit WordPiece(Fields& fields)
      : Model(fields),
        unknown_(fields.text("unk_token")),
        most_characters_(fields.count("max_input_chars_per_word", UINT64_MAX)) {
    for (uint32_t i = 0; i < vocabulary_.size(); ++i) {
      trie_.add(vocabulary_.at(i).text, i);
    }
    continuing_ = trie_.node_of(fields.text("continuing_subword_prefix"));
  }

  void encode(std::string_view piece, bool is_bytes, TokenCache&,
              std::vector<ModelToken>& out) const override {
    if (is_bytes) {
      encode_bytes(piece, out);
      return;
    }
    const size_t before = out.size();
    if (count_characters(piece) > most_characters_ || !encode_word(piece, out)) {
      out.resize(before);
      out.push_back({unknown(), 0, static_cast<uint32_t>(piece.size())});
    }
  }

 private:
  static size_t count_characters(std::string_view text) {
    size_t count = 0;
    for (const char c : text) {
      count += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U ? 1 : 0;
    }
    return count;
  }

  bool encode_word(std::string_view word, std::vector<ModelToken>& out) const {
    for (size_t at = 0; at < word.size();) {
      size_t size = 0;
      uint32_t found = kNone;
      const uint32_t node = at == 0 ? 0 : continuing_;
      if (node != kNone) {
        trie_.for_each_prefix(node, word.substr(at), [&](uint32_t token, size_t length) {
          found = token;
          size = length;
        });
      }
      if (found == kNone) {
        return false;
      }
      out.push_back({found, static_cast<uint32_t>(at), static_cast<uint32_t>(at + size)});
      at += size;
    }
    return true;
  }

  // A token may end inside of the characters of one byte, as these are of one or two bytes in UTF-8.
  void encode_bytes(std::string_view bytes, std::vector<ModelToken>& out) const {
    const std::string characters = characters_of_bytes(bytes);
    std::vector<uint32_t> byte_at;
    for (uint32_t i = 0; i < bytes.size(); ++i) {
      byte_at.resize(byte_at.size() + utf8_size(character_of_byte(static_cast<unsigned char>(bytes[i]))), i);
    }
    const size_t before = out.size();
    TokenCache none;
    encode(characters, false, none, out);
    for (size_t i = before; i < out.size(); ++i) {
      out[i].begin = byte_at[out[i].begin];
      out[i].end = byte_at[out[i].end - 1] + 1;
    }
  }

  uint32_t unknown() const {
    const auto found = vocabulary_.find(unknown_);
    if (!found) {
      throw Error(ErrorKind::kInvalidArgument,
                  "WordPiece error: Missing " + unknown_ + " token from the vocabulary");
    }
    return *found;
  }

  std::string unknown_;
  uint64_t most_characters_;
  Trie trie_;
  uint32_t continuing_ = kNone;
};

}  // namespace

std::unique_ptr<const Model> make_word_piece(Fields& fields) { return std::make_unique<WordPiece>(fields); }

}  // namespace spl::tokenizers
