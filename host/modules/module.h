// A module: its global variables by slot, and how names of other modules come into it.
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/syntax/parse.h"
#include "host/values/objects.h"

namespace spl {

struct LoadedModule : Object {
  enum class State : uint8_t { kLoading, kRunning, kReady, kFailed };
  struct Import {
    LoadedModule* from;
    Symbol name;
  };

  std::string name;
  SourceFile source;
  ParseResult tree;
  bool is_library = false;  // below the library root: errors are told at the caller's line
  State state = State::kLoading;
  const Proto* body = nullptr;

  std::vector<Value> slots;  // owned; missing until set
  std::vector<Symbol> slot_names;
  std::unordered_map<Symbol, uint32_t> names;
  std::unordered_map<Symbol, Import> imports;
  std::vector<LoadedModule*> wildcards;
  std::unordered_set<Symbol> exports;
  std::unordered_map<Symbol, const TypeExpr*> aliases;  // type A = T
  std::vector<Diagnostic> warnings;                     // of the compiler
  std::map<Symbol, SourceSpan> bare_variants;  // of patterns like `Some(x)`, to be checked at the end
  std::unordered_set<Symbol> top_names;        // declared outside of functions, or imported
  std::unordered_set<Symbol> fixed;            // bound here by val or const
  std::unordered_set<Symbol> uniques;          // hold a &T, which moves
  std::unordered_set<Symbol> variables;        // declared here as var: never copied by an importer
  /// For names that nothing defines: a variable in sight of such a use that looks like it.
  std::unordered_map<Symbol, std::string> near_locals;

  LoadedModule() : Object(Kind::kModule) {}

  uint32_t slot(Symbol symbol);
  void define(Symbol symbol, Value owned);
  /// Lets go of the values of the module's variables, the last first, at the end of the program: drop() runs.
  void give_up_variables();
  /// The value of a name as this module's own code sees it; missing where there is none. Borrowed.
  Value lookup(Symbol symbol);
  /// The value of a name asked for from outside.
  Value member(Symbol symbol) { return hides(symbol) ? Value::missing() : lookup_here(symbol); }
  /// The value of a variable of its own; missing where there is none. Borrowed.
  Value own(Symbol symbol) const;
  /// Whether the module's own code sees a value of that name.
  bool has(Symbol symbol) { return !lookup_here(symbol).is_missing(); }
  /// What a type is once this module's aliases, and those that it imports, are followed.
  const TypeExpr& unaliased(const TypeExpr& type) const;
  Symbol unaliased(Symbol symbol) const;
  /// The names that `use m.*` gives.
  bool gives(Symbol symbol) const;
  /// Whether a name that the module has is kept from others, because it exports and does not export this one.
  bool hides(Symbol symbol) const { return !exports.empty() && !exports.contains(symbol); }
  /// Whether the module's code has, or will have, a value of that name.
  bool knows(Symbol symbol);
  /// Whether some statement of the module binds the name, even if it has not run yet.
  bool binds(Symbol symbol) const { return fixed.contains(symbol) || variables.contains(symbol); }

 private:
  Symbol follow(Symbol symbol, const TypeExpr*& type) const;
  Value lookup_here(Symbol symbol);
  bool looking_ = false;  // a cycle of wildcard imports ends here
};

/// Names that every module sees.
std::unordered_map<Symbol, Value>& builtins();

}  // namespace spl
