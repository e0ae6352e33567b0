// A module: its global variables by slot, and its imports.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/syntax/parse.h"
#include "host/values/objects.h"

namespace spl {

struct LoadedModule;

/// A module's source and its tree. Functions refer to both.
struct SourceUnit {
  SourceFile source;
  ParseResult tree;
};

/// What a module's statements declare about its names, without their values.
struct ModuleNames {
  struct Import {
    LoadedModule* from;
    Symbol name;
  };

  std::unordered_map<Symbol, Import> imports;
  std::vector<LoadedModule*> wildcards;
  std::unordered_set<Symbol> namespaces;  // bound to a module by a use declaration
  std::unordered_set<Symbol> exports;
  std::unordered_map<Symbol, const TypeExpr*> aliases;  // type A = T
  std::unordered_set<Symbol> top_names;                 // declared outside of functions, or imported
  std::unordered_set<Symbol> fixed;                     // declared with val or const, or decorated
  std::unordered_map<Symbol, int> widths;               // of variables, see Demand
  std::unordered_set<Symbol> searches;                  // hold the result of find() or its kin
  std::unordered_set<Symbol> uniques;                   // of type &T, which moves
  std::unordered_set<Symbol> variables;                 // declared with var: never copied by an importer
  std::unordered_set<Symbol> declared;                  // with var, val or const, and not by an assignment

  /// Removes what a declaration stated about the name, because another one follows.
  void forget(Symbol name);
};

struct LoadedModule : Object, ModuleNames {
  enum class State : uint8_t { kLoading, kRunning, kReady, kFailed };

  std::string name;
  std::string file;  // the canonical path; empty for a module that is no file
  std::unique_ptr<SourceUnit> unit = std::make_unique<SourceUnit>();
  std::vector<std::unique_ptr<SourceUnit>> earlier_units;  // of a session: the other cells
  bool uses_torch = false;                                 // imports it, or a part of it
  bool is_library = false;  // below a library root: errors are reported at the caller's line
  State state = State::kLoading;
  const Proto* body = nullptr;

  std::vector<Value> slots;  // owned; missing until set
  std::vector<Symbol> slot_names;
  std::unordered_map<Symbol, uint32_t> names;
  std::vector<Diagnostic> warnings;                    // of the compiler
  std::map<Symbol, SourceSpan> bare_variants;          // of patterns like `Some(x)`, checked after the module
  std::unordered_map<const void*, Value> undecorated;  // of a decorated function, by its declaration
  /// How functions use a global name: see compiler/name_checks.cpp.
  struct NameUse {
    struct Assigner {  // a function that assigns the name before it reads it
      SourceSpan place;
      bool reads_after = false;
    };
    SourceSpan first_read;                  // line 0: none
    std::unordered_set<const void*> users;  // the functions, by their declarations
    std::unordered_map<const void*, Assigner> assigners;
  };
  std::unordered_map<Symbol, NameUse> uses_of_names;
  std::unordered_set<Symbol> plain_methods;  // of its classes: without parameters and no property or field
  std::unordered_map<Symbol, const Stmt*>
      declarations;                  // functions and types of its statements, while it is compiled
  bool compiles_local_type = false;  // a type of a function, without the function's variables
  bool imports_later = false;        // a function imports names when it runs
  bool is_program = false;           // the file that the host was started with
  bool is_imported = false;          // another module or language reads its variables
  std::unordered_set<Symbol>
      assigned_later;  // by functions of a program with PyTorch that have read the name
  std::unordered_set<uint32_t> slots_in_functions;  // the variables that code outside the body names
  bool is_session = false;                          // made of cells, which may declare a name again
  std::vector<bool> changed;  // of a session, by slot: assigned since the changes were taken

  /// For undefined names: a similar variable that is visible at a use.
  std::unordered_map<Symbol, std::string> near_locals;
  /// For undefined names: the line of a variable of that name whose block has ended before the use.
  std::unordered_map<Symbol, uint32_t> ended_locals;
  /// Undefined names in methods that are fields of the class.
  std::unordered_set<Symbol> bare_fields;
  /// About the variable of an ended block, or the field, of the undefined name; else empty.
  std::string hidden_name_hint(Symbol name) const;

  LoadedModule() : Object(Kind::kModule) {}

  SourceFile& source() const { return unit->source; }
  ParseResult& tree() const { return unit->tree; }

  uint32_t slot(Symbol symbol);
  /// Whether nothing but the running body of the program can read the variable.
  bool is_only_in_body(uint32_t slot) const {
    return is_program && !is_session && !is_imported && !slots_in_functions.contains(slot);
  }
  void define(Symbol symbol, Value owned);
  /// For a session: Simple code assigned the slot.
  void note_change(uint32_t slot);
  /// Releases the values of the module's variables in reverse order at exit; drop() runs.
  void release_variables();
  /// The value of a name in this module's code, or missing. Borrowed.
  Value lookup(Symbol symbol);
  /// The value of a name for another module, or missing. Borrowed.
  Value member(Symbol symbol) { return hides(symbol) ? Value::missing() : lookup_here(symbol); }
  /// The value of a variable of this module itself, or missing. Borrowed.
  Value own(Symbol symbol) const;
  /// Whether the name has a value in this module's code.
  bool has(Symbol symbol) { return !lookup_here(symbol).is_missing(); }
  /// The type after resolving this module's aliases and imported ones.
  const TypeExpr& unaliased(const TypeExpr& type) const;
  Symbol unaliased(Symbol symbol) const;
  /// Whether `use m.*` imports the name.
  bool is_public(Symbol symbol) const;
  /// Whether other modules cannot see the name: the module has an export list without it.
  bool hides(Symbol symbol) const { return !exports.empty() && !exports.contains(symbol); }
  /// Whether the name has a value in the module's code or is assigned by a statement of it.
  bool knows(Symbol symbol);
  /// Whether the name is known and is not only a builtin.
  bool declares(Symbol symbol) { return binds(symbol) || imports.contains(symbol) || has(symbol); }
  /// Whether a statement of the module binds the name, even if it has not run.
  bool binds(Symbol symbol) const { return fixed.contains(symbol) || variables.contains(symbol); }

 private:
  Symbol follow(Symbol symbol, const TypeExpr*& type) const;
  Value lookup_here(Symbol symbol);
  bool in_lookup_ = false;  // breaks cycles of wildcard imports
};

/// Called when Simple code assigns a variable of a session, once until it is re-armed.
struct SessionWatch {
  std::atomic<bool> has_changes{false};
  std::atomic<void (*)()> on_change{nullptr};
};
extern SessionWatch session_watch;

/// Names that are visible in every module.
std::unordered_map<Symbol, Value>& builtins();

}  // namespace spl
