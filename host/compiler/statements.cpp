// Statements: bindings, assignments, loops, with and defer.
#include <algorithm>

#include "host/compiler/compiler.h"

namespace spl {

namespace {

bool has_defer(const std::vector<StmtPtr>& statements) {
  return std::any_of(statements.begin(), statements.end(),
                     [](const StmtPtr& stmt) { return stmt->kind == StmtKind::kDefer; });
}

// Whether an expression writes its destination only at its end, so that it may be a variable it also reads.
bool writes_last(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kInt:
    case ExprKind::kFloat:
    case ExprKind::kBool:
    case ExprKind::kNil:
    case ExprKind::kText:
    case ExprKind::kName:
    case ExprKind::kField:
    case ExprKind::kCall:
    case ExprKind::kUnary:
      return true;
    case ExprKind::kBinary: {
      const BinaryOp op = as<BinaryExpr>(expr).op;
      return op != BinaryOp::kAnd && op != BinaryOp::kOr && op != BinaryOp::kCoalesce;
    }
    default:
      return false;
  }
}

}  // namespace

// What the statements defer runs when the scope is closed.
void FunctionCompiler::mark_defers(const std::vector<StmtPtr>& statements) {
  if (!has_defer(statements)) {
    return;
  }
  scopes_.back().defer_mark = hidden();
  emit(Op::kDeferMark, static_cast<uint32_t>(scopes_.back().defer_mark));
}

void FunctionCompiler::statements(const Block& block) {
  mark_defers(block.statements);
  for (const auto& stmt : block.statements) {
    statement(*stmt);
  }
}

void FunctionCompiler::block(const Block& block) {
  open_scope();
  statements(block);
  close_scope();
}

void FunctionCompiler::block_to(const Block& block, Register dest) {
  if (block.statements.empty() || block.statements.back()->kind != StmtKind::kExpr) {
    this->block(block);
    emit(Op::kLoadNil, dest);
    return;
  }
  open_scope();
  mark_defers(block.statements);
  for (size_t i = 0; i + 1 < block.statements.size(); ++i) {
    statement(*block.statements[i]);
  }
  span_ = block.statements.back()->span;
  expr_to(*as<ExprStmt>(*block.statements.back()).value, dest);
  close_scope();
}

void FunctionCompiler::body_value(const Block& block) {
  const Register dest = temporary();
  block_to(block, dest);
  emit(Op::kReturn, dest);
}

void FunctionCompiler::statement(const Stmt& stmt) {
  span_ = stmt.span;
  const uint32_t mark = temporary_count_;
  switch (stmt.kind) {
    case StmtKind::kExpr:
      effect(*as<ExprStmt>(stmt).value);
      break;
    case StmtKind::kBind:
      bind(as<BindStmt>(stmt));
      break;
    case StmtKind::kAssign:
      assign_stmt(as<AssignStmt>(stmt));
      break;
    case StmtKind::kReturn: {
      const auto& value = as<ReturnStmt>(stmt).value;
      if (value) {
        return_register(temporary_of(*value));
      } else {
        run_defers_above(0);
        emit(Op::kReturnNil);
      }
      break;
    }
    case StmtKind::kBreak:
      leave_loop(as<BreakStmt>(stmt).label, true, stmt.span);
      break;
    case StmtKind::kContinue:
      leave_loop(as<ContinueStmt>(stmt).label, false, stmt.span);
      break;
    case StmtKind::kPass:
      break;
    case StmtKind::kDefer: {
      FunctionCompiler inner(module_, this, cells_, fields_);
      const Proto* proto = inner.deferred(as<DeferStmt>(stmt).body);
      const Register closure = temporary();
      closure_to(proto, inner.captures(), closure);
      emit(Op::kDeferPush, closure);
      break;
    }
    case StmtKind::kAssert: {
      const auto& assertion = as<AssertStmt>(stmt);
      const auto failures = jump_if_false(*assertion.condition);
      const size_t fine = emit_jump(Op::kJump);
      patch_all(failures);
      span_ = stmt.span;
      const Register message = temporary();
      if (assertion.message) {
        expr_to(*assertion.message, message);
      } else {
        emit(Op::kLoadNil, message);
      }
      emit(Op::kAssert, message, message, text_constant(assertion.text));
      patch(fine);
      break;
    }
    case StmtKind::kFor:
      for_stmt(as<ForStmt>(stmt));
      break;
    case StmtKind::kWhile:
      while_stmt(as<WhileStmt>(stmt));
      break;
    case StmtKind::kLoop:
      loop_stmt(as<LoopStmt>(stmt));
      break;
    case StmtKind::kWith:
      with_stmt(as<WithStmt>(stmt));
      break;
    case StmtKind::kUnsafe:
      block(as<UnsafeStmt>(stmt).body);
      break;
    case StmtKind::kFunction:
      if (!at_module_level()) {
        local_function(as<FunctionDecl>(stmt));
      }
      break;
    case StmtKind::kRecord:
    case StmtKind::kEnum:
    case StmtKind::kTrait:
    case StmtKind::kImpl:
    case StmtKind::kTypeAlias:
      local_type(stmt);
      break;
    case StmtKind::kUse: {
      const auto& use = as<UseDecl>(stmt);
      if (at_module_level()) {
        break;  // done before the module was compiled
      }
      proto_->uses.push_back(&use);
      emit_wide(Op::kUse, 0, static_cast<int32_t>(proto_->uses.size() - 1));
      break;
    }
    case StmtKind::kExport:
      break;
  }
  temporary_count_ = mark;
}

void FunctionCompiler::bind(const BindStmt& stmt) {
  const bool variable = stmt.bind != BindKind::kVal && stmt.bind != BindKind::kConst;
  const bool simple = stmt.pattern->kind == PatternKind::kBinding;
  if (simple && !at_module_level()) {
    const auto& binding = as<BindingPattern>(*stmt.pattern);
    // The value is made in the new variable's own register, before its name is visible.
    const Register reg = hidden();
    if (stmt.value) {
      expr_to(*stmt.value, reg);
      mark_moved(*stmt.value);
    } else {
      emit(Op::kLoadNil, reg);
    }
    const bool changes = variable || binding.is_mutable;
    locals_.push_back({binding.name, reg, &binding, changes && cells_.contains(&binding), changes, !changes,
                       is_unique_type(stmt.type.get()) || (stmt.value && is_unique(*stmt.value))});
    declared(reg);
    return;
  }
  Register value;
  if (stmt.value) {
    value = temporary_of(*stmt.value);
    mark_moved(*stmt.value);
  } else {
    value = temporary();
    emit(Op::kLoadNil, value);
  }
  bind_pattern(*stmt.pattern, value, variable);
  if (!variable && !at_module_level()) {
    fix_pattern(*stmt.pattern);
  }
}

void FunctionCompiler::assign_stmt(const AssignStmt& stmt) {
  if (stmt.op) {
    compound_assign(stmt);
    return;
  }
  if (stmt.targets.size() == 1) {
    const Expr& target = *stmt.targets[0];
    if (target.kind == ExprKind::kName) {
      const Symbol symbol = as<NameExpr>(target).name;
      const Name name = resolve(symbol);
      refuse_fixed(symbol, target.span);
      if (name.form == Name::Form::kLocal && writes_last(*stmt.value) && !is_unique(*stmt.value)) {
        expr_to(*stmt.value, static_cast<Register>(name.operand));
        return;
      }
    }
    if (is_unique(*stmt.value)) {
      const Register value = temporary_of(*stmt.value);
      mark_moved(*stmt.value);
      assign_to(target, value);
    } else {
      assign_to(target, operand(*stmt.value));
    }
    return;
  }
  const Register value = temporary_of(*stmt.value);
  const Register parts = temporaries(static_cast<uint32_t>(stmt.targets.size()));
  emit(Op::kTestSequence, parts, value, static_cast<uint32_t>(stmt.targets.size()));
  emit_extra(2);  // 2: a mismatch fails, the answer is not wanted
  for (size_t i = 0; i < stmt.targets.size(); ++i) {
    emit(Op::kGetPart, parts + static_cast<uint32_t>(i), value, static_cast<uint32_t>(i));
  }
  emit(Op::kRelease, value);
  for (size_t i = 0; i < stmt.targets.size(); ++i) {
    assign_to(*stmt.targets[i], static_cast<Register>(parts + i));
  }
}

void FunctionCompiler::refuse_fixed(Symbol symbol, const SourceSpan& span) {
  const Local* local = find_local(symbol);
  const bool is_fixed = local != nullptr
                            ? local->is_fixed
                            : module_.fixed.contains(symbol) && resolve(symbol).form == Name::Form::kGlobal;
  if (is_fixed) {
    refuse(span,
           "'" + name_of(symbol) + "' was bound by val and keeps its value; bind it by var to change it");
  }
  if (local == nullptr && resolve(symbol).form == Name::Form::kStatic && owner()->is_constant(symbol)) {
    refuse(span, "'" + name_of(symbol) + "' is a constant of " + name_of(owner_name()) +
                     "; declare it by `static var` to change it");
  }
}

void FunctionCompiler::fix_pattern(const Pattern& pattern) {
  if (pattern.kind == PatternKind::kBinding) {
    if (Local* local = find_local(as<BindingPattern>(pattern).name); local != nullptr) {
      local->is_fixed = !as<BindingPattern>(pattern).is_mutable;
    }
  } else if (pattern.kind == PatternKind::kTuple) {
    for (const auto& element : as<TuplePattern>(pattern).elements) {
      fix_pattern(*element);
    }
  }
}

void FunctionCompiler::assign_to(const Expr& target, Register value) {
  const SourceSpan before = span_;
  span_ = target.span;
  switch (target.kind) {
    case ExprKind::kName: {
      const Symbol symbol = as<NameExpr>(target).name;
      refuse_fixed(symbol, target.span);
      const Name name = resolve(symbol);
      const bool unknown =
          name.form == Name::Form::kGlobal && !is_module_ && !module_.variables.contains(symbol);
      if (!unknown) {
        write(name, value, symbol, target.span);
        break;
      }
      // A bare name nobody knows: a variable of the whole function.
      declare_wide(symbol, &target);
      write(resolve(symbol), value, symbol, target.span);
      break;
    }
    case ExprKind::kTuple: {
      const auto& tuple = as<TupleExpr>(target);
      const auto count = static_cast<uint32_t>(tuple.elements.size());
      const Register parts = temporaries(count);
      emit(Op::kTestSequence, parts, value, count);
      emit_extra(2);
      for (uint32_t i = 0; i < count; ++i) {
        emit(Op::kGetPart, parts + i, value, i);
      }
      if ((value & kTemporary) != 0) {
        emit(Op::kRelease, value);
      }
      for (uint32_t i = 0; i < count; ++i) {
        assign_to(*tuple.elements[i], static_cast<Register>(parts + i));
      }
      break;
    }
    case ExprKind::kField: {
      const auto& field = as<FieldExpr>(target);
      if (field.object->kind == ExprKind::kSelf) {
        note_field(field.name);
      }
      const bool self = field.object->kind == ExprKind::kSelf && find_local(intern("self")) != nullptr;
      if (self) {
        emit(Op::kSetField, find_local(intern("self"))->reg, value, cache(field.name));
        break;
      }
      if (field.object->kind == ExprKind::kName) {
        const Name name = resolve(as<NameExpr>(*field.object).name);
        if (name.form == Name::Form::kLocal) {
          emit(Op::kSetField, name.operand, value, cache(field.name));
          break;
        }
      }
      [[fallthrough]];
    }
    case ExprKind::kTupleField:
    case ExprKind::kIndex: {
      if (target.kind == ExprKind::kIndex && as<IndexExpr>(target).object->kind == ExprKind::kName) {
        const auto& index = as<IndexExpr>(target);
        const Name name = resolve(as<NameExpr>(*index.object).name);
        if (name.form == Name::Form::kLocal) {
          const Register subscript = temporary();
          subscript_to(index, subscript);
          emit(Op::kSetIndex, name.operand, subscript, value);
          break;
        }
      }
      Path path;
      place_path(target, path, true);
      proto_->paths.push_back(std::move(path));
      emit_wide(Op::kSetPath, value, static_cast<int32_t>(proto_->paths.size() - 1));
      break;
    }
    default:
      refuse(target.span, "this cannot be assigned to");
  }
  span_ = before;
}

/// Before `current`, got from that path, is added to: the path gives it up where nobody can see that.
void FunctionCompiler::release_lvalue(BinaryOp op, Register current, size_t path, Register value) {
  if (op == BinaryOp::kAdd && path <= 0xFFFF) {
    emit(Op::kLetGo, current, static_cast<uint32_t>(path), value);
  }
}

void FunctionCompiler::compound_assign(const AssignStmt& stmt) {
  const Expr& target = *stmt.targets[0];
  const auto flags = static_cast<int32_t>(*stmt.op) | 0x100;  // 0x100: __iadd__ and its like come first
  if (target.kind == ExprKind::kName) {
    const Symbol symbol = as<NameExpr>(target).name;
    refuse_fixed(symbol, target.span);
    const Name name = resolve(symbol);
    if (name.form == Name::Form::kLocal) {
      const Register value = operand(*stmt.value);
      emit(Op::kArith, name.operand, name.operand, value);
      emit_extra(flags);
      return;
    }
    const Register current = temporary();
    read(name, current);
    const Register value = operand(*stmt.value);
    if (name.form != Name::Form::kCaptured && name.form != Name::Form::kSelfClosure) {
      Path path;
      place_path(target, path, true);
      proto_->paths.push_back(path);
      release_lvalue(*stmt.op, current, proto_->paths.size() - 1, value);
    }
    emit(Op::kArith, current, current, value);
    emit_extra(flags);
    write(name, current, symbol, target.span);
    return;
  }
  Path path;
  if (!place_path(target, path, true) && path.steps.empty()) {
    refuse(target.span, "this cannot be assigned to");
  }
  proto_->paths.push_back(path);
  const size_t index = proto_->paths.size() - 1;
  const Register current = temporary();
  emit_wide(Op::kGetPath, current, static_cast<int32_t>(index));
  const Register value = operand(*stmt.value);
  release_lvalue(*stmt.op, current, index, value);
  emit(Op::kArith, current, current, value);
  emit_extra(flags);
  emit_wide(Op::kSetPath, current, static_cast<int32_t>(index));
}

// ---- Leaving ---------------------------------------------------------------------------------------------

void FunctionCompiler::run_defers_above(size_t scope) {
  for (size_t i = scope; i < scopes_.size(); ++i) {
    if (scopes_[i].defer_mark >= 0) {
      emit(Op::kRunDefers, static_cast<uint32_t>(scopes_[i].defer_mark));
      return;  // those further in lie above its mark
    }
  }
}

void FunctionCompiler::return_register(Register value) {
  run_defers_above(0);
  emit(Op::kReturn, value);
}

void FunctionCompiler::leave_loop(Symbol label, bool is_break, const SourceSpan& span) {
  for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
    if (label != kNoSymbol && loop->label != label) {
      continue;
    }
    run_defers_above(loop->scope);
    (is_break ? loop->breaks : loop->continues).push_back(emit_jump(Op::kJump));
    return;
  }
  refuse(span, std::string(is_break ? "break" : "continue") + " stands in no loop" +
                   (label == kNoSymbol ? "" : " of that label"));
}

// ---- Loops -----------------------------------------------------------------------------------------------

void FunctionCompiler::open_loop(Symbol label) {
  loops_.push_back({label, scopes_.size(), scopes_.back().first_register, local_peak_, {}, {}});
  local_peak_ = local_count_;
}

// What the last round left in the loop's variables dies with the loop, however it was left.
void FunctionCompiler::close_loop(size_t continue_target) {
  const Loop& loop = loops_.back();
  for (const size_t jump : loop.continues) {
    patch_to(jump, continue_target);
  }
  patch_all(loop.breaks);
  for (uint32_t reg = loop.first_register; reg < local_peak_; ++reg) {
    emit(Op::kRelease, reg);
  }
  local_peak_ = std::max(local_peak_, loop.peak_before);
  loops_.pop_back();
}

void FunctionCompiler::for_stmt(const ForStmt& stmt) {
  open_scope();
  const auto variable_for = [&](const Pattern& pattern) {
    if (pattern.kind == PatternKind::kBinding) {
      return declare(as<BindingPattern>(pattern).name, &pattern, true);
    }
    return hidden();
  };
  if (stmt.iterable->kind == ExprKind::kRange && !stmt.second) {
    const auto& range = as<RangeExpr>(*stmt.iterable);
    if (range.start && range.end) {
      const Register reg = hidden();  // named only after the ends are evaluated
      const Register counter = hidden(), end = hidden();
      expr_to(*range.start, counter);
      expr_to(*range.end, end);
      emit_wide(Op::kForPrepare, counter, range.inclusive ? 1 : 0);
      const size_t top = emit(Op::kForRange, counter, reg);
      emit_extra(0);
      open_loop(stmt.label);
      if (stmt.pattern->kind == PatternKind::kBinding) {
        const auto& binding = as<BindingPattern>(*stmt.pattern);
        locals_.push_back({binding.name, reg, &binding, cells_.contains(&binding), true});
        declared(reg);
      } else {
        bind_pattern(*stmt.pattern, reg, false);
      }
      block(stmt.body);
      const size_t back = emit_jump(Op::kLoop);
      patch_to(back, top);
      patch(top + 1);
      close_loop(back);
      close_scope();
      return;
    }
  }
  const Register iterator = hidden();
  hidden();  // the position of the iteration
  const uint32_t mark = temporary_count_;
  emit(Op::kIterPrepare, iterator, operand(*stmt.iterable));
  temporary_count_ = mark;
  const Register first = variable_for(*stmt.pattern);
  Register second = 0;
  size_t top;
  if (stmt.second) {
    second = variable_for(*stmt.second);
    top = emit(Op::kIterNextPair, iterator, first, second);
  } else {
    top = emit(Op::kIterNext, iterator, first);
  }
  emit_extra(0);
  open_loop(stmt.label);
  const auto take_apart = [&](const Pattern& pattern, Register reg) {
    if (pattern.kind == PatternKind::kBinding) {
      declared(reg);
    } else {
      bind_pattern(pattern, reg, true);
    }
  };
  take_apart(*stmt.pattern, first);
  if (stmt.second) {
    take_apart(*stmt.second, second);
  }
  block(stmt.body);
  const size_t back = emit_jump(Op::kLoop);
  patch_to(back, top);
  patch(top + 1);
  close_loop(back);
  close_scope();
}

void FunctionCompiler::while_stmt(const WhileStmt& stmt) {
  open_scope();
  const size_t top = here();
  open_loop(stmt.label);
  const auto failures = condition(stmt.condition);
  block(stmt.body);
  const size_t back = emit_jump(Op::kLoop);
  patch_to(back, top);
  patch_all(failures);
  close_loop(back);
  close_scope();
}

void FunctionCompiler::loop_stmt(const LoopStmt& stmt) {
  open_scope();
  const size_t top = here();
  open_loop(stmt.label);
  block(stmt.body);
  const size_t back = emit_jump(Op::kLoop);
  patch_to(back, top);
  close_loop(back);
  close_scope();
}

void FunctionCompiler::with_stmt(const WithStmt& stmt) {
  open_scope();
  scopes_.back().defer_mark = hidden();
  emit(Op::kDeferMark, static_cast<uint32_t>(scopes_.back().defer_mark));
  for (const WithItem& item : stmt.items) {
    const uint32_t mark = temporary_count_;
    const Register resource = temporary_of(*item.resource);
    const Register reg = hidden();
    emit(Op::kWithEnter, reg, resource);
    temporary_count_ = mark;
    if (item.name != kNoSymbol) {
      locals_.push_back({item.name, reg, &item, false, false});
    } else {
      emit(Op::kLoadNil, reg);
    }
  }
  block(stmt.body);
  close_scope();
}

void FunctionCompiler::local_function(const FunctionDecl& decl) {
  if (!decl.body) {
    refuse(decl.span, "extern functions are declared at the top of a module");
  }
  FunctionCompiler inner(module_, this, cells_, fields_);
  const Proto* proto = inner.function(decl, false);
  const Register reg = declare(decl.info.name, &decl, false);
  closure_to(proto, inner.captures(), reg);
}

}  // namespace spl
