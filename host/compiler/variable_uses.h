// Which variables of a function hold a collection of another place, and which are pairs.
#pragma once

#include <unordered_set>
#include <vector>

#include "host/syntax/ast.h"

namespace spl {

struct VariableUses {
  /// The parameters and variables whose value comes from elsewhere (a parameter, another variable, a field,
  /// an element), and which never leave the function: they are not returned, stored or passed on. Python
  /// changes the other place, too, when such a variable's list or dict changes; a value of Simple is a copy.
  std::unordered_set<Symbol> borrowed;
  /// The other variables whose elements the function changes, except while a loop visits them. In Python, every
  /// place that holds the list or dict shows such a change.
  std::unordered_set<Symbol> owned;
  /// The parameters whose elements the function changes, and that it returns.
  std::unordered_set<Symbol> changed_and_returned;
  /// The variables whose elements the function names: `pair.0`, `pair[1]`, `val (key, value) = pair`.
  std::unordered_set<Symbol> taken_apart;
  /// The variables whose elements the function changes.
  std::unordered_set<Symbol> changed;
};

/// How a function uses its parameters and variables.
VariableUses uses_of_variables(const std::vector<Param>& params, const std::vector<StmtPtr>& statements);

}  // namespace spl
