// Rendering of diagnostics.
#include <algorithm>

#include "host/syntax/parse.h"

namespace spl {
namespace {

/// The line that contains `offset`, without its line end.
std::string_view line_at(std::string_view text, uint32_t offset, uint32_t column) {
  const size_t start = offset - std::min(offset, column - 1);
  const size_t end = std::min(text.find('\n', std::min<size_t>(offset, text.size())), text.size());
  std::string_view line = text.substr(std::min(start, text.size()), end - std::min(start, end));
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line.substr(0, line.find('\n'));
}

// The part of a long line around `column` (from 1). Sets `left_out` to the number of bytes before it.
std::string_view window(std::string_view line, uint32_t column, size_t& left_out) {
  constexpr size_t kMaxWidth = 160, kBefore = 100;
  left_out = 0;
  if (line.size() <= kMaxWidth) {
    return line;
  }
  if (column > kBefore) {
    left_out = std::min<size_t>(column - kBefore, line.size() - std::min(line.size(), kMaxWidth));
  }
  while (left_out > 0 && (static_cast<unsigned char>(line[left_out]) & 0xC0) == 0x80) {
    --left_out;  // to a character boundary
  }
  return line.substr(left_out, kMaxWidth);
}

// Replaces control characters by spaces.
std::string printable(std::string_view line) {
  std::string shown(line);
  for (char& c : shown) {
    if (c != '\t' && static_cast<unsigned char>(c) < 0x20) {
      c = ' ';
    }
  }
  return shown;
}

// The source line with a caret below it; "" for a position outside the line.
std::string excerpt(const SourceSpan& span, const SourceFile& file) {
  const std::string_view whole = line_at(file.text, span.start, span.column);
  if (whole.empty() || span.column > whole.size() + 1) {
    return "";
  }
  size_t left_out;
  const std::string line = printable(window(whole, span.column, left_out));
  const std::string before = left_out > 0 ? "…" : "",
                    after = left_out + line.size() < whole.size() ? "…" : "";
  std::string out = "  " + before + line + after + "\n  " + (left_out > 0 ? " " : "");
  const size_t at = span.column - 1 - left_out;
  for (size_t i = 0; i < at; ++i) {
    out += line[i] == '\t' ? "\t" : (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80 ? "" : " ";
  }
  const size_t max_width = std::max<size_t>(line.size() - std::min(line.size(), at), 1);
  return out + std::string(std::clamp<size_t>(span.length, 1, max_width), '^') + "\n";
}

}  // namespace

uint32_t line_start(const std::string& text, uint32_t line) {
  size_t at = 0;
  for (uint32_t i = 1; i < line; ++i) {
    at = text.find('\n', at);
    if (at == std::string::npos) {
      return static_cast<uint32_t>(text.size());
    }
    ++at;
  }
  return static_cast<uint32_t>(at);
}

std::string render(const Diagnostic& diagnostic, const SourceFile& file, const char* kind) {
  const SourceSpan& span = diagnostic.span;
  return file.path + ":" + std::to_string(span.line) + ":" + std::to_string(span.column) + ": " + kind +
         ": " + diagnostic.message + "\n" + excerpt(span, file) +
         (diagnostic.hint.empty() ? "" : "  hint: " + diagnostic.hint + "\n");
}

}  // namespace spl
