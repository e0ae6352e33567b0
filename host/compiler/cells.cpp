// Which variables live in cells: those that a closure captures and that change afterwards, in the closure or
// in their own function. All other captured variables are copied into the closure, which no program can
// notice.
//
// A function is compiled in one pass, so a variable may turn out to need a cell after code that uses it was
// emitted. The function is then compiled again.
#include "host/compiler/compiler.h"

namespace spl {

void FunctionCompiler::open_repeated() { repeated_.push_back(++loop_count_); }

// The outermost enclosing loop that repeats after the declaration of the variable, or 0.
uint32_t FunctionCompiler::outermost_loop_of(const Local& local) const {
  return local.loops < repeated_.size() ? repeated_[local.loops] : 0;
}

// A change above the closure counts too if a loop around both repeats it.
void FunctionCompiler::note_capture(Local& local) {
  local.is_captured = true;
  if (local.changed_in != 0 && local.changed_in == outermost_loop_of(local)) {
    need_cell(local);
  }
}

/// Called for each assignment of a variable, and for each change of a value that it holds.
void FunctionCompiler::note_change(Symbol name) {
  if (is_object_of_class(name)) {
    return;
  }
  if (Local* local = find_local(name)) {
    if (local->is_captured) {
      need_cell(*local);
    }
    local->changed_in = outermost_loop_of(*local);
    return;
  }
  if (const Local* local = captured_local(name)) {
    need_cell(*local);
  }
}

// A nested function uses a name that the functions around it do not have. An assignment below it may declare
// the variable, as in Python.
void FunctionCompiler::note_wanted(Symbol name) {
  for (FunctionCompiler* at = parent_; at != nullptr; at = at->parent_) {
    at->wanted_.insert(name);
  }
}

// The function is compiled again with the variable, which then exists from the start.
void FunctionCompiler::note_early(Symbol name, const void* declaration) {
  if (tree_ != nullptr && wanted_.contains(name) && !cells_.contains(declaration)) {
    cells_.insert_early(tree_, {name, declaration});
    forget_uses(name);
  }
}

void FunctionCompiler::declare_early_variables() {
  for (const CellSet::Variable& variable : cells_.early_variables(tree_)) {
    declare_wide(variable.name, variable.declaration);
  }
}

// The variable of an enclosing function that a name refers to, or null.
FunctionCompiler::Local* FunctionCompiler::captured_local(Symbol name) {
  if (name == own_name_) {
    return nullptr;
  }
  for (FunctionCompiler* at = parent_; at != nullptr; at = at->parent_) {
    if (Local* local = at->find_local(name)) {
      return local;
    }
  }
  return nullptr;
}

// Whether the name is `self` in a class, whose objects are references: a change of one is visible in copies.
bool FunctionCompiler::is_object_of_class(Symbol name) const {
  static const Symbol self = intern("self");
  if (name != self) {
    return false;
  }
  const Type* type = owner();
  return type != nullptr && type->kind == Kind::kRecord && static_cast<const Record*>(type)->is_class;
}

}  // namespace spl
