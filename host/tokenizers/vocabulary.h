// The tokens of a model and their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/tokenizers/fields.h"

namespace spl::tokenizers {

class Vocabulary {
 public:
  struct Token {
    std::string text;
    uint32_t id;
  };

  Vocabulary(const Json& object, const std::string& place);
  /// The tokens 0, 1, 2 ... Of equal ones the last is found.
  explicit Vocabulary(std::vector<std::string> texts);
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  /// Positions of tokens in tokens(): that of a string, and that of a number.
  std::optional<uint32_t> find(std::string_view text) const;
  std::optional<uint32_t> find_id(uint32_t id) const;
  const std::vector<Token>& tokens() const { return tokens_; }
  const Token& at(uint32_t index) const { return tokens_[index]; }
  size_t size() const { return tokens_.size(); }

 private:
  void reserve(size_t count);

  std::vector<Token> tokens_;  // is not reallocated: the map has views of the strings
  std::unordered_map<std::string_view, uint32_t> by_text_;
  std::unordered_map<uint32_t, uint32_t> by_id_;
};

}  // namespace spl::tokenizers
