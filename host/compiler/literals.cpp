// Interpolated strings, arrays, tuples, dicts, comprehensions, slices and ranges.
#include "host/compiler/compiler.h"
#include "host/compiler/type_names.h"
#include "host/values/sized.h"

namespace spl {

Tag suffix_type(Symbol suffix) {
  if (suffix == kNoSymbol || name_of(suffix) == "i64") {
    return Tag::kInt;
  }
  return name_of(suffix) == "f64" ? Tag::kFloat : sized_type(name_of(suffix));
}

void FunctionCompiler::compile(const InterpolationExpr& expr, Register dest) {
  std::vector<const InterpolationPart*> parts;
  uint32_t count = 0;
  for (const auto& part : expr.parts) {
    count += static_cast<uint32_t>(!part.text.empty()) + static_cast<uint32_t>(part.value != nullptr);
  }
  const Register first = temporaries(count == 0 ? 1 : count);
  uint32_t at = 0;
  for (const auto& part : expr.parts) {
    if (!part.text.empty()) {
      load_constant(static_cast<Register>(first + at++), make_text(part.text));
    }
    if (part.value && part.format.empty()) {
      note_shown(*part.value);
    }
    if (!part.value) {
      continue;
    }
    const bool repeats = part.text.ends_with(']') || part.text.ends_with(')');
    if (repeats && part.value->kind == ExprKind::kInt && part.format.empty() && !is_port()) {
      // Of a regular expression, as in "[0-9]{4}".
      warn_once({part.value->span, "the braces around this number are replaced by the number",
                 "write {{ and }} for braces, or a raw string: r\"…\""});
    }
    const auto reg = static_cast<Register>(first + at++);
    expr_to(*part.value, reg);
    if (!part.format.empty()) {
      emit(Op::kFormat, reg, reg, text_constant(part.format));
    }
  }
  span_ = expr.span;
  emit(Op::kConcat, dest, first, count);
}

void FunctionCompiler::compile(const ArrayExpr& expr, Register dest) {
  bool plain = expr.elements.size() <= 64;
  for (const Element& element : expr.elements) {
    plain = plain && !element.spread;
  }
  if (plain) {
    const auto count = static_cast<uint32_t>(expr.elements.size());
    const Register first = temporaries(count == 0 ? 1 : count);
    for (uint32_t i = 0; i < count; ++i) {
      expr_to(*expr.elements[i].value, static_cast<Register>(first + i));
    }
    emit(Op::kMakeArray, dest, first, count);
    return;
  }
  const Register array = temporary();
  emit(Op::kMakeArray, array, array, 0);
  for (const Element& element : expr.elements) {
    const uint32_t mark = temporary_count_;
    const Register value = operand(*element.value);
    if (element.spread) {
      static const Symbol spread = intern("list");
      check_visited(spread, element.value->span, value);
    }
    emit(element.spread ? Op::kArrayExtend : Op::kArrayPush, array, value);
    temporary_count_ = mark;
  }
  emit(Op::kTake, dest, array);
}

void FunctionCompiler::compile(const ArrayRepeatExpr& expr, Register dest) {
  const Register value = operand(*expr.value);
  const Register count = operand(*expr.count);
  emit(Op::kMakeRepeat, dest, value, count);
}

void FunctionCompiler::compile(const TupleExpr& expr, Register dest) {
  const auto count = static_cast<uint32_t>(expr.elements.size());
  const Register first = temporaries(count == 0 ? 1 : count);
  for (uint32_t i = 0; i < count; ++i) {
    expr_to(*expr.elements[i], static_cast<Register>(first + i));
  }
  emit(Op::kMakeTuple, dest, first, count);
  if (expr.names.empty()) {
    emit_extra(-1);
    return;
  }
  std::vector<Value> symbols;
  for (const Symbol name : expr.names) {
    symbols.push_back(Value::integer(name));
  }
  emit_extra(constant(make_array(std::move(symbols))));
}

void FunctionCompiler::compile(const DictExpr& expr, Register dest) {
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

void FunctionCompiler::compile(const ComprehensionExpr& expr, Register dest) {
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
  const Register iterable = operand(*loop.iterable);
  check_pairs(*loop.pattern, loop.second, iterable);
  emit(Op::kIterPrepare, iterator, iterable);
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
  open_repeated();
  bind_pattern(*loop.pattern, first);
  if (loop.second) {
    bind_pattern(*loop.second, second);
  }
  for (const auto& test : loop.conditions) {
    for (const size_t failure : jump_if_false(*test)) {
      // A failed condition continues with the next element.
      const size_t passed = emit_jump(Op::kJump);
      patch(failure);
      patch_to(emit_jump(Op::kLoop), top);
      patch(passed);
    }
  }
  comprehension_clause(expr, clause + 1, result);
  close_repeated();
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

void FunctionCompiler::compile(const SliceExpr& expr, Register dest) {
  const Register first = temporaries(3);
  const ExprPtr* parts[] = {&expr.start, &expr.stop, &expr.step};
  for (uint32_t i = 0; i < 3; ++i) {
    if (*parts[i]) {
      accept_truncation(**parts[i]);
      expr_to(**parts[i], static_cast<Register>(first + i));
    } else {
      emit(Op::kLoadNil, first + i);
    }
  }
  emit(Op::kMakeSlice, dest, first);
}

void FunctionCompiler::compile(const RangeExpr& expr, Register dest) {
  const Register first = temporaries(2);
  const ExprPtr* parts[] = {&expr.start, &expr.end};
  for (uint32_t i = 0; i < 2; ++i) {
    if (*parts[i]) {
      expr_to(**parts[i], static_cast<Register>(first + i));
    } else {
      emit(Op::kLoadNil, first + i);
    }
  }
  emit(Op::kMakeRange, dest, first, first + 1);
  emit_extra(expr.inclusive ? 1 : 0);
}

void FunctionCompiler::subscript_to(const IndexExpr& expr, Register dest) {
  for (const auto& subscript : expr.subscripts) {
    accept_truncation(*subscript);
  }
  if (expr.subscripts.size() == 1 && !expr.tuple) {
    expr_to(*expr.subscripts[0], dest);
    return;
  }
  const auto count = static_cast<uint32_t>(expr.subscripts.size());
  const Register first = temporaries(count);
  for (uint32_t i = 0; i < count; ++i) {
    expr_to(*expr.subscripts[i], static_cast<Register>(first + i));
  }
  emit(Op::kMakeTuple, dest, first, count);
  emit_extra(-1);
}

}  // namespace spl
