// SDN, Simple's data notation: parses text to a tree of values with their positions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spl::sdn {

struct Node {
  enum class Kind : uint8_t { kNull, kBool, kInt, kFloat, kText, kArray, kDict, kTable };
  Kind kind = Kind::kNull;
  bool flag = false;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<std::string> names;  // the keys of a dict, the columns of a table with names
  std::vector<std::string> types;  // the column types of a table without names
  std::vector<Node> items;         // a dict's values, parallel to names; a table's rows, which are arrays
  int line = 1, column = 1;

  /// The value of a dict's key, or null if there is none or this is not a dict.
  const Node* get(std::string_view key) const;
};

struct Problem {
  int line, column;
  std::string message;
};

struct Document {
  Node root;  // a dict
  std::optional<Problem> problem;
};

Document parse(const std::string& text);

}  // namespace spl::sdn
