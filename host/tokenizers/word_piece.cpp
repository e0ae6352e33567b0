// WordPiece: the longest token that starts the word, then the longest continuing one, and so on.
#include "host/tokenizers/byte_characters.h"
#include "host/tokenizers/characters.h"
#include "host/tokenizers/model.h"
#include "host/tokenizers/number_map.h"

namespace spl::tokenizers {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// The tokens as a tree of bytes.
class Trie {
 public:
  void add(std::string_view text, uint32_t index) {
    uint32_t node = 0;
    for (const char c : text) {
      const uint64_t key = key_of(node, c);
      const uint32_t* next = children_.find(key);
      if (next == nullptr) {
        node = static_cast<uint32_t>(tokens_.size());
        children_.set(key, node);
        tokens_.push_back(kNone);
      } else {
        node = *next;
      }
    }
    tokens_[node] = index;
  }
  void reserve(size_t bytes) { children_.reserve(bytes); }
  /// The node of a prefix; kNone if no token has it.
  uint32_t node_of(std::string_view prefix) const {
    uint32_t node = 0;
    for (const char c : prefix) {
      const uint32_t* next = children_.find(key_of(node, c));
      if (next == nullptr) {
        return kNone;
      }
      node = *next;
    }
    return node;
  }
  /// The longest token below the node that starts the text; its length goes to `size`.
  uint32_t longest(uint32_t node, std::string_view text, size_t& size) const {
    uint32_t found = kNone;
    for (size_t at = 0; at < text.size(); ++at) {
      const uint32_t* next = children_.find(key_of(node, text[at]));
      if (next == nullptr) {
        break;
      }
      node = *next;
      if (tokens_[node] != kNone) {
        found = tokens_[node];
        size = at + 1;
      }
    }
    return found;
  }

 private:
  static uint64_t key_of(uint32_t node, char c) {
    return uint64_t{node} << 8U | static_cast<unsigned char>(c);
  }
  NumberMap<uint32_t> children_;
  std::vector<uint32_t> tokens_{kNone};  // of each node
};

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
      const uint32_t node = at == 0 ? 0 : continuing_;
      const uint32_t found = node == kNone ? kNone : trie_.longest(node, word.substr(at), size);
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
