// A line-wise reader: indentation nests keys and holds the rows of a table.
#include "sdn.h"

#include <sstream>

namespace spl::sdn {

namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos)
    return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Without its comment; a # inside quotes is none.
std::string content_of(const std::string& line) {
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"')
      quoted = !quoted;
    if (line[i] == '#' && !quoted)
      return line.substr(0, i);
  }
  return line;
}

std::string unquoted(const std::string& value) {
  std::string text = trimmed(value);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    return text.substr(1, text.size() - 2);
  return text;
}

std::vector<std::string> split_row(const std::string& row) {
  std::vector<std::string> parts;
  std::string part;
  bool quoted = false;
  for (const char c : row) {
    if (c == '"')
      quoted = !quoted;
    if (c == ',' && !quoted) {
      parts.push_back(unquoted(part));
      part.clear();
    } else {
      part += c;
    }
  }
  parts.push_back(unquoted(part));
  return parts;
}

struct Level {
  size_t indent;
  std::string prefix;
};

}  // namespace

Document parse(const std::string& text) {
  Document document;
  std::vector<Level> levels = {{0, ""}};
  Table* table = nullptr;
  size_t table_indent = 0;
  std::istringstream input(text);
  int number = 0;
  const auto complain = [&](const std::string& what) {
    document.error = std::to_string(number) + ": error: " + what;
  };
  for (std::string line; std::getline(input, line);) {
    ++number;
    const std::string content = content_of(line);
    const std::string body = trimmed(content);
    if (body.empty())
      continue;
    const size_t indent = content.find_first_not_of(" \t");
    if (table != nullptr && indent > table_indent) {
      std::vector<std::string> row = split_row(body);
      if (row.size() != table->columns.size()) {
        complain("this row has " + std::to_string(row.size()) + " values, the table " +
                 std::to_string(table->columns.size()) + " columns");
        return document;
      }
      table->rows.push_back(std::move(row));
      continue;
    }
    table = nullptr;
    while (levels.size() > 1 && indent < levels.back().indent)
      levels.pop_back();
    if (const size_t bar = body.find('|'); bar != std::string::npos && body.find(':') > bar) {
      const size_t end = body.find('|', bar + 1);
      if (end == std::string::npos) {
        complain("a table's columns end with |");
        return document;
      }
      table = &document.tables[levels.back().prefix + trimmed(body.substr(0, bar))];
      table->columns = split_row(body.substr(bar + 1, end - bar - 1));
      table_indent = indent;
      continue;
    }
    const size_t colon = body.find(':');
    if (colon == std::string::npos) {
      complain("expected `key: value`");
      return document;
    }
    const std::string key = levels.back().prefix + trimmed(body.substr(0, colon));
    const std::string value = unquoted(body.substr(colon + 1));
    if (trimmed(body.substr(colon + 1)).empty())
      levels.push_back({indent + 1, key + "."});
    else
      document.values[key] = value;
  }
  return document;
}

}  // namespace spl::sdn
