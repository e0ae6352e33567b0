// In a program with PyTorch the variables of loops and of `with … as x` outlive their blocks, as in Python,
// unless `val` or `var` declares the name outside. A name that is read below a block is a variable of the
// function (or of the module), to which each round assigns; the function is compiled again with it.
#include <algorithm>

#include "host/compiler/compiler.h"

namespace spl {

// Whether the name outside the block is one that the block's variable must not assign.
bool FunctionCompiler::is_declared_outside(Symbol name, const void* key) {
  for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
    if (local->name == name && local->key != key) {
      const bool is_parameter = local->reg < proto_->parameters.size();
      const bool is_assigned = (local->reg & kWide) != 0;
      return local->is_fixed || !(is_parameter || is_assigned || local->is_of_block);
    }
  }
  if (captured_local(name) != nullptr || name == own_name_) {
    return true;
  }
  if (is_module_) {
    return module_.declared.contains(name) || module_.fixed.contains(name) ||
           module_.top_names.contains(name);
  }
  const bool is_field =
      fields_ != nullptr && has_self() && std::find(fields_->begin(), fields_->end(), name) != fields_->end();
  const Type* type = owner();
  return is_field || (type != nullptr && type->declared_statics.contains(name)) ||
         (module_.variables.contains(name) && !hides_variable(name)) || module_.top_names.contains(name);
}

bool FunctionCompiler::outlives_block(Symbol name, const void* key) {
  return is_port() && !is_declared_outside(name, key) &&
         (cells_.keeps(key) || (is_module_ && module_.slots_in_functions.contains(module_.slot(name))));
}

// Below the binding of a block's variable: if it outlives the block, its name is that of the outer variable.
void FunctionCompiler::bind_of_block(Symbol name, const void* key) {
  const auto own = std::find_if(locals_.rbegin(), locals_.rend(),
                                [&](const Local& local) { return local.name == name && local.key == key; });
  if (own == locals_.rend()) {
    return;
  }
  own->is_of_block = true;
  if (!outlives_block(name, key)) {
    return;
  }
  const Register value = temporary();
  read({own->is_cell ? Name::Form::kLocalCell : Name::Form::kLocal, own->reg}, value);
  own->name = kNoSymbol;
  if (!is_module_ && resolve(name).form == Name::Form::kGlobal) {
    note_early(name, key);
    declare_wide(name, key);
  }
  if (!is_module_) {
    forget_uses(name);
  }
  note_change(name);
  write(resolve(name), value, name, span_);
}

void FunctionCompiler::bind_of_loop(const Pattern& pattern) {
  for_each_binding(pattern, [&](const BindingPattern& binding) { bind_of_block(binding.name, &binding); });
}

void FunctionCompiler::note_ended_block(Symbol name, const void* key) {
  if (is_port()) {
    ended_blocks_[name].push_back(key);
  }
}

void FunctionCompiler::note_ended_pattern(const Pattern& pattern) {
  for_each_binding(pattern, [&](const BindingPattern& binding) { note_ended_block(binding.name, &binding); });
}

// Before the name is read.
void FunctionCompiler::keep_ended_blocks(Symbol name) {
  for (FunctionCompiler* at = this; at != nullptr && is_port(); at = at->parent_) {
    const Local* local = at->find_local(name);
    if (local != nullptr && local->is_of_block) {
      return;
    }
    if (const auto ended = at->ended_blocks_.find(name); ended != at->ended_blocks_.end()) {
      for (const void* key : ended->second) {
        cells_.keep(key);
      }
    }
    if (local != nullptr) {
      return;
    }
  }
}

}  // namespace spl
