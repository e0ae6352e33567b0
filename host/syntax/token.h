// Tokens of Simple. There are no tokens for layout: every token records whether it starts a line and how far
// that line is indented. The parser interprets this by context.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/syntax/source.h"

namespace spl {

enum class Tok : uint8_t {
  kEof,
  kNewline,  // never in the stream: the parser's kind of a token that ends a logical line
  kInt,
  kFloat,
  kText,
  kName,

  // Brackets and punctuation
  kLeftParen,
  kRightParen,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kComma,
  kColon,
  kColonColon,
  kSemicolon,
  kDot,
  kDotDot,
  kDotDotEqual,
  kEllipsis,
  kDotQuestion,
  kQuestion,
  kQuestionDot,
  kQuestionQuestion,
  kArrow,
  kFatArrow,
  kBackslash,
  kHash,
  kHashBracket,
  kAt,

  // Operators
  kAssign,
  kPlusAssign,
  kMinusAssign,
  kStarAssign,
  kSlashAssign,
  kPercentAssign,
  kSlashSlashAssign,
  kStarStarAssign,
  kAtAssign,
  kAmpersandAssign,
  kPipeAssign,
  kCaretAssign,
  kShiftLeftAssign,
  kShiftRightAssign,
  kTildeAssign,
  kPlus,
  kMinus,
  kStar,
  kStarStar,
  kSlash,
  kSlashSlash,
  kPercent,
  kTilde,
  kTildeArrow,
  kEqual,
  kNotEqual,
  kLess,
  kGreater,
  kLessEqual,
  kGreaterEqual,
  kShiftLeft,
  kAmpersand,
  kAndAnd,
  kPipe,
  kPipePipe,
  kPipeArrow,
  kBang,
  kCaret,

  // Keywords, in the order of kKeywords (lexer.cpp)
  kFn,
  kMe,
  kVal,
  kVar,
  kLet,
  kConst,
  kStatic,
  kStruct,
  kClass,
  kEnum,
  kTrait,
  kImpl,
  kMixin,
  kExtern,
  kUse,
  kImport,
  kExport,
  kMod,
  kPub,
  kType,
  kAlias,
  kIf,
  kElif,
  kElse,
  kFor,
  kWhile,
  kLoop,
  kMatch,
  kCase,
  kReturn,
  kBreak,
  kContinue,
  kPass,
  kIn,
  kIs,
  kNot,
  kAnd,
  kOr,
  kXor,
  kAs,
  kTrue,
  kFalse,
  kNil,
  kSelf,
  kSuper,
  kAsync,
  kAwait,
  kYield,
  kSpawn,
  kWith,
  kDefer,
  kUnsafe,
  kMove,
  kMut,
  kWhere,
};

inline bool is_keyword(Tok kind) { return kind >= Tok::kFn; }

/// The form of a string literal.
struct TextShape {
  bool interpolates = false;
  bool escapes = false;
  bool triple = false;
  bool raw = false;    // r"…", which may span lines
  bool bytes = false;  // b"…", whose escapes are bytes
  uint8_t prefix = 0;  // the letters before the quote: f"…", rb"…"

  uint32_t opening() const { return prefix + closing(); }
  uint32_t closing() const { return triple ? 3 : 1; }
};

struct Token {
  Tok kind = Tok::kEof;
  bool line_start = false;
  bool space_before = false;
  bool terminated = true;  // false: a string literal without its closing quote
  uint32_t indent = 0;     // indentation of the token's line; a tab counts as 4 columns
  uint32_t start = 0;
  uint32_t length = 0;
  uint32_t line = 1;
  uint32_t column = 1;
  Symbol symbol = kNoSymbol;  // names and keywords
  TextShape text;
};

/// Comments are separate from the tokens, for documentation and for a formatter.
struct Comment {
  SourceSpan span;
  bool is_doc = false;        // ##, ///, /** */
  uint32_t before_token = 0;  // index of the token that follows
};

struct TokenStream {
  std::vector<Token> tokens;  // ends with kEof
  std::vector<Comment> comments;
};

}  // namespace spl
