// What a function does with its variables: which collections it changes, and which it takes apart.
#pragma once

#include <unordered_set>
#include <vector>

#include "host/syntax/ast.h"

namespace spl {

struct VariableUses {
  /// The variables whose elements the function names: `pair.0`, `pair[1]`, `val (key, value) = pair`.
  std::unordered_set<Symbol> taken_apart;
  /// The variables whose elements the function changes.
  std::unordered_set<Symbol> changed;
  /// The variables with the value of a place that the function later assigns: `x = a.b`, `a.b = x`.
  std::unordered_set<Symbol> stored_back;
  /// The fields of `self` whose elements the function changes, and those that it assigns.
  std::unordered_set<Symbol> changed_fields, assigned_fields;
  /// The names that the function assigns before it reads them, and reads afterwards or assigns as a part of a
  /// tuple. They are variables of the function in Python, where nothing declares them otherwise.
  std::unordered_set<Symbol> assigned_first;
  /// The variables that it prints or puts in texts without a format.
  std::unordered_set<Symbol> shown;
  /// Whether the function uses `self` as a value: returns it, passes it on or stores it.
  bool keeps_self = false;
  /// The variables that changes begin at (`xs` in `xs.push(1)`), of parameters and variables of loops that
  /// the function does not read afterwards.
  std::unordered_set<const Expr*> unread_changes;
  /// The names that the function assigns after it has read them.
  std::unordered_set<Symbol> assigned_later;
};

/// Whether the call prints its arguments or makes texts of them.
bool shows_arguments(const Expr& callee);

VariableUses uses_of_variables(const std::vector<Param>& params, const std::vector<StmtPtr>& statements);

}  // namespace spl
