// How complaints look.
#include <algorithm>

#include "parse.h"

namespace spl {
namespace {

/// The line that holds `offset`, without its end.
std::string_view line_at(std::string_view text, uint32_t offset, uint32_t column) {
  const size_t start = offset - std::min(offset, column - 1);
  const size_t end = std::min(text.find('\n', std::min<size_t>(offset, text.size())), text.size());
  std::string_view line = text.substr(std::min(start, text.size()), end - std::min(start, end));
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return line.substr(0, line.find('\n'));
}

}  // namespace

std::string render(const Diagnostic& diagnostic, const SourceFile& file, const char* kind) {
  constexpr size_t kWidest = 200;  // of a shown line
  const SourceSpan& span = diagnostic.span;
  std::string out = file.path + ":" + std::to_string(span.line) + ":" + std::to_string(span.column) + ": " +
                    kind + ": " + diagnostic.message + "\n";
  const std::string_view line = line_at(file.text, span.start, span.column).substr(0, kWidest);
  if (!line.empty() && span.column <= line.size() + 1) {
    out += "  " + std::string(line) + "\n  ";
    for (uint32_t i = 0; i + 1 < span.column; ++i)
      out += line[i] == '\t' ? '\t' : ' ';
    const size_t room = line.size() + 1 - (span.column - 1);
    out += std::string(std::clamp<size_t>(span.length, 1, std::max<size_t>(room, 1)), '^') + "\n";
  }
  if (!diagnostic.hint.empty())
    out += "  hint: " + diagnostic.hint + "\n";
  return out;
}

}  // namespace spl
