// Expressions: each is compiled into a register that its user chooses.
#include "host/compiler/compiler.h"
#include "host/compiler/type_names.h"
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
      return local->reg;
    }
  }
  return temporary_of(expr);
}

// For its effect alone.
void FunctionCompiler::effect(const Expr& expr) {
  span_ = expr.span;
  const uint32_t mark = temporary_count_;
  if (expr.kind == ExprKind::kIf) {
    if_to(as<IfExpr>(expr), 0, false);
  } else if (expr.kind == ExprKind::kMatch) {
    match_to(as<MatchExpr>(expr), 0, false);
  } else {
    const Register reg = temporary_of(expr);
    emit(Op::kRelease, reg);
  }
  temporary_count_ = mark;
}

// Some(v) and Ok(v) in the register become v; the jump is taken for nil, None and Err.
size_t FunctionCompiler::jump_if_nothing(Register value) {
  emit(Op::kCoalesce, value, value);
  const size_t present = here();
  emit_extra(0);
  const size_t nothing = emit_jump(Op::kJump);
  patch(present);
  return nothing;
}

void FunctionCompiler::name_to(Symbol name, const SourceSpan& span, Register dest) {
  span_ = span;
  if (const Local* local = find_local(name)) {
    check_moved(*local);
  }
  read(resolve(name), dest);
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
  return -1;  // a cast to a class or the like changes nothing
}

Value sized_literal(int64_t value, Tag type) {
  return type == Tag::kFloat ? Value::number(static_cast<double>(value))
                             : sized_from(type, Value::integer(value));
}
}  // namespace

void FunctionCompiler::expr_to(const Expr& expr, Register dest) {
  const uint32_t mark = temporary_count_;
  span_ = expr.span;
  switch (expr.kind) {
    case ExprKind::kInt: {
      const auto& literal = as<IntExpr>(expr);
      if (const Tag type = suffix_type(literal.suffix); type != Tag::kInt) {
        emit(Op::kLoadConstant, dest, constant(sized_literal(literal.value, type)));
      } else if (literal.value >= INT32_MIN && literal.value <= INT32_MAX) {
        emit_wide(Op::kLoadInt, dest, static_cast<int32_t>(literal.value));
      } else {
        emit(Op::kLoadConstant, dest, constant(Value::integer(literal.value)));
      }
      break;
    }
    case ExprKind::kFloat: {
      const auto& literal = as<FloatExpr>(expr);
      const bool is_single = suffix_type(literal.suffix) == Tag::kFloat32;
      emit(Op::kLoadConstant, dest,
           constant(is_single ? single(literal.value) : Value::number(literal.value)));
      break;
    }
    case ExprKind::kBool:
      emit(Op::kLoadBool, dest, as<BoolExpr>(expr).value);
      break;
    case ExprKind::kNil:
      emit(Op::kLoadNil, dest);
      break;
    case ExprKind::kText:
      emit(Op::kLoadConstant, dest, text_constant(as<TextExpr>(expr).value));
      break;
    case ExprKind::kInterpolation:
      interpolation_to(as<InterpolationExpr>(expr), dest);
      break;
    case ExprKind::kName:
      name_to(as<NameExpr>(expr).name, expr.span, dest);
      break;
    case ExprKind::kSelf:
      self_to(dest);
      break;
    case ExprKind::kField: {
      const auto& field = as<FieldExpr>(expr);
      const Register object = operand(*field.object);
      span_ = expr.span;
      if (!field.nil_safe) {
        emit(Op::kGetField, dest, object, cache(field.name));
        break;
      }
      Register held = object;
      if ((object & kTemporary) == 0) {
        held = temporary();
        emit(Op::kMove, held, object);
      }
      const size_t nothing = jump_if_nothing(held);
      emit(Op::kGetField, dest, held, cache(field.name));
      const size_t end = emit_jump(Op::kJump);
      patch(nothing);
      emit(Op::kLoadNil, dest);
      patch(end);
      break;
    }
    case ExprKind::kTupleField: {
      const auto& field = as<TupleFieldExpr>(expr);
      const Register object = operand(*field.object);
      emit(Op::kGetTupleField, dest, object, static_cast<uint32_t>(field.index));
      break;
    }
    case ExprKind::kCall:
      call_to(as<CallExpr>(expr), dest);
      break;
    case ExprKind::kUpdateCall:
      update_call(as<UpdateCallExpr>(expr), dest);
      break;
    case ExprKind::kIndex: {
      const auto& index = as<IndexExpr>(expr);
      const Register object = operand(*index.object);
      Register subscript;
      if (index.subscripts.size() == 1 && !index.tuple && index.subscripts[0]->kind != ExprKind::kSlice) {
        subscript = operand(*index.subscripts[0]);
      } else {
        subscript = temporary();
        subscript_to(index, subscript);
      }
      span_ = expr.span;
      emit(Op::kGetIndex, dest, object, subscript);
      break;
    }
    case ExprKind::kSlice:
      slice_to(as<SliceExpr>(expr), dest);
      break;
    case ExprKind::kUnary: {
      const auto& unary = as<UnaryExpr>(expr);
      const Register value = operand(*unary.operand);
      span_ = expr.span;
      switch (unary.op) {
        case UnaryOp::kNegate:
          emit(Op::kNegate, dest, value);
          break;
        case UnaryOp::kNot:
          emit(Op::kNot, dest, value);
          break;
        case UnaryOp::kBitNot:
          emit(Op::kBitNot, dest, value);
          break;
        case UnaryOp::kAwait:
          emit(Op::kAwait, dest, value);
          break;
        case UnaryOp::kYield:
          if (!may_yield_) {
            refuse(span_, "'yield' stands in the body of a function or a lambda that others call",
                   "generator(\\: yield 1)");
          }
          proto_->is_generator = true;
          emit(Op::kYield, dest, value);
          break;
        default:
          emit((value & kTemporary) != 0 ? Op::kTake : Op::kMove, dest, value);
          if (unary.op == UnaryOp::kMove) {
            mark_moved(*unary.operand);
          }
          break;
      }
      break;
    }
    case ExprKind::kBinary:
      binary_to(as<BinaryExpr>(expr), dest);
      break;
    case ExprKind::kCompare:
      compare_to(as<CompareExpr>(expr), dest);
      break;
    case ExprKind::kRange:
      range_to(as<RangeExpr>(expr), dest);
      break;
    case ExprKind::kTry: {
      const Register value = operand(*as<TryExpr>(expr).operand);
      const Register held = temporary();
      span_ = expr.span;
      emit(Op::kTry, held, value);
      const size_t fine = here();
      emit_extra(0);
      if (is_module_) {
        emit(Op::kInvoke, held, 0,
             cache(intern("unwrap")));  // there is no function to leave: the program ends
      } else {
        return_register(held);
      }
      patch(fine);
      emit(Op::kTake, dest, held);
      break;
    }
    case ExprKind::kPresent:
      emit(Op::kPresent, dest, operand(*as<PresentExpr>(expr).operand));
      break;
    case ExprKind::kCast: {
      const auto& cast = as<CastExpr>(expr);
      const int code = cast_code(module_.unaliased(*cast.type));
      const Register value = operand(*cast.operand);
      if (code >= 0) {
        emit(Op::kCast, dest, value, static_cast<uint32_t>(code));
      } else {
        emit((value & kTemporary) != 0 ? Op::kTake : Op::kMove, dest, value);
      }
      break;
    }
    case ExprKind::kLambda: {
      FunctionCompiler inner(module_, this, cells_, fields_);
      const Proto* proto = inner.lambda(as<LambdaExpr>(expr));
      closure_to(proto, inner.captures(), dest);
      break;
    }
    case ExprKind::kArray:
      array_to(as<ArrayExpr>(expr), dest);
      break;
    case ExprKind::kArrayRepeat: {
      const auto& repeat = as<ArrayRepeatExpr>(expr);
      const Register value = operand(*repeat.value);
      const Register count = operand(*repeat.count);
      emit(Op::kMakeRepeat, dest, value, count);
      break;
    }
    case ExprKind::kTuple: {
      const auto& tuple = as<TupleExpr>(expr);
      const auto count = static_cast<uint32_t>(tuple.elements.size());
      const Register first = temporaries(count == 0 ? 1 : count);
      for (uint32_t i = 0; i < count; ++i) {
        expr_to(*tuple.elements[i], static_cast<Register>(first + i));
      }
      emit(Op::kMakeTuple, dest, first, count);
      Value names = Value();
      if (!tuple.names.empty()) {
        std::vector<Value> symbols;
        for (const Symbol name : tuple.names) {
          symbols.push_back(Value::integer(name));
        }
        names = make_array(std::move(symbols));
      }
      emit_extra(names.is_nil() ? -1 : constant(names));
      break;
    }
    case ExprKind::kDict:
      dict_to(as<DictExpr>(expr), dest);
      break;
    case ExprKind::kComprehension:
      comprehension_to(as<ComprehensionExpr>(expr), dest);
      break;
    case ExprKind::kStructLiteral: {
      const auto& literal = as<StructLiteralExpr>(expr);
      const Register callee = temporary_of(*literal.type);
      const uint16_t count = arguments(literal.args);
      span_ = expr.span;
      emit(Op::kCallSpec, callee, count, call_spec(literal.args));
      emit(Op::kTake, dest, callee);
      break;
    }
    case ExprKind::kIf:
      if_to(as<IfExpr>(expr), dest, true);
      break;
    case ExprKind::kMatch:
      match_to(as<MatchExpr>(expr), dest, true);
      break;
    case ExprKind::kNew:
      expr_to(*as<NewExpr>(expr).operand, dest);
      break;
    case ExprKind::kTypeApply:
      expr_to(*as<TypeApplyExpr>(expr).object, dest);
      break;
  }
  temporary_count_ = mark;
}

}  // namespace spl
