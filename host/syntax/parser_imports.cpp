// Imports and exports: use, import, from, export.
#include "host/syntax/parser.h"

namespace spl {

/// `use a.b`, `use a.b.{c as d}`, `use a.b.(c)`, `use a.b.*`, `import a.b as t`.
StmtPtr Parser::use(bool reexport) {
  auto node = make<UseDecl>(here());
  node->reexport = reexport;
  advance();
  module_path(*node);
  const bool member = accept(Tok::kDot) || accept(Tok::kColonColon);
  if (is(Tok::kLeftBrace) || is(Tok::kLeftParen)) {
    bracketed_names(node->names, is(Tok::kLeftBrace) ? Tok::kRightBrace : Tok::kRightParen);
  } else if (member) {
    if (!accept(Tok::kStar)) {
      fail_expected("a name, '{' or '*' after the dot");
    }
    node->everything = true;
  } else if (accept(Tok::kAs)) {
    node->alias = expect_name("a name after 'as'");
  }
  node->span = from(node->span);
  return node;
}

/// `mod name`: imports a file, or a folder with a module, that lies next to this one.
StmtPtr Parser::submodule(bool reexport) {
  auto node = make<UseDecl>(here());
  node->reexport = reexport;
  node->parents = 1;
  advance();
  node->path.push_back(expect_name("a module name"));
  node->span = from(node->span);
  return node;
}

/// `from a.b import *`, `from a.b import c, d as e`, `from a.b import {c}`.
StmtPtr Parser::from_import() {
  auto node = make<UseDecl>(here());
  advance();
  module_path(*node);
  expect(Tok::kImport, "after the module name");
  if (accept(Tok::kStar)) {
    node->everything = true;
  } else if (is(Tok::kLeftBrace) || is(Tok::kLeftParen)) {
    bracketed_names(node->names, is(Tok::kLeftBrace) ? Tok::kRightBrace : Tok::kRightParen);
  } else {
    listed_names(node->names);
  }
  node->span = from(node->span);
  return node;
}

/// Leading dots, then names. Stops before `.{`, `.*` and `.(`.
void Parser::module_path(UseDecl& use) {
  for (;; advance()) {
    if (is(Tok::kDot)) {
      use.parents += 1;
    } else if (is(Tok::kDotDot)) {
      use.parents += 2;
    } else if (is(Tok::kEllipsis)) {
      use.parents += 3;
    } else {
      break;
    }
  }
  const auto name_at = [&](const Token& token) { return token.kind == Tok::kName || is_keyword(token.kind); };
  const bool only_dots = use.parents > 0 && (is(Tok::kImport) || is(Tok::kLeftBrace));
  if (only_dots) {
    return;
  }
  use.path.push_back(member_name());
  while ((is(Tok::kDot) || is(Tok::kColonColon)) && name_at(ahead())) {
    advance();
    use.path.push_back(member_name());
  }
}

void Parser::bracketed_names(std::vector<ImportName>& out, Tok close) {
  Scope scope(*this);
  open_bracket();
  while (!is(close)) {
    out.push_back(import_name());
    if (!accept(Tok::kComma)) {
      break;
    }
  }
  close_bracket(close, "after the names");
}

/// Names up to the end of the line. A trailing comma continues on a more deeply indented line.
void Parser::listed_names(std::vector<ImportName>& out) {
  do {
    if (is(Tok::kNewline) && opens_indented()) {
      begin_line();
    }
    out.push_back(import_name());
  } while (accept(Tok::kComma));
}

ImportName Parser::import_name() {
  ImportName name;
  name.span = here();
  name.name = name.alias = member_name();
  if (accept(Tok::kAs)) {
    name.alias = expect_name("a name after 'as'");
  }
  return name;
}

/// Distinguishes `export a, b` from `export fn …`: a name followed by a comma or the end of the line.
bool Parser::starts_export_names() const {
  const Token& first = ahead();
  if (first.kind == Tok::kLeftBrace) {
    return true;
  }
  if (first.kind != Tok::kName && !is_keyword(first.kind)) {
    return false;
  }
  const Token& second = ahead(2);
  return second.line_start || second.kind == Tok::kComma || second.kind == Tok::kSemicolon ||
         second.kind == Tok::kAs;
}

StmtPtr Parser::export_names() {
  auto node = make<ExportDecl>(here());
  advance();
  if (is(Tok::kLeftBrace)) {
    bracketed_names(node->names, Tok::kRightBrace);
  } else {
    listed_names(node->names);
  }
  return node;
}

}  // namespace spl
