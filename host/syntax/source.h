// Source text, spans, diagnostics and interned names: the parser's output that later stages use.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spl {

/// The text of one file. The loader chooses `id`; spans contain it.
struct SourceFile {
  uint32_t id = 0;
  std::string path;
  std::string text;
};

/// A range of one file. Lines and columns start at 1. Columns count bytes, as in editors' FILE:LINE:COLUMN.
struct SourceSpan {
  uint32_t file = 0;
  uint32_t start = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t length = 0;
};

/// An interned name. 0 is "no name".
using Symbol = uint32_t;
inline constexpr Symbol kNoSymbol = 0;

/// Maps names to small numbers and back. Not thread-safe: the host lock guards it.
class Interner {
 public:
  Interner() { intern(""); }

  Symbol intern(std::string_view name) {
    if (const auto found = symbols_.find(name); found != symbols_.end()) {
      return found->second;
    }
    const auto symbol = static_cast<Symbol>(names_.size());
    symbols_.emplace(names_.emplace_back(name), symbol);
    return symbol;
  }

  /// Valid for the life of the process.
  const std::string& name(Symbol symbol) const { return names_[symbol]; }

 private:
  std::deque<std::string> names_;  // a deque, so that the keys below stay valid
  std::unordered_map<std::string_view, Symbol> symbols_;
};

/// The process-wide table: all modules share their names.
inline Interner& interner() {
  static Interner table;
  return table;
}
inline Symbol intern(std::string_view name) { return interner().intern(name); }
inline const std::string& name_of(Symbol symbol) { return interner().name(symbol); }

/// An error or warning about the source. `hint` may be empty.
struct Diagnostic {
  SourceSpan span;
  std::string message;
  std::string hint;
};

}  // namespace spl
