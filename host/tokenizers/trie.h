// Tokens as a tree of bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "host/tokenizers/number_map.h"

namespace spl::tokenizers {

class Trie {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

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
  /// Calls `visit(token, size)` for the tokens below the node that start the text, the shortest first.
  template <class Visit>
  void for_each_prefix(uint32_t node, std::string_view text, const Visit& visit) const {
    for (size_t at = 0; at < text.size(); ++at) {
      const uint32_t* next = children_.find(key_of(node, text[at]));
      if (next == nullptr) {
        break;
      }
      node = *next;
      if (tokens_[node] != kNone) {
        visit(tokens_[node], at + 1);
      }
    }
  }

 private:
  static uint64_t key_of(uint32_t node, char c) {
    return uint64_t{node} << 8U | static_cast<unsigned char>(c);
  }
  NumberMap<uint32_t> children_;
  std::vector<uint32_t> tokens_{kNone};  // of each node
};

}  // namespace spl::tokenizers
