// Expressions: each is compiled into a register that its user chooses.
#include "../values/sized.h"
#include "compiler.h"
#include "type_names.h"

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
  if (const Local* local = find_local(name))
    check_moved(*local);
  read(resolve(name), dest);
}

namespace {
int cast_code(const TypeExpr& type) {
  static constexpr std::string_view kNames[] = {"i64", "i32", "i16", "i8",  "u64",  "u32",
                                                "u16", "u8",  "f64", "f32", "text", "bool"};
  if (type.kind != TypeKind::kName || type.path.size() != 1)
    return -1;
  const std::string_view name = builtin_type(name_of(type.path[0]));
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i])
      return static_cast<int>(i);
  }
  return -1;  // a cast to a class or the like changes nothing
}

// kInt for integers without a width of their own, kFloat for 2f64.
Tag suffix_type(Symbol suffix) {
  if (suffix == kNoSymbol || name_of(suffix) == "i64")
    return Tag::kInt;
  return name_of(suffix) == "f64" ? Tag::kFloat : sized_type(name_of(suffix));
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
      if (const Tag type = suffix_type(literal.suffix); type != Tag::kInt)
        emit(Op::kLoadConstant, dest, constant(sized_literal(literal.value, type)));
      else if (literal.value >= INT32_MIN && literal.value <= INT32_MAX)
        emit_wide(Op::kLoadInt, dest, static_cast<int32_t>(literal.value));
      else
        emit(Op::kLoadConstant, dest, constant(Value::integer(literal.value)));
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
        default:
          emit((value & kTemporary) != 0 ? Op::kTake : Op::kMove, dest, value);
          if (unary.op == UnaryOp::kMove)
            take_along(*unary.operand);
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
      if (is_module_)
        emit(Op::kInvoke, held, 0,
             cache(intern("unwrap")));  // there is no function to leave: the program ends
      else
        return_register(held);
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
      if (code >= 0)
        emit(Op::kCast, dest, value, static_cast<uint32_t>(code));
      else
        emit((value & kTemporary) != 0 ? Op::kTake : Op::kMove, dest, value);
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
      for (uint32_t i = 0; i < count; ++i)
        expr_to(*tuple.elements[i], static_cast<Register>(first + i));
      emit(Op::kMakeTuple, dest, first, count);
      Value names = Value();
      if (!tuple.names.empty()) {
        std::vector<Value> symbols;
        for (const Symbol name : tuple.names)
          symbols.push_back(Value::integer(name));
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

// ---- Operators -------------------------------------------------------------------------------------------

namespace {

const Op kConstantForm[] = {Op::kAddK, Op::kSubtractK, Op::kMultiplyK, Op::kDivideK, Op::kRemainderK};

bool number_literal(const Expr& expr, Value& value) {
  if (expr.kind == ExprKind::kInt) {
    const auto& literal = as<IntExpr>(expr);
    if (suffix_type(literal.suffix) != Tag::kInt)
      return false;
    value = Value::integer(literal.value);
    return true;
  }
  if (expr.kind == ExprKind::kFloat && suffix_type(as<FloatExpr>(expr).suffix) != Tag::kFloat32) {
    value = Value::number(as<FloatExpr>(expr).value);
    return true;
  }
  return false;
}

// The fast instructions, -1 for operators that go the general way.
int arithmetic_index(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return 0;
    case BinaryOp::kSubtract:
      return 1;
    case BinaryOp::kMultiply:
      return 2;
    case BinaryOp::kDivide:
      return 3;
    case BinaryOp::kRemainder:
      return 4;
    default:
      return -1;
  }
}
int comparison_index(BinaryOp op) {
  switch (op) {
    case BinaryOp::kLess:
      return 0;
    case BinaryOp::kLessEqual:
      return 1;
    case BinaryOp::kGreater:
      return 2;
    case BinaryOp::kGreaterEqual:
      return 3;
    case BinaryOp::kEqual:
      return 4;
    case BinaryOp::kNotEqual:
      return 5;
    default:
      return -1;
  }
}
Op nth(Op first, int index) { return static_cast<Op>(static_cast<int>(first) + index); }

}  // namespace

void FunctionCompiler::binary_to(const BinaryExpr& expr, Register dest) {
  switch (expr.op) {
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kCoalesce:
      logic_to(expr, dest);
      return;
    default:
      break;
  }
  const Register left = operand(*expr.left);
  Value number;
  const int arithmetic = arithmetic_index(expr.op);
  if (arithmetic >= 0 && number_literal(*expr.right, number)) {
    span_ = expr.span;
    emit(kConstantForm[arithmetic], dest, left, constant(number));
    return;
  }
  const Register right = operand(*expr.right);
  span_ = expr.span;
  if (arithmetic >= 0) {
    emit(nth(Op::kAdd, arithmetic), dest, left, right);
    return;
  }
  if (const int comparison = comparison_index(expr.op); comparison >= 0) {
    emit(nth(Op::kLess, comparison), dest, left, right);
    return;
  }
  switch (expr.op) {
    case BinaryOp::kIn:
      emit(Op::kContains, dest, left, right);
      break;
    case BinaryOp::kNotIn:
      emit(Op::kContains, dest, left, right);
      emit(Op::kNot, dest, dest);
      break;
    case BinaryOp::kIs:
      emit(Op::kIs, dest, left, right);
      break;
    case BinaryOp::kIsNot:
      emit(Op::kIs, dest, left, right);
      emit(Op::kNot, dest, dest);
      break;
    default:
      emit(Op::kArith, dest, left, right);
      emit_extra(static_cast<int32_t>(expr.op));
  }
}

void FunctionCompiler::logic_to(const BinaryExpr& expr, Register dest) {
  const Register held = temporary();
  expr_to(*expr.left, held);
  if (expr.op == BinaryOp::kCoalesce) {
    emit(Op::kCoalesce, held, held);
    const size_t present = here();
    emit_extra(0);
    expr_to(*expr.right, held);
    patch(present);
  } else {
    // The test must not use the value up: it is the result where the right side is not wanted.
    const Register tested = temporary();
    emit(Op::kMove, tested, held);
    const size_t decided = emit_jump(expr.op == BinaryOp::kAnd ? Op::kJumpIfNot : Op::kJumpIf, tested);
    expr_to(*expr.right, held);
    patch(decided);
  }
  emit(Op::kTake, dest, held);
}

void FunctionCompiler::compare_to(const CompareExpr& expr, Register dest) {
  const Register result = temporary();
  Register left = temporary_of(*expr.first);
  std::vector<size_t> ends;
  for (size_t i = 0; i < expr.links.size(); ++i) {
    const Register right = temporary_of(*expr.links[i].right);
    const Register kept = temporary();
    emit(Op::kMove, kept, right);
    if (const int comparison = comparison_index(expr.links[i].op); comparison >= 0) {
      emit(nth(Op::kLess, comparison), result, left, right);
    } else {
      emit(Op::kContains, result, left, right);
      if (expr.links[i].op == BinaryOp::kNotIn)
        emit(Op::kNot, result, result);
    }
    left = kept;
    if (i + 1 < expr.links.size()) {
      const Register tested = temporary();
      emit(Op::kMove, tested, result);
      ends.push_back(emit_jump(Op::kJumpIfNot, tested));
    }
  }
  patch_all(ends);
  emit(Op::kRelease, left);
  emit(Op::kTake, dest, result);
}

std::vector<size_t> FunctionCompiler::jump_if_false(const Expr& expr) {
  const uint32_t mark = temporary_count_;
  std::vector<size_t> jumps;
  if (expr.kind == ExprKind::kBinary) {
    const auto& binary = as<BinaryExpr>(expr);
    if (binary.op == BinaryOp::kAnd) {
      jumps = jump_if_false(*binary.left);
      const auto more = jump_if_false(*binary.right);
      jumps.insert(jumps.end(), more.begin(), more.end());
      return jumps;
    }
    if (binary.op == BinaryOp::kOr) {
      const auto left = jump_if_false(*binary.left);
      const size_t holds = emit_jump(Op::kJump);
      patch_all(left);
      jumps = jump_if_false(*binary.right);
      patch(holds);
      return jumps;
    }
    if (const int comparison = comparison_index(binary.op); comparison >= 0) {
      const Register left = operand(*binary.left);
      Value number;
      if (number_literal(*binary.right, number)) {
        span_ = expr.span;
        emit(nth(Op::kJumpUnlessLessK, comparison), 0, left, constant(number));
      } else {
        const Register right = operand(*binary.right);
        span_ = expr.span;
        emit(nth(Op::kJumpUnlessLess, comparison), 0, left, right);
      }
      jumps.push_back(here());
      emit_extra(0);
      temporary_count_ = mark;
      return jumps;
    }
  }
  const bool negated = expr.kind == ExprKind::kUnary && as<UnaryExpr>(expr).op == UnaryOp::kNot;
  const Register value = operand(negated ? *as<UnaryExpr>(expr).operand : expr);
  jumps.push_back(emit_jump(negated ? Op::kJumpIf : Op::kJumpIfNot, value));
  temporary_count_ = mark;
  return jumps;
}

std::vector<size_t> FunctionCompiler::condition(const Condition& condition) {
  if (condition.kind == ConditionKind::kTest)
    return jump_if_false(*condition.value);
  std::vector<size_t> failures;
  const uint32_t mark = temporary_count_;
  const Register subject = hidden();
  expr_to(*condition.value, subject);
  if (condition.kind == ConditionKind::kPresent) {
    const Register present = temporary();
    emit(Op::kTestPresent, present, subject);
    failures.push_back(emit_jump(Op::kJumpIfNot, present));
    const Register payload = temporary();
    emit(Op::kUnwrap, payload, subject);
    bind_pattern(*condition.pattern, payload, false);
  } else {
    test_pattern(*condition.pattern, subject, failures);
  }
  temporary_count_ = mark;
  return failures;
}

void FunctionCompiler::if_to(const IfExpr& expr, Register dest, bool wanted) {
  std::vector<size_t> ends;
  for (size_t i = 0; i < expr.clauses.size(); ++i) {
    const IfClause& clause = expr.clauses[i];
    open_scope();
    span_ = clause.span;
    const auto failures = condition(clause.condition);
    if (wanted)
      block_to(clause.body, dest);
    else
      block(clause.body);
    close_scope();
    if (i + 1 < expr.clauses.size() || expr.otherwise || wanted)
      ends.push_back(emit_jump(Op::kJump));
    patch_all(failures);
  }
  if (expr.otherwise && wanted)
    block_to(*expr.otherwise, dest);
  else if (expr.otherwise)
    block(*expr.otherwise);
  else if (wanted)
    emit(Op::kLoadNil, dest);
  patch_all(ends);
}

void FunctionCompiler::match_to(const MatchExpr& expr, Register dest, bool wanted) {
  check_arms(expr);
  open_scope();
  const Register subject = hidden();
  expr_to(*expr.subject, subject);
  std::vector<size_t> ends;
  for (const MatchArm& arm : expr.arms) {
    open_scope();
    span_ = arm.span;
    std::vector<size_t> failures;
    test_pattern(*arm.pattern, subject, failures);
    if (arm.guard) {
      const auto refused = jump_if_false(*arm.guard);
      failures.insert(failures.end(), refused.begin(), refused.end());
    }
    if (wanted)
      block_to(arm.body, dest);
    else
      block(arm.body);
    close_scope();
    ends.push_back(emit_jump(Op::kJump));
    patch_all(failures);
  }
  if (wanted)
    emit(Op::kLoadNil, dest);
  patch_all(ends);
  emit(Op::kLoadNil, subject);
  close_scope();
}

// ---- Literals and their like -----------------------------------------------------------------------------

void FunctionCompiler::interpolation_to(const InterpolationExpr& expr, Register dest) {
  std::vector<const InterpolationPart*> parts;
  uint32_t count = 0;
  for (const auto& part : expr.parts)
    count += static_cast<uint32_t>(!part.text.empty()) + static_cast<uint32_t>(part.value != nullptr);
  const Register first = temporaries(count == 0 ? 1 : count);
  uint32_t at = 0;
  for (const auto& part : expr.parts) {
    if (!part.text.empty())
      emit(Op::kLoadConstant, first + at++, text_constant(part.text));
    if (!part.value)
      continue;
    const auto reg = static_cast<Register>(first + at++);
    expr_to(*part.value, reg);
    if (!part.format.empty())
      emit(Op::kFormat, reg, reg, text_constant(part.format));
  }
  span_ = expr.span;
  emit(Op::kConcat, dest, first, count);
}

void FunctionCompiler::array_to(const ArrayExpr& expr, Register dest) {
  bool plain = expr.elements.size() <= 64;
  for (const Element& element : expr.elements)
    plain = plain && !element.spread;
  if (plain) {
    const auto count = static_cast<uint32_t>(expr.elements.size());
    const Register first = temporaries(count == 0 ? 1 : count);
    for (uint32_t i = 0; i < count; ++i)
      expr_to(*expr.elements[i].value, static_cast<Register>(first + i));
    emit(Op::kMakeArray, dest, first, count);
    return;
  }
  const Register array = temporary();
  emit(Op::kMakeArray, array, array, 0);
  for (const Element& element : expr.elements) {
    const uint32_t mark = temporary_count_;
    emit(element.spread ? Op::kArrayExtend : Op::kArrayPush, array, operand(*element.value));
    temporary_count_ = mark;
  }
  emit(Op::kTake, dest, array);
}

void FunctionCompiler::dict_to(const DictExpr& expr, Register dest) {
  const Register dict = temporary();
  emit(Op::kMakeDict, dict, dict);
  for (const DictEntry& entry : expr.entries) {
    const uint32_t mark = temporary_count_;
    if (entry.key) {
      const Register key = operand(*entry.key);
      emit(Op::kDictSet, dict, key, operand(*entry.value));
    } else {
      emit(Op::kDictMerge, dict, operand(*entry.value));
    }
    temporary_count_ = mark;
  }
  emit(Op::kTake, dest, dict);
}

void FunctionCompiler::comprehension_to(const ComprehensionExpr& expr, Register dest) {
  open_scope();
  const Register result = hidden();
  emit(expr.key ? Op::kMakeDict : Op::kMakeArray, result, result, 0);
  comprehension_clause(expr, 0, result);
  emit(Op::kMove, dest, result);
  emit(Op::kLoadNil, result);
  close_scope();
}

void FunctionCompiler::comprehension_clause(const ComprehensionExpr& expr, size_t clause, Register result) {
  const uint32_t mark = temporary_count_;
  if (clause == expr.clauses.size()) {
    if (expr.key) {
      const Register key = operand(*expr.key);
      emit(Op::kDictSet, result, key, operand(*expr.value));
    } else {
      emit(Op::kArrayPush, result, operand(*expr.value));
    }
    temporary_count_ = mark;
    return;
  }
  const ComprehensionClause& loop = expr.clauses[clause];
  open_scope();
  const Register iterator = hidden();
  hidden();
  emit(Op::kIterPrepare, iterator, operand(*loop.iterable));
  temporary_count_ = mark;
  const Register first = hidden();
  Register second = 0;
  size_t top;
  if (loop.second) {
    second = hidden();
    top = emit(Op::kIterNextPair, iterator, first, second);
  } else {
    top = emit(Op::kIterNext, iterator, first);
  }
  emit_extra(0);
  bind_pattern(*loop.pattern, first, false);
  if (loop.second)
    bind_pattern(*loop.second, second, false);
  for (const auto& test : loop.conditions)
    for (const size_t failure : jump_if_false(*test)) {
      // A failed condition goes on with the next element.
      const size_t passed = emit_jump(Op::kJump);
      patch(failure);
      patch_to(emit_jump(Op::kLoop), top);
      patch(passed);
    }
  comprehension_clause(expr, clause + 1, result);
  patch_to(emit_jump(Op::kLoop), top);
  patch(top + 1);
  emit(Op::kLoadNil, iterator);
  close_scope();
}

void FunctionCompiler::closure_to(const Proto* proto, const std::vector<Capture>& captures, Register dest) {
  proto_->protos.push_back(proto);
  proto_->capture_lists.push_back(captures);
  emit_wide(Op::kMakeClosure, dest, static_cast<int32_t>(proto_->protos.size() - 1));
}

void FunctionCompiler::slice_to(const SliceExpr& expr, Register dest) {
  const Register first = temporaries(3);
  const ExprPtr* parts[] = {&expr.start, &expr.stop, &expr.step};
  for (uint32_t i = 0; i < 3; ++i) {
    if (*parts[i])
      expr_to(**parts[i], static_cast<Register>(first + i));
    else
      emit(Op::kLoadNil, first + i);
  }
  emit(Op::kMakeSlice, dest, first);
}

void FunctionCompiler::range_to(const RangeExpr& expr, Register dest) {
  const Register first = temporaries(2);
  const ExprPtr* parts[] = {&expr.start, &expr.end};
  for (uint32_t i = 0; i < 2; ++i) {
    if (*parts[i])
      expr_to(**parts[i], static_cast<Register>(first + i));
    else
      emit(Op::kLoadNil, first + i);
  }
  emit(Op::kMakeRange, dest, first, first + 1);
  emit_extra(expr.inclusive ? 1 : 0);
}

void FunctionCompiler::subscript_to(const IndexExpr& expr, Register dest) {
  if (expr.subscripts.size() == 1 && !expr.tuple) {
    expr_to(*expr.subscripts[0], dest);
    return;
  }
  const auto count = static_cast<uint32_t>(expr.subscripts.size());
  const Register first = temporaries(count);
  for (uint32_t i = 0; i < count; ++i)
    expr_to(*expr.subscripts[i], static_cast<Register>(first + i));
  emit(Op::kMakeTuple, dest, first, count);
  emit_extra(-1);
}

}  // namespace spl
