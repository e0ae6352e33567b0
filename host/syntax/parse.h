// The interface of the parser: source text to a tree and diagnostics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/syntax/ast.h"

namespace spl {

struct ParseResult {
  Module module;                        // valid only without diagnostics
  std::vector<Diagnostic> diagnostics;  // in source order
  bool ok() const { return diagnostics.empty(); }
};

/// How '…' and None are read: a raw string and an Option, or as in Python, which programs that import torch
/// are ported from.
enum class Literals : uint8_t { kSimple, kPythonIfTorch, kPython };

/// Parses a whole file. Never throws, for any bytes. kPythonIfTorch: as in Python if the file imports torch.
ParseResult parse(const SourceFile& file, Literals literals = Literals::kPythonIfTorch);

/// The offset of a line, or the end of the text if it has fewer lines.
uint32_t line_start(const std::string& text, uint32_t line);

/// `FILE:LINE:COLUMN: KIND: MESSAGE`, the source line, a caret, and the hint, each ending with a newline.
std::string render(const Diagnostic& diagnostic, const SourceFile& file, const char* kind = "error");

/// The keyword that `name` is a misspelling of, or "". Also used for undefined names: `whlie a < b:` parses
/// as a call of `whlie` with a block.
std::string_view closest_keyword(std::string_view name);

/// The tree as S-expressions, one line per top-level statement, for tests and debugging.
std::string dump(const Module& module);

}  // namespace spl
