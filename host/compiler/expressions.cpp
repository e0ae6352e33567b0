// Expressions: each writes its value to the register that the caller chooses.
#include <utility>

#include "host/compiler/compiler.h"
#include "host/compiler/type_names.h"
#include "host/syntax/visit.h"
#include "host/values/sized.h"

namespace spl {

Register FunctionCompiler::temporary_of(const Expr& expr) {
  const Register reg = temporary();
  expr_to(expr, reg);
  return reg;
}

Register FunctionCompiler::operand(const Expr& expr) {
  const bool self = expr.kind == ExprKind::kSelf;
  if (self || expr.kind == ExprKind::kName) {
    const Symbol symbol = self ? intern("self") : as<NameExpr>(expr).name;
    if (const Local* local = find_local(symbol); local != nullptr && !local->is_cell) {
      check_moved(*local);
      check_ended_loop(symbol, expr.span);
      return local->reg;
    }
  }
  return temporary_of(expr);
}

// Evaluates an expression statement and drops its value.
void FunctionCompiler::effect(const Expr& expr) {
  span_ = expr.span;
  const uint32_t mark = temporary_count_;
  check_dropped_result(expr);
  if (expr.kind == ExprKind::kIf) {
    if_to(as<IfExpr>(expr), 0, false);
  } else if (expr.kind == ExprKind::kMatch) {
    match_to(as<MatchExpr>(expr), 0, false);
  } else if (is_action(expr)) {
    const Register reg = temporary();
    method_call(as<FieldExpr>(expr), {}, reg);
    emit(Op::kRelease, reg);
  } else {
    const Register reg = temporary_of(expr);
    emit(Op::kRelease, reg);
  }
  temporary_count_ = mark;
}

// Replaces Some(v) or Ok(v) in the register by v. The jump is taken for nil, None and Err.
size_t FunctionCompiler::jump_if_absent(Register value) {
  emit(Op::kCoalesce, value, value);
  const size_t present = here();
  emit_extra(0);
  const size_t absent = emit_jump(Op::kJump);
  patch(present);
  return absent;
}

void FunctionCompiler::name_to(Symbol name, const SourceSpan& span, Register dest) {
  span_ = span;
  if (const Local* local = find_local(name)) {
    check_moved(*local);
  }
  keep_ended_blocks(name);
  check_ended_loop(name, span);
  if (static const Symbol module_name = intern("__name__");
      name == module_name && !module_.knows(name) && find_local(name) == nullptr) {
    emit(Op::kLoadConstant, dest, text_constant(module_.is_program ? "__main__" : module_.name));
    return;
  }
  if (static const Symbol file = intern("__file__");
      name == file && !module_.knows(name) && find_local(name) == nullptr) {
    emit(Op::kLoadConstant, dest, text_constant(module_.source().path));
    return;
  }
  const Name resolved = resolve(name);
  if (resolved.form == Name::Form::kGlobal) {
    note_read(name, span);
  }
  read(resolved, dest);
}

namespace {
int cast_code(const TypeExpr& type) {
  static constexpr std::string_view kNames[] = {"i64", "i32", "i16", "i8",  "u64",  "u32",
                                                "u16", "u8",  "f64", "f32", "text", "bool"};
  if (type.kind != TypeKind::kName || type.path.size() != 1) {
    return -1;
  }
  const std::string_view name = builtin_type(name_of(type.path[0]));
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) {
      return static_cast<int>(i);
    }
  }
  return -1;  // a cast to any other type has no effect
}

Value sized_literal(int64_t value, Tag type) {
  return type == Tag::kFloat ? Value::number(static_cast<double>(value))
                             : sized_from(type, Value::integer(value));
}
}  // namespace

void FunctionCompiler::expr_to(const Expr& expr, Register dest) {
  const uint32_t mark = temporary_count_;
  const bool is_result = std::exchange(is_result_, false);  // a block inside the expression is not the result
  span_ = expr.span;
  visit(expr, [&](const auto& node) { compile(node, dest); });
  is_result_ = is_result;
  temporary_count_ = mark;
}

// ---- Literals and names -----------------------------------------------------------------------------------

void FunctionCompiler::compile(const IntExpr& expr, Register dest) {
  if (const Tag type = suffix_type(expr.suffix); type != Tag::kInt) {
    load_constant(dest, sized_literal(expr.value, type));
  } else if (expr.value >= INT32_MIN && expr.value <= INT32_MAX) {
    emit_wide(Op::kLoadInt, dest, static_cast<int32_t>(expr.value));
  } else {
    load_constant(dest, Value::integer(expr.value));
  }
}

void FunctionCompiler::compile(const FloatExpr& expr, Register dest) {
  const bool is_single = suffix_type(expr.suffix) == Tag::kFloat32;
  load_constant(dest, is_single ? single(expr.value) : Value::number(expr.value));
}

void FunctionCompiler::compile(const BoolExpr& expr, Register dest) { emit(Op::kLoadBool, dest, expr.value); }

void FunctionCompiler::compile(const NilExpr&, Register dest) { emit(Op::kLoadNil, dest); }

void FunctionCompiler::compile(const TextExpr& expr, Register dest) {
  load_constant(dest, make_text_constant(expr.value));
}

void FunctionCompiler::compile(const NameExpr& expr, Register dest) { name_to(expr.name, expr.span, dest); }

void FunctionCompiler::compile(const SelfExpr& expr, Register dest) {
  const Symbol of_class = expr.may_be_class && !has_self() ? class_parameter() : kNoSymbol;
  of_class == kNoSymbol ? self_to(dest) : read(resolve(of_class), dest);
}

// ---- Members and subscripts -------------------------------------------------------------------------------

void FunctionCompiler::compile(const FieldExpr& expr, Register dest) {
  if (expr.nil_safe) {
    accept_absence(*expr.object);
  }
  const Register object = operand(*expr.object);
  span_ = expr.span;
  if (!expr.nil_safe) {
    check_method_value(expr, object);
    emit(Op::kGetField, dest, object, cache(expr.name));
    return;
  }
  Register subject = object;
  if ((object & kTemporary) == 0) {
    subject = temporary();
    emit(Op::kMove, subject, object);
  }
  const size_t absent = jump_if_absent(subject);
  emit(Op::kGetField, dest, subject, cache(expr.name));
  const size_t end = emit_jump(Op::kJump);
  patch(absent);
  emit(Op::kLoadNil, dest);
  patch(end);
}

void FunctionCompiler::compile(const TupleFieldExpr& expr, Register dest) {
  const Register object = operand(*expr.object);
  emit(Op::kGetTupleField, dest, object, static_cast<uint32_t>(expr.index));
}

// The register of a variable of the function; nothing for any other expression.
std::optional<Register> FunctionCompiler::register_of(const Expr& expr) {
  const bool self = expr.kind == ExprKind::kSelf;
  if (!self && expr.kind != ExprKind::kName) {
    return std::nullopt;
  }
  const Local* local = find_local(self ? intern("self") : as<NameExpr>(expr).name);
  return local == nullptr || local->is_cell ? std::nullopt : std::optional(operand(expr));
}

// `x.f[i]` and `x.f[y.g]`, where `i` and `y` are variables of the function: one instruction, which does not
// copy x.f.
bool FunctionCompiler::field_element_to(const IndexExpr& expr, Register dest) {
  if (expr.object->kind != ExprKind::kField || as<FieldExpr>(*expr.object).nil_safe || expr.checks_key ||
      is_port()) {
    return false;
  }
  const Expr& index = *expr.subscripts[0];
  const bool is_field = index.kind == ExprKind::kField && !as<FieldExpr>(index).nil_safe;
  const auto base = register_of(is_field ? *as<FieldExpr>(index).object : index);
  if (!base) {
    return false;
  }
  const auto& held = as<FieldExpr>(*expr.object);
  const Register object = operand(*held.object);
  span_ = expr.span;
  emit(is_field ? Op::kFieldElementAt : Op::kFieldElement, dest, object, cache(held.name));
  emit(Op::kOperand, 0, *base, is_field ? cache(as<FieldExpr>(index).name) : 0);
  return true;
}

void FunctionCompiler::compile(const IndexExpr& expr, Register dest) {
  const bool is_single =
      expr.subscripts.size() == 1 && !expr.tuple && expr.subscripts[0]->kind != ExprKind::kSlice;
  if (is_single && field_element_to(expr, dest)) {
    return;
  }
  const Register object = operand(*expr.object);
  Register subscript;
  if (is_single) {
    accept_truncation(*expr.subscripts[0]);
    subscript = operand(*expr.subscripts[0]);
  } else {
    subscript = temporary();
    subscript_to(expr, subscript);
  }
  span_ = expr.span;
  if (expr.checks_key && is_single && !absences_.contains(&expr)) {
    emit(Op::kCheckKey, 0, object, subscript);
  }
  emit(is_port() && absences_.contains(&expr) ? Op::kGetIndexOrNil : Op::kGetIndex, dest, object, subscript);
}

// ---- Operators with one operand ---------------------------------------------------------------------------

void FunctionCompiler::compile(const UnaryExpr& expr, Register dest) {
  const Register value = operand(*expr.operand);
  span_ = expr.span;
  switch (expr.op) {
    case UnaryOp::kNegate:
      emit(Op::kNegate, dest, value);
      return;
    case UnaryOp::kNot:
      emit(Op::kNot, dest, value);
      return;
    case UnaryOp::kBitNot:
      emit(Op::kBitNot, dest, value);
      return;
    case UnaryOp::kAwait:
      emit(Op::kAwait, dest, value);
      return;
    case UnaryOp::kYield:
      yield_to(value, dest);
      return;
    case UnaryOp::kMove:
      copy_to(value, dest);
      mark_moved(*expr.operand);
      return;
    case UnaryOp::kReference:
    case UnaryOp::kDereference:
      copy_to(value, dest);
      return;
  }
}

void FunctionCompiler::yield_to(Register value, Register dest) {
  if (proto_->is_async) {
    error_at(span_, "'yield' inside async function: Simple has no asynchronous generators",
             "return an array, or use an object with __anext__()");
  }
  if (!may_yield_) {
    error_at(span_, "'yield' outside generator function", "use a generator: generator(\\: yield 1)");
  }
  proto_->is_generator = true;
  emit(Op::kYield, dest, value);
}

void FunctionCompiler::copy_to(Register value, Register dest) {
  emit((value & kTemporary) != 0 ? Op::kTake : Op::kMove, dest, value);
}

void FunctionCompiler::compile(const TryExpr& expr, Register dest) {
  const Register value = operand(*expr.operand);
  const Register result = temporary();
  span_ = expr.span;
  emit(Op::kTry, result, value);
  const size_t succeeded = here();
  emit_extra(0);
  if (is_module_) {
    // There is no function to return from: the program ends with unwrap()'s error.
    emit(Op::kInvoke, result, 0, cache(intern("unwrap")));
  } else {
    return_register(result);
  }
  patch(succeeded);
  emit(Op::kTake, dest, result);
}

void FunctionCompiler::compile(const PresentExpr& expr, Register dest) {
  accept_absence(*expr.operand);
  emit(Op::kPresent, dest, operand(*expr.operand));
}

void FunctionCompiler::compile(const CastExpr& expr, Register dest) {
  const int code = cast_code(module_.unaliased(*expr.type));
  const Register value = operand(*expr.operand);
  if (code >= 0) {
    emit(Op::kCast, dest, value, static_cast<uint32_t>(code));
  } else {
    copy_to(value, dest);
  }
}

void FunctionCompiler::compile(const NewExpr& expr, Register dest) { expr_to(*expr.operand, dest); }

void FunctionCompiler::compile(const TypeApplyExpr& expr, Register dest) { expr_to(*expr.object, dest); }

void FunctionCompiler::compile(const LambdaExpr& expr, Register dest) {
  FunctionCompiler inner(module_, this, cells_, fields_);
  const Proto* proto = inner.lambda(expr);
  closure_to(proto, inner.captures(), dest);
}

}  // namespace spl
