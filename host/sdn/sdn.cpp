// A recursive-descent parser: statements by line and indentation, values by character.
#include "host/sdn/sdn.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>
#include <tuple>
#include <utility>

namespace spl::sdn {

namespace {

using Kind = Node::Kind;

constexpr int kMaxDepth = 200;
constexpr size_t kTabWidth = 4;

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_word(char c) { return starts_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Document read() {
    Document document;
    document.root.kind = Kind::kDict;
    try {
      find_line();
      if (!ended_) {
        const size_t indent = indent_;
        read_statements(document.root, indent);
        if (!ended_) {
          fail("unindent does not match any outer indentation level");
        }
      }
    } catch (const Problem& problem) {
      document.problem = problem;
    }
    return document;
  }

 private:
  // ---- positions and errors

  [[noreturn]] void fail(const std::string& message) { fail(message, at_); }
  [[noreturn]] void fail(const std::string& message, size_t at) {
    const auto [line, column] = position_of(at);
    throw Problem{line, column, message};
  }

  // Columns count characters, not bytes.
  std::pair<int, int> position_of(size_t at) const {
    int column = 1;
    for (size_t i = line_start_; i < at; ++i) {
      column += (static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80;
    }
    return {line_, column};
  }

  Node node_here(Kind kind) const {
    Node node;
    node.kind = kind;
    std::tie(node.line, node.column) = position_of(at_);
    return node;
  }

  // ---- characters and lines

  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool at_line_end() const { return at_end() || peek() == '\n'; }
  bool takes(char c) { return peek() == c && (++at_, true); }

  void skip_blanks() {
    while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\r')) {
      ++at_;
    }
  }

  void skip_comment() {
    if (peek() == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }

  void next_line() {
    ++at_;
    ++line_;
    line_start_ = at_;
  }

  // Moves to the first character of the next line that is neither blank nor a comment. Starts at a line
  // start.
  void find_line() {
    for (;;) {
      indent_ = 0;
      for (; peek() == ' ' || peek() == '\t' || peek() == '\r'; ++at_) {
        indent_ += peek() == '\t' ? kTabWidth : peek() == ' ' ? 1 : 0;
      }
      skip_comment();
      ended_ = at_end();
      if (!at_line_end() || ended_) {
        return;
      }
      next_line();
    }
  }

  void end_line() {
    skip_blanks();
    skip_comment();
    if (!at_line_end()) {
      fail("expected end of line after the value");
    }
    if (!at_end()) {
      next_line();
    }
    find_line();
  }

  // Line ends have no meaning inside brackets.
  void skip_space_in_brackets() {
    for (;;) {
      skip_blanks();
      skip_comment();
      if (peek() != '\n') {
        return;
      }
      next_line();
    }
  }

  std::string read_word(const char* what) {
    if (!starts_word(peek())) {
      fail(std::string("expected ") + what);
    }
    const size_t start = at_;
    while (in_word(peek())) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }

  // ---- statements

  void read_statements(Node& dict, size_t indent) {
    while (!ended_ && indent_ == indent) {
      read_statement(dict, indent);
    }
    if (!ended_ && indent_ > indent) {
      fail("unindent does not match any outer indentation level");
    }
  }

  void read_statement(Node& dict, size_t indent) {
    const size_t start = at_;
    std::string key = read_word("a key (a letter or _, then letters, digits and _)");
    if (std::find(dict.names.begin(), dict.names.end(), key) != dict.names.end()) {
      fail("duplicate key '" + key + "'", start);
    }
    skip_blanks();
    Node value = read_value_of(key, start, indent);
    dict.names.push_back(std::move(key));
    dict.items.push_back(std::move(value));
  }

  Node read_value_of(const std::string& key, size_t start, size_t indent) {
    if (takes('|')) {
      return read_named_table(indent);
    }
    if (takes('=')) {
      skip_blanks();
      if (peek() != '{' && peek() != '[') {
        fail("expected '{' or '[' after '='; write other values as '" + key + ": value'");
      }
      return line_value();
    }
    if (!takes(':')) {
      fail("expected ':', '=' or '|' after key '" + key + "'");
    }
    skip_blanks();
    if (is_table_type()) {
      return read_typed_table(indent);
    }
    if (peek() != '#' && !at_line_end()) {
      return line_value();
    }
    const auto [line, column] = position_of(start);
    end_line();
    if (ended_ || indent_ <= indent) {
      throw Problem{line, column, "expected a value or an indented block after '" + key + ":'"};
    }
    return read_block();
  }

  // A block contains either statements or values, as its first line shows.
  Node read_block() {
    Nesting nesting(*this);
    const size_t indent = indent_;
    if (line_is_statement()) {
      Node dict = node_here(Kind::kDict);
      read_statements(dict, indent);
      return dict;
    }
    Node array = node_here(Kind::kArray);
    while (!ended_ && indent_ == indent) {
      if (peek() == '-' && at_ + 1 < text_.size() && (text_[at_ + 1] == ' ' || text_[at_ + 1] == '\t')) {
        ++at_;
      }
      array.items.push_back(line_value());
    }
    if (!ended_ && indent_ > indent) {
      fail("unindent does not match any outer indentation level");
    }
    return array;
  }

  // `host:8080` is a bare string; a key's colon is followed by a blank, a quote, a bracket, or ends the line.
  bool line_is_statement() const {
    size_t i = at_;
    if (!starts_word(text_[i])) {
      return false;
    }
    while (i < text_.size() && in_word(text_[i])) {
      ++i;
    }
    while (i < text_.size() && (text_[i] == ' ' || text_[i] == '\t')) {
      ++i;
    }
    if (i >= text_.size()) {
      return false;
    }
    if (text_[i] == '=' || text_[i] == '|') {
      return true;
    }
    static constexpr std::string_view kAfterColon = " \t\r\n\"[{#";
    return text_[i] == ':' && (i + 1 == text_.size() || kAfterColon.find(text_[i + 1]) != std::string::npos);
  }

  Node line_value() {
    Node value = read_value("");
    end_line();
    return value;
  }

  // ---- tables

  std::vector<std::string> read_words(char end, const char* what) {
    std::vector<std::string> words;
    do {
      skip_blanks();
      words.push_back(read_word(what));
      skip_blanks();
    } while (takes(','));
    if (!takes(end)) {
      fail(std::string("expected ',' or '") + end + "' after " + what);
    }
    return words;
  }

  Node read_named_table(size_t indent) {
    Node table = node_here(Kind::kTable);
    table.names = read_words('|', "a column name");
    skip_blanks();
    if (peek() != '#' && !at_line_end()) {
      read_row(table, table.names.size());
    } else {
      read_rows(table, indent, table.names.size());
    }
    return table;
  }

  bool is_table_type() const {
    static constexpr std::string_view kWord = "table";
    if (text_.compare(at_, kWord.size(), kWord) != 0) {
      return false;
    }
    size_t i = at_ + kWord.size();
    while (i < text_.size() && text_[i] == ' ') {
      ++i;
    }
    return i < text_.size() && text_[i] == '{';
  }

  Node read_typed_table(size_t indent) {
    Node table = node_here(Kind::kTable);
    at_ = text_.find('{', at_) + 1;
    table.types = read_words('}', "a column type");
    skip_blanks();
    if (!takes('=')) {
      read_rows(table, indent, table.types.size());
      return table;
    }
    skip_blanks();
    if (!takes('[')) {
      fail("expected '[' and rows such as (1, 2)");
    }
    read_list(']', [&] {
      if (!takes('(')) {
        fail("expected a row such as (1, 2)");
      }
      add_row(table, read_items(')'), table.types.size());
    });
    end_line();
    return table;
  }

  void read_rows(Node& table, size_t indent, size_t width) {
    end_line();
    if (ended_ || indent_ <= indent) {
      return;
    }
    const size_t rows_indent = indent_;
    while (!ended_ && indent_ == rows_indent) {
      read_row(table, width);
    }
    if (!ended_ && indent_ > indent) {
      fail("unindent does not match any outer indentation level");
    }
  }

  void read_row(Node& table, size_t width) {
    Node row = node_here(Kind::kArray);
    do {
      row.items.push_back(read_value(","));
      skip_blanks();
    } while (takes(','));
    add_row(table, std::move(row), width);
    end_line();
  }

  void add_row(Node& table, Node row, size_t width) {
    if (row.items.size() != width) {
      throw Problem{row.line, row.column,
                    "expected " + std::to_string(width) + " values in the row, got " +
                        std::to_string(row.items.size())};
    }
    table.items.push_back(std::move(row));
  }

  // ---- values

  // An unquoted value ends at the line's end, at a comment, or at one of `stops`.
  Node read_value(std::string_view stops) {
    skip_blanks();
    Node value = node_here(Kind::kText);
    if (peek() == '"') {
      value.text = read_quoted();
    } else if (takes('[')) {
      Nesting nesting(*this);
      const auto [line, column] = std::pair(value.line, value.column);
      value = read_items(']');
      value.line = line;
      value.column = column;
    } else if (takes('{')) {
      Nesting nesting(*this);
      value.kind = Kind::kDict;
      read_list('}', [&] { read_pair(value); });
    } else {
      read_unquoted(value, stops);
    }
    return value;
  }

  Node read_items(char end) {
    Node array = node_here(Kind::kArray);
    const char stops[] = {',', end, '\0'};
    read_list(end, [&] { array.items.push_back(read_value(stops)); });
    return array;
  }

  void read_pair(Node& dict) {
    const size_t start = at_;
    std::string key = read_word("a key");
    if (std::find(dict.names.begin(), dict.names.end(), key) != dict.names.end()) {
      fail("duplicate key '" + key + "'", start);
    }
    skip_blanks();
    if (!takes(':')) {
      fail("expected ':' after key '" + key + "'");
    }
    skip_space_in_brackets();
    dict.items.push_back(read_value(",}"));
    dict.names.push_back(std::move(key));
  }

  // Reads comma-separated items up to the closing bracket; a trailing comma is allowed. The opening bracket
  // was already read.
  template <class Item>
  void read_list(char end, Item&& item) {
    skip_space_in_brackets();
    while (!takes(end)) {
      item();
      skip_space_in_brackets();
      if (takes(',')) {
        skip_space_in_brackets();
        continue;
      }
      if (peek() != end) {
        fail(std::string("expected ',' or '") + end + "'");
      }
    }
  }

  std::string read_quoted() {
    const size_t start = at_++;
    std::string content;
    while (!takes('"')) {
      if (at_line_end()) {
        fail("unterminated string literal", start);
      }
      if (peek() != '\\') {
        content += text_[at_++];
        continue;
      }
      ++at_;
      if (at_line_end()) {
        fail("unterminated string literal", start);
      }
      const char c = text_[at_++];
      content += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
    return content;
  }

  void read_unquoted(Node& value, std::string_view stops) {
    const size_t start = at_;
    while (!at_line_end() && peek() != '#' && stops.find(peek()) == std::string_view::npos) {
      if (peek() == '"') {
        fail("unexpected '\"' in an unquoted value; quote the whole value");
      }
      if (peek() == ',' && stops.empty()) {
        fail("unexpected ',' in an unquoted value; write several values as '= [a, b]'");
      }
      ++at_;
    }
    std::string word = text_.substr(start, at_ - start);
    while (!word.empty() && (word.back() == ' ' || word.back() == '\t' || word.back() == '\r')) {
      word.pop_back();
    }
    if (word.empty()) {
      fail("expected a value", start);
    }
    classify(value, std::move(word), start);
  }

  void classify(Node& value, std::string word, size_t start) {
    if (word == "null" || word == "nil") {
      value.kind = Kind::kNull;
    } else if (word == "true" || word == "false") {
      value.kind = Kind::kBool;
      value.flag = word == "true";
    } else if (const auto kind = number_kind(word)) {
      value.kind = *kind;
      std::erase(word, '_');
      const char* end = word.data() + word.size();
      const auto error = *kind == Kind::kInt ? std::from_chars(word.data(), end, value.integer).ec
                                             : std::from_chars(word.data(), end, value.number).ec;
      if (error != std::errc()) {
        fail("number out of range: " + word, start);
      }
    } else {
      value.text = std::move(word);
    }
  }

  // The kind of a number such as -12, 1_000, 3.5 or 1e-3; none for other words, such as 2.1.0.
  static std::optional<Kind> number_kind(std::string_view word) {
    size_t i = word.starts_with('-') ? 1 : 0;
    const auto digits = [&] {
      const size_t start = i;
      while (i < word.size() && (is_digit(word[i]) || (i > start && word[i] == '_'))) {
        ++i;
      }
      return i > start;
    };
    if (!digits()) {
      return std::nullopt;
    }
    Kind kind = Kind::kInt;
    if (i + 1 < word.size() && word[i] == '.' && is_digit(word[i + 1])) {
      kind = Kind::kFloat;
      ++i;
      digits();
    }
    if (i < word.size() && (word[i] == 'e' || word[i] == 'E')) {
      kind = Kind::kFloat;
      ++i;
      if (i < word.size() && (word[i] == '-' || word[i] == '+')) {
        ++i;
      }
      if (!digits()) {
        return std::nullopt;
      }
    }
    return i == word.size() ? std::optional(kind) : std::nullopt;
  }

  // Limits the nesting of blocks and brackets, so that the C stack suffices.
  struct Nesting {
    explicit Nesting(Reader& owner) : reader(owner) {
      if (++reader.depth_ > kMaxDepth) {
        reader.fail("nested too deeply");
      }
    }
    ~Nesting() { --reader.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Reader& reader;
  };

  const std::string& text_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
  size_t indent_ = 0;   // of the line that find_line() found
  bool ended_ = false;  // find_line() found none
  int depth_ = 0;
};

}  // namespace

const Node* Node::get(std::string_view key) const {
  if (kind != Kind::kDict) {
    return nullptr;
  }
  const auto found = std::find(names.begin(), names.end(), key);
  return found == names.end() ? nullptr : &items[static_cast<size_t>(found - names.begin())];
}

Document parse(const std::string& text) { return Reader(text).read(); }

}  // namespace spl::sdn
