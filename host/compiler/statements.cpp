// Statements: bindings, assignments, loops, with and defer.
#include <algorithm>

#include "host/compiler/compiler.h"
#include "host/compiler/extern.h"
#include "host/compiler/literal_value.h"
#include "host/syntax/visit.h"

namespace spl {

namespace {

bool has_defer(const std::vector<StmtPtr>& statements) {
  return std::any_of(statements.begin(), statements.end(),
                     [](const StmtPtr& stmt) { return stmt->kind == StmtKind::kDefer; });
}

// Whether an expression writes its destination last, so that the destination may be a variable that it reads.
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

// Reserves the mark above which closing the scope runs deferred blocks.
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
  last_value_to(*as<ExprStmt>(*block.statements.back()).value, dest);
  close_scope();
}

// The value of a block's last expression. In the last position of a function's body a change of a variable
// that is not the function's own, such as `log.push(x)`, is made for its effect: its value is nil.
void FunctionCompiler::last_value_to(const Expr& expr, Register dest) {
  if (!is_result_ || (expr.kind != ExprKind::kIf && expr.kind != ExprKind::kMatch)) {
    const bool is_effect = is_result_ && is_outer_change(expr);
    is_effect ? effect_value_to(as<CallExpr>(expr), dest) : expr_to(expr, dest);
    return;
  }
  const uint32_t mark = temporary_count_;
  expr.kind == ExprKind::kIf ? if_to(as<IfExpr>(expr), dest, true)
                             : match_to(as<MatchExpr>(expr), dest, true);
  temporary_count_ = mark;
}

void FunctionCompiler::body_value(const Block& block) {
  const Register dest = temporary();
  is_result_ = true;
  block_to(block, dest);
  is_result_ = false;
  check_result_width(dest);
  emit(Op::kReturn, dest);
}

void FunctionCompiler::check_result_width(Register value) {
  if (result_demand_ != 0) {
    check_demand(result_demand_, value, "the result of " + proto_->name + "()");
  }
}

void FunctionCompiler::statement(const Stmt& stmt) {
  span_ = stmt.span;
  const uint32_t mark = temporary_count_;
  visit(stmt, [this](const auto& node) { compile(node); });
  temporary_count_ = mark;
}

void FunctionCompiler::compile(const ExprStmt& stmt) { effect(*stmt.value); }

void FunctionCompiler::compile(const PassStmt&) {}

void FunctionCompiler::compile(const ReturnStmt& stmt) {
  if (stmt.value) {
    const Register value = temporary_of(*stmt.value);
    check_result_width(value);
    return_register(value);
    return;
  }
  run_defers_above(0);
  emit(Op::kReturnNil);
}

void FunctionCompiler::compile(const BreakStmt& stmt) { leave_loop(stmt.label, true, stmt.span); }

void FunctionCompiler::compile(const ContinueStmt& stmt) { leave_loop(stmt.label, false, stmt.span); }

void FunctionCompiler::compile(const DeferStmt& stmt) {
  FunctionCompiler inner(module_, this, cells_, fields_);
  const Proto* proto = inner.deferred(stmt.body);
  const Register closure = temporary();
  closure_to(proto, inner.captures(), closure);
  emit(Op::kDeferPush, closure);
}

void FunctionCompiler::compile(const AssertStmt& stmt) {
  const auto failures = jump_if_false(*stmt.condition);
  const size_t passed = emit_jump(Op::kJump);
  patch_all(failures);
  span_ = stmt.span;
  const Register message = temporary();
  if (stmt.message) {
    expr_to(*stmt.message, message);
  } else {
    emit(Op::kLoadNil, message);
  }
  emit(Op::kAssert, message, message, text_constant(stmt.text));
  patch(passed);
}

void FunctionCompiler::compile(const UnsafeStmt& stmt) { block(stmt.body); }

void FunctionCompiler::compile(const UseDecl& decl) {
  if (at_module_level()) {
    return;  // imported before the module was compiled
  }
  note_late_import(decl);
  proto_->uses.push_back(&decl);
  emit_wide(Op::kUse, 0, static_cast<int32_t>(proto_->uses.size() - 1));
}

void FunctionCompiler::compile(const ExportDecl&) {}

void FunctionCompiler::compile(const FunctionDecl& decl) {
  if (!at_module_level()) {
    local_function(decl);
  } else if (is_decorated(module_, decl.info)) {
    decorate_function(decl);
  } else if (const uint32_t slot = module_.slot(decl.info.name); assigned_slots_.contains(slot)) {
    // The module has assigned another value to the name: from here on it is the function, as in Python.
    const Register function = temporary();
    emit(Op::kLoadConstant, function, constant(retained(module_.slots[slot])));
    set_global(function, slot);
  }
}

void FunctionCompiler::compile(const BindStmt& stmt) {
  if (stmt.pattern->kind == PatternKind::kBinding) {
    check_type(module_, stmt.type.get(), stmt.value.get(),
               "'" + name_of(as<BindingPattern>(*stmt.pattern).name) + "'");
  }
  const bool is_variable = stmt.bind != BindKind::kVal && stmt.bind != BindKind::kConst;
  if (stmt.pattern->kind == PatternKind::kBinding && !at_module_level()) {
    bind_local(stmt, as<BindingPattern>(*stmt.pattern));
    return;
  }
  const Register value = temporary();
  initial_value_to(stmt, value);
  if (stmt.pattern->kind == PatternKind::kBinding && stmt.value && is_search(*stmt.value)) {
    module_.searches.insert(as<BindingPattern>(*stmt.pattern).name);
  }
  bind_pattern(*stmt.pattern, value);
  if (!is_variable && !at_module_level()) {
    fix_pattern(*stmt.pattern);
  }
}

// Evaluates the value in the new variable's own register, before the name is visible.
void FunctionCompiler::bind_local(const BindStmt& stmt, const BindingPattern& binding) {
  const Register reg = hidden();
  initial_value_to(stmt, reg);
  const bool owns = is_unique_type(stmt.type.get()) || (stmt.value && is_unique(*stmt.value));
  declare_at(reg, binding.name, &binding);
  locals_.back().is_fixed =
      (stmt.bind == BindKind::kVal || stmt.bind == BindKind::kConst) && !binding.is_mutable;
  locals_.back().is_unique = owns;
  locals_.back().demand = declared_demand(module_, stmt.type.get());
  locals_.back().is_search = stmt.value && is_search(*stmt.value);
  declared(reg);
}

// What `var xs: [u8; 4]` holds: zeros. A variable of another type is nil, also in a program from Python,
// whose declaration has no value.
void FunctionCompiler::zero_to(const TypeExpr* type, Register dest) {
  const bool has_zero = type != nullptr && !is_port() && !module_.is_library;
  const TypeExpr* const declared = has_zero ? &module_.unaliased(*type) : nullptr;
  if (has_zero && declared->kind == TypeKind::kArray && declared->size && !declared->optional) {
    const uint32_t mark = temporary_count_;
    const TypeExpr* const inner = declared->args[0].get();
    const Register element = temporary();
    if (inner->kind == TypeKind::kArray) {
      zero_to(inner, element);
    } else {
      load_constant(element, zero_of(&module_.unaliased(*inner)));
    }
    emit(Op::kMakeRepeat, dest, element, temporary_of(*declared->size));
    temporary_count_ = mark;
    return;
  }
  emit(Op::kLoadNil, dest);
}

void FunctionCompiler::initial_value_to(const BindStmt& stmt, Register dest) {
  accept_truncation(stmt);
  if (!stmt.value) {
    zero_to(stmt.type.get(), dest);
    if (stmt.pattern->kind == PatternKind::kBinding) {
      check_demand(declared_demand(module_, stmt.type.get()), dest,
                   "'" + name_of(as<BindingPattern>(*stmt.pattern).name) + "'");
    }
    return;
  }
  expr_to(*stmt.value, dest);
  const bool is_name = stmt.pattern->kind == PatternKind::kBinding;
  const Demand demand = declared_demand(module_, stmt.type.get());
  if (!is_name || stmt.value->kind != ExprKind::kInt) {
    check_demand(demand != 0 ? demand : plain_demand(module_, stmt.type.get()), dest,
                 is_name ? "'" + name_of(as<BindingPattern>(*stmt.pattern).name) + "'" : "the value");
  }
  mark_moved(*stmt.value);
}

void FunctionCompiler::compile(const AssignStmt& stmt) {
  if (stmt.op) {
    compound_assign(stmt);
  } else if (!stmt.chained.empty()) {
    assign_chained(stmt);
  } else if (stmt.targets.size() == 1) {
    assign_one(*stmt.targets[0], *stmt.value);
    if (stmt.targets[0]->kind == ExprKind::kName && is_search(*stmt.value)) {
      const Symbol name = as<NameExpr>(*stmt.targets[0]).name;
      if (Local* local = find_local(name)) {
        local->is_search = true;
      } else if (is_module_) {
        module_.searches.insert(name);
      }
    }
  } else {
    assign_parts(stmt.targets, temporary_of(*stmt.value));
  }
}

void FunctionCompiler::assign_one(const Expr& target, const Expr& value) {
  note_shown(target, value);
  stores_back_ = stores_back(target, value);
  if (is_one_pass(value)) {
    assign_to(target, iterator_of(value));
    return;
  }
  if (target.kind == ExprKind::kName) {
    const Symbol symbol = as<NameExpr>(target).name;
    const Name name = resolve(symbol);
    check_assignable(symbol, target.span);
    if (name.form == Name::Form::kLocal && writes_last(value) && !is_unique(value)) {
      note_change(symbol);
      if (is_handed_over(value, symbol)) {
        reassigned_ = name;
      }
      expr_to(value, static_cast<Register>(name.operand));
      check_width(symbol, static_cast<Register>(name.operand));
      reassigned_.reset();
      hidden_by_loops_.erase(symbol);
      return;
    }
    if (name.form == Name::Form::kGlobal && is_module_ && is_handed_over(value, symbol)) {
      reassigned_ = name;
    }
  }
  if (is_unique(value)) {
    const Register owned = temporary_of(value);
    mark_moved(value);
    assign_to(target, owned);
  } else {
    const Register result = operand(value);
    reassigned_.reset();
    assign_to(target, result);
  }
}

// `a = b = e` computes e once and assigns from left to right.
void FunctionCompiler::assign_chained(const AssignStmt& stmt) {
  const Register value = temporary_of(*stmt.value);
  const auto next_copy = [&] {
    const Register copy = temporary();
    emit(Op::kMove, copy, value);
    return copy;
  };
  if (stmt.targets.size() == 1) {
    assign_to(*stmt.targets[0], next_copy());
  } else {
    assign_parts(stmt.targets, next_copy());
  }
  for (const auto& target : stmt.chained) {
    assign_to(*target, next_copy());
  }
  emit(Op::kRelease, value);
}

// Unpacks a sequence of exactly as many elements as there are targets.
void FunctionCompiler::assign_parts(const std::vector<ExprPtr>& targets, Register value) {
  const auto count = static_cast<uint32_t>(targets.size());
  if ((value & kTemporary) == 0) {  // unpacking replaces an iterator by its elements
    const Register copy = temporary();
    emit(Op::kMove, copy, value);
    value = copy;
  }
  const Register parts = temporaries(count);
  emit(Op::kTestSequence, parts, value, count);
  emit_extra(kBinds);
  for (uint32_t i = 0; i < count; ++i) {
    emit(Op::kGetPart, parts + i, value, i);
  }
  if ((value & kTemporary) != 0) {
    emit(Op::kRelease, value);
  }
  for (uint32_t i = 0; i < count; ++i) {
    assign_to(*targets[i], static_cast<Register>(parts + i));
  }
}

// Only `var` variables and static variables can be assigned.
void FunctionCompiler::check_assignable(Symbol symbol, const SourceSpan& span) {
  const Local* local = find_local(symbol);
  if (local == nullptr) {
    local = captured_local(symbol);
  }
  const bool is_fixed = local != nullptr
                            ? local->is_fixed
                            : module_.fixed.contains(symbol) && resolve(symbol).form == Name::Form::kGlobal;
  if (is_fixed) {
    error_at(span, "cannot assign to immutable variable '" + name_of(symbol) + "'", "declare it with 'var'");
  }
  if (local == nullptr && resolve(symbol).form == Name::Form::kStatic && owner()->is_constant(symbol)) {
    error_at(span, "cannot assign to '" + name_of(symbol) + "', a constant of " + name_of(owner_name()),
             "declare it with 'static var'");
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
    case ExprKind::kName:
      assign_name(as<NameExpr>(target), value);
      break;
    case ExprKind::kSelf:
      assign_self(target, value);
      break;
    case ExprKind::kTuple:
      assign_parts(as<TupleExpr>(target).elements, value);
      break;
    case ExprKind::kField:
      assign_field(as<FieldExpr>(target), value);
      break;
    case ExprKind::kIndex:
      assign_index(as<IndexExpr>(target), value);
      break;
    case ExprKind::kTupleField:
      assign_path(target, value);
      break;
    default:
      error_at(target.span, "cannot assign to expression");
  }
  span_ = before;
}

// `self = value` in a method of a value type replaces the value that the method was called on.
void FunctionCompiler::assign_self(const Expr& target, Register value) {
  static const Symbol self = intern("self");
  if (!has_self()) {
    error_at(target.span, "'self' outside method");
  }
  if (is_object_of_class(self)) {  // the object becomes equal to the value
    static const Symbol become = intern("__become__");
    const Register window = temporaries(3);
    emit(Op::kLoadConstant, window, constant(retained(builtins().at(become))));
    self_to(static_cast<Register>(window + 1));
    emit(Op::kMove, window + 2, value);
    release_temporary(value);
    emit(Op::kCall, window, 2);
    emit(Op::kRelease, window);
    return;
  }
  check_self_change(target, kNoSymbol, target.span);
  note_change(self);
  write(resolve(self), value, self, target.span);
}

void FunctionCompiler::assign_name(const NameExpr& target, Register value) {
  check_assignable(target.name, target.span);
  const Name name = resolve(target.name);
  const bool is_field_of_python = name.form == Name::Form::kField && hides_field(target.name);
  const bool is_new =
      is_field_of_python || (name.form == Name::Form::kGlobal && !is_module_ &&
                             (!module_.variables.contains(target.name) || hides_variable(target.name)));
  if (!is_new) {
    check_bare_field(target, name);
  }
  if (is_new) {
    note_early(target.name, &target);
    declare_wide(target.name, &target);
  } else {
    check_width(target.name, value);
  }
  if (name.form == Name::Form::kField && !is_new) {
    check_self_change(SelfExpr(), kNoSymbol, target.span);
  }
  note_change(target.name);
  hidden_by_loops_.erase(target.name);
  if (name.form == Name::Form::kGlobal && !is_new) {
    note_assignment(target.name, target.span);
  }
  write(is_new ? resolve(target.name) : name, value, target.name, target.span);
}

void FunctionCompiler::assign_field(const FieldExpr& target, Register value) {
  check_self_change(*target.object, kNoSymbol, target.span);
  if (target.object->kind == ExprKind::kSelf) {
    note_field(target.name);
    if (find_local(intern("self")) != nullptr) {
      write_field(target.name, value);
      return;
    }
  }
  if (target.object->kind == ExprKind::kName) {
    const Name name = resolve(as<NameExpr>(*target.object).name);
    if (name.form == Name::Form::kLocal) {
      note_change(as<NameExpr>(*target.object).name);
      if (unread_changes_.contains(target.object.get())) {
        LvaluePath path;
        path.operand = name.operand;
        check_change(*target.object, std::move(path), target.span);
      }
      emit(Op::kSetField, name.operand, value, cache(target.name));
      return;
    }
  }
  assign_path(target, value);
}

void FunctionCompiler::assign_index(const IndexExpr& target, Register value) {
  check_self_change(*target.object, kNoSymbol, target.span);
  if (target.object->kind == ExprKind::kName) {
    const Name name = resolve(as<NameExpr>(*target.object).name);
    if (name.form == Name::Form::kLocal) {
      note_change(as<NameExpr>(*target.object).name);
      const Register subscript = temporary();
      subscript_to(target, subscript);
      LvaluePath path;
      path.operand = name.operand;
      check_change(*target.object, std::move(path), target.span);
      check_stored(*target.object, value);
      emit(Op::kSetIndex, name.operand, subscript, value);
      return;
    }
  }
  assign_path(target, value);
}

void FunctionCompiler::assign_path(const Expr& target, Register value) {
  LvaluePath path;
  lvalue_path(target, path);
  LvaluePath collection = path;
  collection.steps.pop_back();
  check_change(object_of(target), std::move(collection), target.span);
  set_lvalue(path, value);
}

// Clears the lvalue before `+=` on its value `current`, so that the value is changed in place.
void FunctionCompiler::release_lvalue(BinaryOp op, Register current, size_t path, Register value) {
  if (op == BinaryOp::kAdd && path <= 0xFFFF) {
    emit(Op::kReleaseLvalue, current, static_cast<uint32_t>(path), value);
  }
}

void FunctionCompiler::compound_assign(const AssignStmt& stmt) {
  const Expr& target = *stmt.targets[0];
  if (target.kind == ExprKind::kName) {
    compound_assign_name(as<NameExpr>(target), *stmt.op, *stmt.value);
    return;
  }
  if (target.kind == ExprKind::kField || target.kind == ExprKind::kIndex) {
    check_self_change(object_of(target), kNoSymbol, target.span);
  }
  LvaluePath path;
  if (!lvalue_path(target, path) && path.steps.empty()) {
    error_at(target.span, "cannot assign to expression");
  }
  if (!path.steps.empty()) {
    LvaluePath collection = path;
    collection.steps.pop_back();
    check_change(object_of(target), std::move(collection), target.span);
  }
  proto_->paths.push_back(path);
  const size_t index = proto_->paths.size() - 1;
  const uint32_t mark = temporary_count_;
  const Register current = temporary();
  // The field of a variable has instructions of its own, which cache where the field is.
  const bool is_field = path.root == LvaluePath::Root::kRegister && path.steps.size() == 1 &&
                        path.steps[0].form == LvaluePath::Step::Form::kField;
  const auto step = constant_step(*stmt.op, *stmt.value);
  if (is_field && step) {
    temporary_count_ = mark;
    emit(Op::kUpdateFieldK, path.operand, *step, cache(path.steps[0].operand));
    emit_extra(static_cast<int32_t>(*stmt.op));
    return;
  }
  if (is_field) {
    emit(Op::kGetField, current, path.operand, cache(path.steps[0].operand));
  } else {
    emit_wide(Op::kGetLvalue, current, static_cast<int32_t>(index));
  }
  if (step) {
    emit(Op::kUpdateK, current, *step, static_cast<uint32_t>(*stmt.op));
  } else {
    if (*stmt.op == BinaryOp::kAdd) {
      check_replaced(target, current);
    }
    const Register value = operand(*stmt.value);
    release_lvalue(*stmt.op, current, index, value);
    in_place(*stmt.op, current, value);
  }
  if (target.kind == ExprKind::kIndex) {
    check_stored(object_of(target), current);
  }
  if (is_field) {
    emit(Op::kSetField, path.operand, current, cache(path.steps[0].operand));
  } else {
    emit_wide(Op::kSetLvalue, current, static_cast<int32_t>(index));
  }
  note_shared_change(path);
}

void FunctionCompiler::compound_assign_name(const NameExpr& target, BinaryOp op, const Expr& right) {
  check_assignable(target.name, target.span);
  const Name name = resolve(target.name);
  keep_ended_blocks(target.name);
  check_ended_loop(target.name, target.span);
  note_change(target.name);
  if (name.form == Name::Form::kField) {
    check_self_change(SelfExpr(), kNoSymbol, target.span);
  }
  if (name.form == Name::Form::kGlobal) {
    note_read(target.name, target.span);
  }
  if (name.form == Name::Form::kLocal) {
    if (op == BinaryOp::kAdd) {
      LvaluePath path;
      path.operand = name.operand;
      check_change(target, std::move(path), target.span);
    }
    if (const auto step = constant_step(op, right)) {
      emit(Op::kUpdateK, name.operand, *step, static_cast<uint32_t>(op));
    } else {
      in_place(op, static_cast<Register>(name.operand), operand(right));
    }
    check_width(target.name, static_cast<Register>(name.operand));
    return;
  }
  const Register current = temporary();
  read(name, current);
  if (const auto step = constant_step(op, right)) {
    emit(Op::kUpdateK, current, *step, static_cast<uint32_t>(op));
    check_width(target.name, current);
    write(name, current, target.name, target.span);
    return;
  }
  if (op == BinaryOp::kAdd) {
    check_replaced(target, current);
  }
  const Register value = operand(right);
  if (name.form != Name::Form::kCaptured && name.form != Name::Form::kSelfClosure) {
    LvaluePath path;
    lvalue_path(target, path);
    proto_->paths.push_back(path);
    release_lvalue(op, current, proto_->paths.size() - 1, value);
  }
  in_place(op, current, value);
  check_width(target.name, current);
  write(name, current, target.name, target.span);
}

// The constant by which `+=`, `-=` or `*=` changes a value, if it is a number.
std::optional<uint16_t> FunctionCompiler::constant_step(BinaryOp op, const Expr& right) {
  const bool is_step = op == BinaryOp::kAdd || op == BinaryOp::kSubtract || op == BinaryOp::kMultiply;
  Value number;
  if (!is_step || !number_literal(right, number)) {
    return std::nullopt;
  }
  span_ = right.span;
  return constant(number);
}

void FunctionCompiler::in_place(BinaryOp op, Register current, Register value) {
  constexpr int32_t kInPlaceHookFirst = 0x100;  // try __iadd__ and its kin before __add__
  check_division(op, span_, current, value, Value::missing());
  emit(Op::kArith, current, current, value);
  emit_extra(static_cast<int32_t>(op) | kInPlaceHookFirst);
}

// ---- Leaving ---------------------------------------------------------------------------------------------

void FunctionCompiler::run_defers_above(size_t scope) {
  for (size_t i = scope; i < scopes_.size(); ++i) {
    if (scopes_[i].defer_mark >= 0) {
      emit(Op::kRunDefers, static_cast<uint32_t>(scopes_[i].defer_mark));
      return;  // the blocks of inner scopes lie above this mark
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
  const std::string keyword = is_break ? "'break'" : "'continue'";
  error_at(span, label == kNoSymbol ? keyword + " outside loop"
                                    : keyword + ": no enclosing loop is labeled '" + name_of(label) + "'");
}

// ---- Loops -----------------------------------------------------------------------------------------------

void FunctionCompiler::open_loop(Symbol label) {
  open_repeated();
  loops_.push_back({label, scopes_.size(), scopes_.back().first_register, local_peak_, {}, {}});
  local_peak_ = local_count_;
}

void FunctionCompiler::close_loop(size_t continue_target) { end_loop(continue_target, std::nullopt); }

// Every exit of the loop releases the values that its variables hold. `break` skips the block `otherwise`, in
// which it leaves the enclosing loop.
void FunctionCompiler::end_loop(size_t continue_target, const std::optional<Block>& otherwise) {
  const Loop loop = std::move(loops_.back());
  loops_.pop_back();
  for (const size_t jump : loop.continues) {
    patch_to(jump, continue_target);
  }
  if (otherwise) {
    block(*otherwise);
  }
  patch_all(loop.breaks);
  for (uint32_t reg = loop.first_register; reg < local_peak_; ++reg) {
    emit(Op::kRelease, reg);
  }
  local_peak_ = std::max(local_peak_, loop.peak_before);
  close_repeated();
}

void FunctionCompiler::compile(const ForStmt& stmt) {
  open_scope();
  const size_t outer_visits = visited_.size();
  note_visits(*stmt.iterable, *stmt.pattern);
  const bool is_range = stmt.iterable->kind == ExprKind::kRange && !stmt.second &&
                        as<RangeExpr>(*stmt.iterable).start && as<RangeExpr>(*stmt.iterable).end;
  if (is_range) {
    for_range(stmt, as<RangeExpr>(*stmt.iterable));
  } else {
    for_each(stmt);
  }
  visited_.resize(outer_visits);
  close_scope();
  note_ended_loop(stmt);
}

void FunctionCompiler::for_range(const ForStmt& stmt, const RangeExpr& range) {
  const Register reg = hidden();  // gets its name after the ends are evaluated
  const Register counter = hidden(), end = hidden();
  accept_truncation(*range.start);
  accept_truncation(*range.end);
  expr_to(*range.start, counter);
  expr_to(*range.end, end);
  emit_wide(Op::kForPrepare, counter, range.inclusive ? 1 : 0);
  const size_t top = emit(Op::kForRange, counter, reg);
  emit_extra(0);
  open_loop(stmt.label);
  if (stmt.pattern->kind == PatternKind::kBinding) {
    const auto& binding = as<BindingPattern>(*stmt.pattern);
    declare_at(reg, binding.name, &binding);
    check_binding(binding, reg);
    declared(reg);
  } else {
    bind_pattern(*stmt.pattern, reg);
  }
  bind_of_loop(*stmt.pattern);
  end_for(stmt, top);
}

void FunctionCompiler::for_each(const ForStmt& stmt) {
  const auto declare_variable = [&](const Pattern& pattern) {
    return pattern.kind == PatternKind::kBinding ? declare(as<BindingPattern>(pattern).name, &pattern)
                                                 : hidden();
  };
  const auto destructure = [&](const Pattern& pattern, Register reg) {
    if (pattern.kind == PatternKind::kBinding) {
      check_binding(as<BindingPattern>(pattern), reg);
      declared(reg);
    } else {
      bind_pattern(pattern, reg);
    }
  };
  const Register iterator = hidden();
  hidden();  // the position of the iteration
  const uint32_t mark = temporary_count_;
  const Register iterable = operand(*stmt.iterable);
  check_pairs(*stmt.pattern, stmt.second, iterable);
  emit(Op::kIterPrepare, iterator, iterable);
  temporary_count_ = mark;
  const Register first = declare_variable(*stmt.pattern);
  const Register second = stmt.second ? declare_variable(*stmt.second) : Register{0};
  const size_t top =
      stmt.second ? emit(Op::kIterNextPair, iterator, first, second) : emit(Op::kIterNext, iterator, first);
  emit_extra(0);
  open_loop(stmt.label);
  destructure(*stmt.pattern, first);
  if (stmt.second) {
    destructure(*stmt.second, second);
    bind_of_loop(*stmt.second);
  }
  bind_of_loop(*stmt.pattern);
  end_for(stmt, top);
}

// The body, and the jump back to `top`, whose second word is the exit.
void FunctionCompiler::end_for(const ForStmt& stmt, size_t top) {
  block(stmt.body);
  const size_t back = emit_jump(Op::kLoop);
  patch_to(back, top);
  patch(top + 1);
  end_loop(back, stmt.otherwise);
}

void FunctionCompiler::compile(const WhileStmt& stmt) {
  open_scope();
  const size_t top = here();
  open_loop(stmt.label);
  const auto failures = condition(stmt.condition);
  block(stmt.body);
  const size_t back = emit_jump(Op::kLoop);
  patch_to(back, top);
  patch_all(failures);
  end_loop(back, stmt.otherwise);
  close_scope();
}

void FunctionCompiler::compile(const LoopStmt& stmt) {
  open_scope();
  const size_t top = here();
  open_loop(stmt.label);
  block(stmt.body);
  const size_t back = emit_jump(Op::kLoop);
  patch_to(back, top);
  close_loop(back);
  close_scope();
}

void FunctionCompiler::compile(const WithStmt& stmt) {
  open_scope();
  scopes_.back().defer_mark = hidden();
  emit(Op::kDeferMark, static_cast<uint32_t>(scopes_.back().defer_mark));
  std::vector<size_t> ends;
  for (const WithItem& item : stmt.items) {
    const uint32_t mark = temporary_count_;
    const Register resource = temporary_of(*item.resource);
    const Register reg = hidden();
    emit(Op::kWithEnter, reg, resource);
    ends.push_back(emit_jump(Op::kExtra, mark));
    temporary_count_ = mark;
    if (item.name != kNoSymbol) {
      declare_at(reg, item.name, &item);
      declared(reg);
      bind_of_block(item.name, &item);
    } else {
      emit(Op::kLoadNil, reg);
    }
  }
  ++with_depth_;
  block(stmt.body);
  --with_depth_;
  patch_all(ends);
  close_scope();
  for (const WithItem& item : stmt.items) {
    if (item.name != kNoSymbol) {
      note_ended_block(item.name, &item);
    }
  }
}

void FunctionCompiler::local_function(const FunctionDecl& decl) {
  if (decl.is_extern) {
    const Register native = declare(decl.info.name, &decl);
    emit(Op::kLoadConstant, native, constant(make_extern(decl, module_)));
    declared(native);
    return;
  }
  if (!decl.body) {
    error_at(decl.span, "function '" + name_of(decl.info.name) + "' has no body",
             "'extern fn' declares a native function");
  }
  // Declared before its body is compiled: a lambda in the body may name the function.
  const Local* early = find_local(decl.info.name);  // a function above uses it
  if (early == nullptr || early->key != &decl) {
    if (!is_port() && early != nullptr && early->is_function &&
        early >= &locals_[scopes_.back().first_local]) {
      error_at(decl.span, "redefinition of function '" + name_of(decl.info.name) + "'",
               "first defined at line " + std::to_string(early->line));
    }
    note_early(decl.info.name, &decl);
    const Register reg = declare(decl.info.name, &decl);
    locals_.back().is_function = true;
    emit(Op::kLoadNil, reg);
    declared(reg);
  }
  const std::vector<Register> decorators = decorator_values(decl.info);
  FunctionCompiler inner(module_, this, cells_, fields_);
  const Proto* proto = inner.function(decl, false);
  const Register closure = temporary();
  closure_to(proto, inner.captures(), closure);
  decorated_to(decl.info, closure, decorators);
  note_change(decl.info.name);
  write(resolve(decl.info.name), closure, decl.info.name, decl.span);
}

}  // namespace spl
