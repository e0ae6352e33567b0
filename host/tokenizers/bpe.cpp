// Byte pair encoding: merges neighboring symbols, those of the lowest rank first.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <utility>

#include "host/tokenizers/byte_characters.h"
#include "host/tokenizers/characters.h"
#include "host/tokenizers/model.h"
#include "host/tokenizers/number_map.h"

namespace spl::tokenizers {
namespace {

constexpr size_t kCachedPieces = 10000;
constexpr size_t kCachedBytes = 256;  // longer pieces are not likely to come again
constexpr uint32_t kEnd = UINT32_MAX;

struct Merge {
  uint32_t rank, result;  // the result is a position in the vocabulary
};
using Merges = NumberMap<Merge>;

uint64_t pair_of(uint32_t left, uint32_t right) { return uint64_t{left} << 32U | right; }

/// A piece as symbols, which are merged in place.
class Word {
 public:
  void add(uint32_t index, uint32_t size) {
    const auto own = static_cast<uint32_t>(symbols_.size());
    if (own > 0) {
      symbols_.back().next = own;
    }
    symbols_.push_back({index, size, own == 0 ? kEnd : own - 1, kEnd});
  }

  void merge_all(const Merges& merges) {
    for (uint32_t i = 0; i + 1 < symbols_.size(); ++i) {
      offer(merges, i);
    }
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end());
      const Candidate top = queue_.back();
      queue_.pop_back();
      merge(merges, top);
    }
  }

  /// Appends the symbols that are left.
  void take(std::vector<ModelToken>& out) const {
    uint32_t at = 0;
    for (const Symbol& symbol : symbols_) {
      if (symbol.size != 0) {
        out.push_back({symbol.index, at, at + symbol.size});
        at += symbol.size;
      }
    }
  }

 private:
  struct Symbol {
    uint32_t index, size;  // 0 for a symbol that was merged into another
    uint32_t previous, next;
  };
  struct Candidate {
    uint32_t rank, at, result;
    // For a heap whose first element has the lowest rank, and of these the leftmost place.
    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };

  void offer(const Merges& merges, uint32_t at) {
    const Merge* found = merges.find(pair_of(symbols_[at].index, symbols_[symbols_[at].next].index));
    if (found != nullptr) {
      queue_.push_back({found->rank, at, found->result});
      std::push_heap(queue_.begin(), queue_.end());
    }
  }

  void merge(const Merges& merges, const Candidate& top) {
    Symbol& left = symbols_[top.at];
    if (left.size == 0 || left.next == kEnd) {
      return;
    }
    Symbol& right = symbols_[left.next];
    const Merge* still = merges.find(pair_of(left.index, right.index));
    if (still == nullptr || still->result != top.result) {
      return;  // one of the two was merged meanwhile
    }
    left.index = top.result;
    left.size += right.size;
    right.size = 0;
    left.next = right.next;
    if (left.next != kEnd) {
      symbols_[left.next].previous = top.at;
    }
    if (left.previous != kEnd) {
      offer(merges, left.previous);
    }
    if (left.next != kEnd) {
      offer(merges, top.at);
    }
  }

  std::vector<Symbol> symbols_;
  std::vector<Candidate> queue_;
};

class Bpe : public Model {
 public:
  explicit Bpe(Fields& fields)
      : Model(fields),
        prefix_(fields.text_or("continuing_subword_prefix", "")),
        suffix_(fields.text_or("end_of_word_suffix", "")),
        fuses_unknown_(fields.flag_or("fuse_unk", false)),
        falls_back_to_bytes_(fields.flag_or("byte_fallback", false)),
        ignores_merges_(fields.flag_or("ignore_merges", false)) {
    if (fields.find("unk_token") != nullptr) {
      unknown_ = fields.text("unk_token");
    }
    read_dropout(fields);
    read_merges(fields);
    find_bytes();
  }

  void encode(std::string_view piece, bool is_bytes, TokenCache& cache,
              std::vector<ModelToken>& out) const override {
    std::string key;
    key.reserve(piece.size() + 1);
    key.push_back(is_bytes ? 'b' : 't');
    key.append(piece);
    if (const auto found = cache.find(key); found != cache.end()) {
      out.insert(out.end(), found->second.begin(), found->second.end());
      return;
    }
    const size_t before = out.size();
    encode_new(piece, is_bytes, out);
    if (piece.size() < kCachedBytes && cache.size() < kCachedPieces) {
      cache.emplace(std::move(key),
                    std::vector<ModelToken>(out.begin() + static_cast<ptrdiff_t>(before), out.end()));
    }
  }

 private:
  void read_dropout(Fields& fields) const {
    const Json* dropout = fields.find("dropout");
    if (dropout == nullptr) {
      return;
    }
    if (!dropout->IsNumber()) {
      fail_broken(fields.place_of("dropout"), "expected a number, got " + described(*dropout));
    }
    if (dropout->GetDouble() != 0.0) {
      fail_unsupported(fields.place_of("dropout"), "random merges are not supported");
    }
  }

  void read_merges(Fields& fields) {
    const std::string place = fields.place_of("merges");
    const Json& merges = fields.array("merges");
    merges_.reserve(merges.Size());
    bool has_pairs = false, has_lines = false;
    uint32_t rank = 0;
    for (const Json& merge : merges.GetArray()) {
      has_lines = has_lines || merge.IsString();
      has_pairs = has_pairs || !merge.IsString();
      const std::string own_place = place + "[" + std::to_string(rank) + "]";
      if (has_lines && has_pairs) {
        fail_broken(own_place, "merges must be all strings or all pairs");
      }
      if (has_lines && text_of(merge).starts_with("#version")) {
        continue;
      }
      add_merge(has_lines ? pair_of_line(merge, own_place) : pair_of_array(merge, own_place), rank++,
                own_place);
    }
  }

  using Pair = std::pair<std::string, std::string>;
  static Pair pair_of_line(const Json& line, const std::string& place) {
    const std::string text(text_of(line));
    const size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
      fail_broken(place, "expected two tokens and a space between them, got " + described(line));
    }
    return {text.substr(0, space), text.substr(space + 1)};
  }
  static Pair pair_of_array(const Json& pair, const std::string& place) {
    if (!pair.IsArray() || pair.Size() != 2 || !pair[0].IsString() || !pair[1].IsString()) {
      fail_broken(place, "expected two tokens, got " + described(pair));
    }
    return {std::string(text_of(pair[0])), std::string(text_of(pair[1]))};
  }

  void add_merge(const Pair& pair, uint32_t rank, const std::string& place) {
    const auto& [left, right] = pair;
    const uint32_t first = token_of_merge(left, place), second = token_of_merge(right, place);
    if (right.size() < prefix_.size()) {
      fail_broken(place, "'" + right + "' is shorter than the prefix '" + prefix_ + "'");
    }
    const uint32_t result = token_of_merge(left + right.substr(prefix_.size()), place);
    merges_.set(pair_of(first, second), {rank, result});
  }

  uint32_t token_of_merge(const std::string& text, const std::string& place) const {
    const auto found = vocabulary_.find(text);
    if (!found) {
      fail_broken(place, "Token `" + text + "` out of vocabulary");
    }
    return *found;
  }

  void find_bytes() {
    has_all_bytes_ = prefix_.empty() && suffix_.empty();
    for (unsigned byte = 0; byte < 256; ++byte) {
      const char c = static_cast<char>(byte);
      const auto character = vocabulary_.find(characters_of_bytes({&c, 1}));
      has_all_bytes_ = has_all_bytes_ && character.has_value();
      characters_.at(byte) = character.value_or(0);
      std::array<char, 8> name{};
      std::snprintf(name.data(), name.size(), "<0x%02X>", byte);
      bytes_.at(byte) = vocabulary_.find(name.data());
    }
  }

  void encode_new(std::string_view piece, bool is_bytes, std::vector<ModelToken>& out) const {
    if (!is_bytes) {
      encode_text(piece, nullptr, out);
      return;
    }
    if (has_all_bytes_ && !ignores_merges_) {
      Word word;
      for (const char c : piece) {
        word.add(characters_.at(static_cast<unsigned char>(c)), 1);
      }
      word.merge_all(merges_);
      word.take(out);
      return;
    }
    encode_text(characters_of_bytes(piece), &piece, out);
  }

  /// If the text is the characters of bytes, the tokens get the places of these bytes.
  void encode_text(std::string_view text, const std::string_view* bytes, std::vector<ModelToken>& out) const {
    const size_t before = out.size();
    const auto whole = ignores_merges_ ? vocabulary_.find(text) : std::nullopt;
    if (whole) {
      out.push_back({*whole, 0, static_cast<uint32_t>(text.size())});
    } else {
      Word word;
      add_symbols(text, word);
      word.merge_all(merges_);
      word.take(out);
    }
    if (bytes != nullptr) {
      move_to_bytes(*bytes, before, out);
    }
  }

  static void move_to_bytes(std::string_view bytes, size_t from, std::vector<ModelToken>& out) {
    std::vector<uint32_t> byte_at;
    for (uint32_t i = 0; i < bytes.size(); ++i) {
      byte_at.resize(byte_at.size() + utf8_size(character_of_byte(static_cast<unsigned char>(bytes[i]))), i);
    }
    const auto size = static_cast<uint32_t>(byte_at.size());
    for (size_t i = from; i < out.size(); ++i) {
      ModelToken& token = out[i];
      if (token.end > size) {
        continue;  // outside of the text, see Tokenizer
      }
      token.begin = byte_at[token.begin];
      token.end = byte_at[token.end - 1] + 1;
    }
  }

  void add_symbols(std::string_view text, Word& word) const {
    std::optional<std::pair<uint32_t, uint32_t>> unknown;  // a token that was not added yet, and its size
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      next_character(text, at);
      const auto size = static_cast<uint32_t>(at - begin);
      std::string symbol(text.substr(begin, size));
      if (begin > 0) {
        symbol.insert(0, prefix_);
      }
      if (at == text.size()) {
        symbol += suffix_;
      }
      if (const auto index = vocabulary_.find(symbol)) {
        add_unknown(unknown, word);
        word.add(*index, size);
      } else if (!falls_back_to_bytes_ || !add_bytes(symbol, word)) {
        join_unknown(unknown, size, word);
      }
    }
    add_unknown(unknown, word);
  }

  using Unknown = std::optional<std::pair<uint32_t, uint32_t>>;
  static void add_unknown(Unknown& unknown, Word& word) {
    if (unknown) {
      word.add(unknown->first, unknown->second);
      unknown.reset();
    }
  }

  // Without an unknown token, the character has no token.
  void join_unknown(Unknown& unknown, uint32_t size, Word& word) const {
    if (!unknown_) {
      return;
    }
    if (unknown && fuses_unknown_) {
      unknown->second += size;
      return;
    }
    add_unknown(unknown, word);
    const auto index = vocabulary_.find(*unknown_);
    if (!index) {
      throw Error(ErrorKind::kInvalidArgument, "Unk token `" + *unknown_ + "` not found in the vocabulary");
    }
    unknown = {*index, size};
  }

  bool add_bytes(const std::string& symbol, Word& word) const {
    const auto index_of = [&](char c) { return bytes_.at(static_cast<unsigned char>(c)); };
    if (!std::all_of(symbol.begin(), symbol.end(), [&](char c) { return index_of(c).has_value(); })) {
      return false;
    }
    for (const char c : symbol) {
      word.add(*index_of(c), 1);
    }
    return true;
  }

  std::optional<std::string> unknown_;
  std::string prefix_, suffix_;
  bool fuses_unknown_, falls_back_to_bytes_, ignores_merges_;
  bool has_all_bytes_ = false;
  Merges merges_;
  std::array<uint32_t, 256> characters_{};            // the tokens of the characters that stand for bytes
  std::array<std::optional<uint32_t>, 256> bytes_{};  // the tokens <0x00> to <0xFF>
};

}  // namespace

std::unique_ptr<const Model> make_bpe(Fields& fields) { return std::make_unique<Bpe>(fields); }

}  // namespace spl::tokenizers
