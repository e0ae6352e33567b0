// Converts source text to tokens.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/syntax/token.h"

namespace spl {

/// The range that a lexer reads: a whole file, or one `{…}` of an interpolated string.
struct LexRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t line = 1;
  uint32_t column = 1;
};

class Lexer {
 public:
  Lexer(const SourceFile& file, LexRange range, std::vector<Diagnostic>& diagnostics);

  TokenStream run();

  /// The offset of the `}` that closes the interpolation opened at `open`; none if that brace is literal.
  std::optional<uint32_t> interpolation_end(uint32_t open, char quote, int depth = 0);
  char quote_in_braces(uint32_t start, TextShape shape) const;

 private:
  char at(uint32_t offset) const { return offset < range_.end ? text_[offset] : '\0'; }
  bool starts_with(uint32_t offset, std::string_view what) const;

  void skip_blank();
  void line_comment(bool is_doc);
  bool after_typed_name() const;
  void block_comment();
  void newline();
  void indentation();
  void next_token();
  void name_or_keyword();
  void number();
  void text(TextShape shape);
  void punctuation();
  void unexpected_character();

  bool starts_with_point() const;
  std::optional<TextShape> text_shape_at(uint32_t offset) const;
  bool opens_triple(uint32_t offset) const;
  uint32_t text_end(uint32_t start, TextShape shape, int depth, bool& terminated);

  void emit(Tok kind, uint32_t length);
  SourceSpan span(uint32_t start, uint32_t length) const;
  void report(SourceSpan where, std::string message, std::string hint = "");

  const SourceFile& file_;
  std::string_view text_;
  LexRange range_;
  std::vector<Diagnostic>& diagnostics_;
  TokenStream out_;
  std::vector<char> brackets_;
  std::unordered_map<uint32_t, std::optional<uint32_t>> interpolation_ends_;
  uint32_t pos_ = 0;
  uint32_t line_ = 1;
  uint32_t line_begin_ = 0;  // the offset of column 1 of this line; may wrap around below zero
  uint32_t indent_ = 0;
  bool line_start_ = true;
  bool joined_ = false;  // the previous line ended with a backslash
};

}  // namespace spl
