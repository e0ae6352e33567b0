#include "tests/host/syntax/mutations.h"

#include <array>
#include <string_view>

namespace spl::test {
namespace {

constexpr size_t kLongest = 16384;

// Tokens that affect the grammar.
constexpr std::string_view kPieces[] = {
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ":\n",
    "\n",
    "\n    ",
    "\n\t",
    ",",
    ";",
    ".",
    "..",
    "..=",
    "...",
    "?",
    "??",
    "?.",
    ".?",
    "->",
    "=>",
    "=",
    "==",
    "+=",
    "\\",
    "\\x: ",
    "|x| ",
    "||",
    "|>",
    "|",
    "&",
    "&:",
    "*",
    "**",
    "@",
    "@[",
    "#[",
    "#",
    "/*",
    "*/",
    "\"",
    "'",
    "\"\"\"",
    "f\"",
    "r\"",
    "f\"\"\"",
    "{{",
    "\\u{",
    "\\",
    "<",
    ">",
    ">>",
    "<<<",
    "~",
    "!",
    "$",
    "\xE2\x80\x9C",
    "\xFF",
    "fn ",
    "me ",
    "val ",
    "var ",
    "let ",
    "class ",
    "struct ",
    "enum ",
    "trait ",
    "impl ",
    "extern ",
    "use ",
    "from ",
    "export ",
    "type ",
    "if ",
    "elif ",
    "else",
    "for ",
    " in ",
    "while ",
    "loop",
    "match ",
    "case ",
    "return ",
    "with ",
    " as ",
    "defer ",
    "unsafe",
    "assert ",
    "async ",
    "await ",
    "new(&) ",
    "not ",
    " and ",
    " or ",
    " is ",
    "pass",
    "nil",
    "self",
    "0x",
    "1.",
    ".5",
    "1e",
    "9999999999999999999",
    "5_km",
    "_",
    "_1",
    "T<",
    "Dict<text, [i64]>",
};

}  // namespace

Mutator::Mutator(std::vector<std::string> corpus, uint64_t seed)
    : corpus_(std::move(corpus)), random_(seed) {}

std::string Mutator::next() {
  std::string text = any_program();
  for (size_t faults = 1 + below(6); faults > 0; --faults) {
    mutate(text);
  }
  if (text.size() > kLongest) {
    text.resize(kLongest);
  }
  return text;
}

void Mutator::mutate(std::string& text) {
  static constexpr std::array kWays = {
      &Mutator::erase,  &Mutator::repeat, &Mutator::insert_piece, &Mutator::insert_piece,
      &Mutator::indent, &Mutator::splice, &Mutator::set_byte,     &Mutator::nest,
  };
  (this->*kWays[below(kWays.size())])(text);
}

void Mutator::erase(std::string& text) {
  const size_t at = below(text.size());
  text.erase(at, 1 + below(below(4) == 0 ? text.size() : 8));
}

void Mutator::repeat(std::string& text) {
  const size_t at = below(text.size());
  const std::string piece = text.substr(at, 1 + below(40));
  for (size_t times = 1 + below(4); times > 0; --times) {
    text.insert(at, piece);
  }
}

void Mutator::insert_piece(std::string& text) {
  text.insert(below(text.size() + 1), kPieces[below(std::size(kPieces))]);
}

void Mutator::set_byte(std::string& text) {
  if (!text.empty()) {
    text[below(text.size())] = static_cast<char>(below(256));
  }
}

/// Changes the indentation of a line.
void Mutator::indent(std::string& text) {
  const size_t line = text.find('\n', below(text.size()));
  if (line == std::string::npos) {
    return;
  }
  if (below(2) == 0) {
    text.insert(line + 1, below(2) == 0 ? "    " : "\t");
  } else {
    text.erase(line + 1, below(5));
  }
}

/// Appends a part of another program.
void Mutator::splice(std::string& text) {
  const std::string& other = any_program();
  const size_t from = below(other.size());
  text.insert(below(text.size() + 1), other.substr(from, below(400)));
}

/// Repeats one piece excessively.
void Mutator::nest(std::string& text) {
  const std::string_view piece = kPieces[below(std::size(kPieces))];
  std::string deep;
  for (size_t times = below(2000); times > 0; --times) {
    deep += piece;
  }
  text.insert(below(text.size() + 1), deep);
}

}  // namespace spl::test
