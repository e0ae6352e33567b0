// Unigram: of all divisions of a piece into tokens, the one with the highest sum of scores.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "host/tokenizers/aligned_text.h"
#include "host/tokenizers/byte_characters.h"
#include "host/tokenizers/characters.h"
#include "host/tokenizers/model.h"
#include "host/tokenizers/trie.h"

namespace spl::tokenizers {
namespace {

constexpr double kUnknownPenalty = 10;  // an unknown character is worse than the worst token by this
constexpr size_t kCachedPieces = 10000;
constexpr size_t kCachedBytes = 256;  // longer pieces are not likely to come again

/// The number as the Python library reads it, which divides the digits by a power of ten and may miss the
/// last bit. It decides between divisions with equal sums.
double read_by_division(double number) {
  std::array<char, 32> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::scientific);
  const std::string_view shown(digits.data(), static_cast<size_t>(end.ptr - digits.data()));
  const size_t exponent_at = shown.find('e');
  if (exponent_at == std::string_view::npos) {
    return number;  // not finite
  }
  uint64_t significand = 0;
  int exponent = std::stoi(std::string(shown.substr(exponent_at + 1)));
  bool is_fraction = false;
  for (const char c : shown.substr(0, exponent_at)) {
    if (c >= '0' && c <= '9') {
      significand = significand * 10 + static_cast<uint64_t>(c - '0');
      exponent -= is_fraction ? 1 : 0;
    }
    is_fraction = is_fraction || c == '.';
  }
  const double power = std::strtod(("1e" + std::to_string(std::abs(exponent))).c_str(), nullptr);
  const auto size = static_cast<double>(significand);
  const double value = exponent < 0 ? size / power : size * power;
  return number < 0 ? -value : value;
}

/// The rows of the field "vocab": a token and its score.
struct Scored {
  std::vector<std::string> tokens;
  std::vector<double> scores;

  explicit Scored(Fields& fields) {
    const Json& rows = fields.array("vocab");
    const std::string place = fields.place_of("vocab");
    for (const Json& row : rows.GetArray()) {
      if (!row.IsArray() || row.Size() != 2 || !row[0].IsString() || !row[1].IsNumber()) {
        fail_broken(place + "[" + std::to_string(tokens.size()) + "]",
                    "expected a token and its score, got " + described(row));
      }
      tokens.emplace_back(text_of(row[0]));
      scores.push_back(read_by_division(row[1].GetDouble()));
    }
  }
};

class Unigram : public Model {
 public:
  explicit Unigram(Fields& fields) : Unigram(fields, Scored(fields)) {}

  void encode(std::string_view piece, bool is_bytes, TokenCache& cache,
              std::vector<ModelToken>& out) const override {
    if (is_bytes) {
      encode_bytes(piece, out);
      return;
    }
    if (piece.size() > kCachedBytes) {
      encode_new(piece, out);
      return;
    }
    std::string key(piece);
    const auto found = cache.find(key);
    if (found != cache.end()) {
      out.insert(out.end(), found->second.begin(), found->second.end());
      return;
    }
    std::vector<ModelToken> tokens;
    encode_new(piece, tokens);
    out.insert(out.end(), tokens.begin(), tokens.end());
    if (cache.size() < kCachedPieces) {
      cache.emplace(std::move(key), std::move(tokens));
    }
  }

 private:
  Unigram(Fields& fields, Scored scored)
      : Model(std::move(scored.tokens)),
        scores_(std::move(scored.scores)),
        falls_back_to_bytes_(fields.flag_or("byte_fallback", false)) {
    for (uint32_t i = 0; i < vocabulary_.size(); ++i) {
      trie_.add(vocabulary_.at(i).text, i);
    }
    unknown_score_ = std::numeric_limits<double>::infinity();
    for (const double score : scores_) {
      unknown_score_ = std::min(unknown_score_, score);
    }
    unknown_score_ -= kUnknownPenalty;
    read_unknown(fields);
    find_bytes();
  }

  void read_unknown(Fields& fields) {
    if (fields.find("unk_id") == nullptr) {
      return;
    }
    unknown_ = static_cast<uint32_t>(fields.count("unk_id"));
    if (*unknown_ >= vocabulary_.size()) {
      fail_broken(fields.place_of("unk_id"), "must be below the number of tokens " +
                                                 std::to_string(vocabulary_.size()) + ", got " +
                                                 std::to_string(*unknown_));
    }
  }

  void find_bytes() {
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::array<char, 8> name{};
      std::snprintf(name.data(), name.size(), "<0x%02X>", byte);
      bytes_.at(byte) = vocabulary_.find(name.data());
    }
  }

  /// The best division of the text up to some byte: its score, and the last token.
  struct Best {
    double score = 0;
    uint32_t token = 0;
    uint32_t begin = Trie::kNone;  // of the last token; kNone if no token ends here
  };

  std::vector<Best> best_divisions(std::string_view text) const {
    std::vector<Best> best(text.size() + 1);
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      next_character(text, at);
      const double before = best[begin].score;
      const auto offer = [&](uint32_t token, size_t end, double score) {
        Best& target = best[end];
        if (target.begin == Trie::kNone || score + before > target.score) {
          target = {score + before, token, static_cast<uint32_t>(begin)};
        }
      };
      bool has_character = false;
      trie_.for_each_prefix(0, text.substr(begin), [&](uint32_t token, size_t size) {
        offer(token, begin + size, scores_[token]);
        has_character = has_character || begin + size == at;
      });
      if (!has_character) {
        offer(need_unknown(), at, unknown_score_);
      }
    }
    return best;
  }

  void encode_new(std::string_view text, std::vector<ModelToken>& out) const {
    const std::vector<Best> best = best_divisions(text);
    std::vector<Span> spans;  // from the last to the first
    bool is_unknown = false;
    for (auto end = static_cast<uint32_t>(text.size()); end > 0;) {
      const Best& last = best[end];
      const bool was_unknown = std::exchange(is_unknown, unknown_ && last.token == *unknown_);
      if (is_unknown && was_unknown) {
        spans.back().begin = last.begin;
      } else {
        spans.push_back({last.begin, end});
      }
      end = last.begin;
    }
    std::for_each(spans.rbegin(), spans.rend(), [&](Span span) { add(text, span, out); });
  }

  void add(std::string_view text, Span span, std::vector<ModelToken>& out) const {
    const std::string_view token = text.substr(span.begin, span.end - span.begin);
    if (const auto index = vocabulary_.find(token)) {
      out.push_back({*index, span.begin, span.end});
    } else if (!falls_back_to_bytes_ || !add_bytes(token, span, out)) {
      out.push_back({need_unknown(), span.begin, span.end, true});
    }
  }

  bool add_bytes(std::string_view token, Span span, std::vector<ModelToken>& out) const {
    const auto index_of = [&](char c) { return bytes_.at(static_cast<unsigned char>(c)); };
    if (!std::all_of(token.begin(), token.end(), [&](char c) { return index_of(c).has_value(); })) {
      return false;
    }
    for (const char c : token) {
      out.push_back({*index_of(c), span.begin, span.end});
    }
    return true;
  }

  uint32_t need_unknown() const {
    if (!unknown_) {
      throw Error(ErrorKind::kInvalidArgument, "Encountered an unknown token but `unk_id` is missing");
    }
    return *unknown_;
  }

  // Tokens end at characters, each of which stands for one byte.
  void encode_bytes(std::string_view bytes, std::vector<ModelToken>& out) const {
    const std::string characters = characters_of_bytes(bytes);
    std::vector<uint32_t> byte_at;
    for (uint32_t i = 0; i < bytes.size(); ++i) {
      byte_at.resize(byte_at.size() + utf8_size(character_of_byte(static_cast<unsigned char>(bytes[i]))), i);
    }
    const size_t before = out.size();
    encode_new(characters, out);
    for (size_t i = before; i < out.size(); ++i) {
      out[i].begin = byte_at[out[i].begin];
      out[i].end = byte_at[out[i].end - 1] + 1;
    }
  }

  std::vector<double> scores_;  // of each token
  double unknown_score_;
  bool falls_back_to_bytes_;
  std::optional<uint32_t> unknown_;
  Trie trie_;
  std::array<std::optional<uint32_t>, 256> bytes_{};  // the tokens <0x00> to <0xFF>
};

}  // namespace

std::unique_ptr<const Model> make_unigram(Fields& fields) { return std::make_unique<Unigram>(fields); }

}  // namespace spl::tokenizers
