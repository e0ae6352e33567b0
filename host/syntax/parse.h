// The syntax room's door: text in, tree or diagnostics out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/syntax/ast.h"

namespace spl {

struct ParseResult {
  Module module;                        // what could be read; of use only without diagnostics
  std::vector<Diagnostic> diagnostics;  // in the order of the text
  bool ok() const { return diagnostics.empty(); }
};

/// Reads a whole file. Never throws, whatever the bytes.
ParseResult parse(const SourceFile& file);

/// `FILE:LINE:COLUMN: KIND: MESSAGE`, the source line, a caret, and the hint, each ending with a newline.
std::string render(const Diagnostic& diagnostic, const SourceFile& file, const char* kind = "error");

/// The keyword that a misspelt `name` was meant to be, or "". For unknown names too: `whlie a < b:` reads as
/// a call of `whlie` with a block.
std::string_view closest_keyword(std::string_view name);

/// The tree as S-expressions, one top-level statement a line: for tests and debugging.
std::string dump(const Module& module);

}  // namespace spl
