// Keywords that ported programs use as names: `loop = 3`, `def f(impl)`, `export(model)`. A module that uses
// the keyword where only a name is valid reads it as a name wherever it does not begin a declaration.
#include <algorithm>
#include <array>

#include "host/syntax/parser.h"

namespace spl {

namespace {

constexpr std::array kKeywordsAsNames = {Tok::kMe,     Tok::kVal,    Tok::kVar,   Tok::kLet,  Tok::kConst,
                                         Tok::kStruct, Tok::kEnum,   Tok::kTrait, Tok::kImpl, Tok::kExtern,
                                         Tok::kUse,    Tok::kExport, Tok::kPub,   Tok::kLoop, Tok::kSpawn,
                                         Tok::kDefer,  Tok::kUnsafe, Tok::kMove,  Tok::kMut};

bool is_assignment(Tok kind) {
  return kind == Tok::kAssign || (kind >= Tok::kPlusAssign && kind <= Tok::kShiftRightAssign);
}

/// A keyword that continues an expression.
bool is_operator_word(Tok kind) {
  switch (kind) {
    case Tok::kIn:
    case Tok::kIs:
    case Tok::kAnd:
    case Tok::kOr:
    case Tok::kXor:
    case Tok::kAs:
    case Tok::kIf:
    case Tok::kElse:
    case Tok::kFor:
      return true;
    default:
      return false;
  }
}

/// What follows an operand, and no keyword of a declaration.
bool follows_operand(Tok kind) {
  switch (kind) {
    case Tok::kComma:
    case Tok::kRightParen:
    case Tok::kRightBracket:
    case Tok::kRightBrace:
    case Tok::kDot:
    case Tok::kPlus:
    case Tok::kMinus:
    case Tok::kStar:
    case Tok::kStarStar:
    case Tok::kSlash:
    case Tok::kSlashSlash:
    case Tok::kPercent:
    case Tok::kEqual:
    case Tok::kNotEqual:
    case Tok::kLess:
    case Tok::kGreater:
    case Tok::kLessEqual:
    case Tok::kGreaterEqual:
      return true;
    default:
      return is_operator_word(kind);
  }
}

/// Keywords before `(` that begin no form: `export(model)`.
bool is_called(Tok kind) {
  switch (kind) {
    case Tok::kConst:
    case Tok::kStruct:
    case Tok::kEnum:
    case Tok::kTrait:
    case Tok::kImpl:
    case Tok::kExport:
    case Tok::kLoop:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Parser::mark_names() {
  auto& tokens = stream_.tokens;
  for (const Tok keyword : kKeywordsAsNames) {
    bool is_name = false;
    for (size_t i = 0; i + 1 < tokens.size() && !is_name; ++i) {
      is_name = tokens[i].kind == keyword && !declares(i) && names_keyword(i);
    }
    for (size_t i = 0; is_name && i + 1 < tokens.size(); ++i) {
      if (tokens[i].kind == keyword && !declares(i)) {
        tokens[i].kind = Tok::kName;
      }
    }
  }
}

/// Whether the keyword at this token begins a form of Simple.
bool Parser::declares(size_t index) const {
  const auto& tokens = stream_.tokens;
  const Token &word = tokens[index], &next = tokens[index + 1];
  if (next.line_start) {
    return word.kind == Tok::kMe && word.line_start;
  }
  const bool before_name = next.kind == Tok::kName || (is_keyword(next.kind) && !is_operator_word(next.kind));
  const bool follows_dot = index > 0 && tokens[index - 1].kind == Tok::kDot;
  if (follows_dot) {
    return false;
  }
  switch (word.kind) {
    case Tok::kMe:  // a method that changes its object
    case Tok::kMut:
    case Tok::kMove:
    case Tok::kSpawn:
    case Tok::kPub:
      return before_name || next.kind == Tok::kBackslash;
    case Tok::kVal:
    case Tok::kVar:
    case Tok::kLet: {
      const bool opens =
          next.kind == Tok::kLeftParen || (next.kind == Tok::kLeftBracket && next.space_before);
      const size_t close = opens ? matching_bracket(index + 1) : kNone;
      const bool is_pattern =
          close != kNone && close + 1 < tokens.size() && tokens[close + 1].kind == Tok::kAssign;
      return before_name || is_pattern || next.kind == Tok::kLeftBrace;
    }
    case Tok::kLoop:
      return (next.kind == Tok::kColon && tokens[index].line_start) || next.kind == Tok::kLeftBrace;
    case Tok::kUse:
      return word.line_start;  // `use .name`, too
    case Tok::kDefer:
      return word.line_start && (before_name || next.kind == Tok::kColon);
    case Tok::kUnsafe:
      return next.kind == Tok::kColon || next.kind == Tok::kLeftParen || next.kind == Tok::kLeftBrace;
    default:
      return before_name || next.kind == Tok::kLeftBrace || next.kind == Tok::kStar ||
             (word.kind == Tok::kImpl && next.kind == Tok::kLess);
  }
}

/// Whether the keyword at this token, which begins no form, can only be a name.
bool Parser::names_keyword(size_t index) const {
  const auto& tokens = stream_.tokens;
  const Token &word = tokens[index], &next = tokens[index + 1];
  const Token& before = tokens[index > 0 ? index - 1 : 0];
  if (index > 0 && before.kind == Tok::kDot) {
    return false;  // a member, whose name may be a keyword anyway
  }
  const bool is_assigned = is_assignment(next.kind) && (word.line_start || is_parameter(index));
  const bool is_variable =
      index > 0 && (before.kind == Tok::kFor || (before.kind == Tok::kAs && !word.line_start));
  if (is_assigned || is_variable || (next.kind == Tok::kColon && is_parameter(index))) {
    return true;
  }
  if (word.kind == Tok::kMe) {
    return is_parameter(index);
  }
  if (next.line_start) {
    return index > 0 && !word.line_start;
  }
  if (next.kind == Tok::kAssign) {
    return false;  // the name of an argument
  }
  const bool takes_operand = word.kind == Tok::kMove || word.kind == Tok::kMut || word.kind == Tok::kSpawn;
  if (takes_operand && (next.kind == Tok::kMinus || next.kind == Tok::kStar)) {
    return false;
  }
  const bool opens = next.kind == Tok::kLeftParen || next.kind == Tok::kLeftBracket;
  return follows_operand(next.kind) || (opens && !next.space_before && is_called(word.kind));
}

}  // namespace spl
