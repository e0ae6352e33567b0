// Patterns: tests that jump on a mismatch, and bindings.
#include "host/compiler/compiler.h"
#include "host/compiler/type_names.h"
#include "host/syntax/visit.h"

namespace spl {

void FunctionCompiler::bind_pattern(const Pattern& pattern, Register value) {
  switch (pattern.kind) {
    case PatternKind::kBinding:
      bind_name(as<BindingPattern>(pattern), value);
      return;
    case PatternKind::kWildcard:
      release_temporary(value);
      return;
    case PatternKind::kTuple: {
      const auto& tuple = as<TuplePattern>(pattern);
      bind_parts(tuple.elements, nullptr, tuple.starred ? starred_parts(tuple, value) : value);
      return;
    }
    case PatternKind::kArray: {
      const auto& array = as<ArrayPattern>(pattern);
      bind_parts(array.elements, array.has_rest ? &array : nullptr, value);
      return;
    }
    default:
      bind_tested(pattern, value);
  }
}

void FunctionCompiler::release_temporary(Register value) {
  if ((value & kTemporary) != 0) {
    emit(Op::kRelease, value);
  }
}

void FunctionCompiler::bind_name(const BindingPattern& binding, Register value) {
  check_binding(binding, value);
  if (at_module_level()) {
    hidden_by_loops_.erase(binding.name);
    set_global(value, module_.slot(binding.name));
    return;
  }
  const Register reg = declare(binding.name, &binding);
  copy_to(value, reg);
  declared(reg);
}

// A pattern that may fail: a mismatch is an error at run time.
void FunctionCompiler::bind_tested(const Pattern& pattern, Register value) {
  const Register subject = hidden();
  copy_to(value, subject);
  std::vector<size_t> failures;
  test_pattern(pattern, subject, failures);
  const size_t matched = emit_jump(Op::kJump);
  patch_all(failures);
  const Register message = temporary();
  emit(Op::kLoadConstant, message, text_constant("value does not match the pattern"));
  emit(Op::kAssert, message, message, text_constant(""));
  patch(matched);
}

// The parts of a value for a pattern with a star, as a tuple.
Register FunctionCompiler::starred_parts(const TuplePattern& pattern, Register value) {
  static const Symbol function = intern("__starred__");
  const Register window = temporaries(4);
  emit(Op::kLoadConstant, window, constant(retained(builtins().at(function))));
  emit(Op::kMove, window + 1, value);
  release_temporary(value);
  const size_t before = *pattern.starred;
  emit(Op::kLoadConstant, window + 2, constant(Value::integer(static_cast<int64_t>(before))));
  emit(Op::kLoadConstant, window + 3,
       constant(Value::integer(static_cast<int64_t>(pattern.elements.size() - before - 1))));
  emit(Op::kCall, window, 3);
  return window;
}

// `open_ended` is the array pattern with `...`, or null.
void FunctionCompiler::bind_parts(const std::vector<PatternPtr>& elements, const ArrayPattern* open_ended,
                                  Register value) {
  const auto count = static_cast<uint32_t>(elements.size());
  const Register parts = temporaries(count + 1);
  emit(Op::kTestSequence, parts, value, count);
  emit_extra(kBinds | (open_ended != nullptr ? kMayBeLonger : 0));
  for (uint32_t i = 0; i < count; ++i) {
    emit(Op::kGetPart, parts + i, value, i);
  }
  if (open_ended != nullptr) {
    emit(Op::kGetRest, parts + count, value, count);
  }
  release_temporary(value);
  for (uint32_t i = 0; i < count; ++i) {
    bind_pattern(*elements[i], static_cast<Register>(parts + i));
  }
  if (open_ended != nullptr && open_ended->rest != kNoSymbol) {
    const Register rest = declare(open_ended->rest, open_ended);
    emit(Op::kTake, rest, parts + count);
    declared(rest);
  }
}

namespace {

// The name that Op::kTestType compares; empty: a type that the program declares.
std::string_view tested_name(const TypeExpr& type) {
  switch (type.kind) {
    case TypeKind::kName:
      return builtin_type(name_of(type.path.back()));
    case TypeKind::kArray:
      return "array";
    case TypeKind::kDict:
      return "dict";
    case TypeKind::kTuple:
      return "tuple";
    default:
      return "function";
  }
}

}  // namespace

// `nn.Linear`: the type is a member of a module or of another type.
void FunctionCompiler::test_member_type(const TypeExpr& type, Register value, Register matches) {
  type_to(type, matches);
  emit(Op::kTestClass, matches, value, matches);
}

// A union matches if one of its types does. The elements of containers are not tested.
void FunctionCompiler::test_type(const TypeExpr& type, Register value, std::vector<size_t>& failures) {
  if (type.optional) {
    return;
  }
  const uint32_t mark = temporary_count_;
  const Register matches = temporary();
  const auto test = [&](const TypeExpr& one) {
    const bool is_name = one.kind == TypeKind::kName;
    const bool is_local =
        is_name && (find_local(one.path[0]) != nullptr || captured_local(one.path[0]) != nullptr);
    if (is_local || (is_name && one.path.size() > 1 && module_.knows(one.path[0]))) {
      test_member_type(one, value, matches);
      return;
    }
    const std::string_view name = tested_name(one);
    const Symbol symbol = name.empty() ? module_.unaliased(one.path.back()) : intern(name);
    emit(Op::kTestType, matches, value, cache(symbol));
  };
  if (type.kind == TypeKind::kUnion) {
    std::vector<size_t> matched;
    for (const auto& one : type.args) {
      test(module_.unaliased(*one));
      matched.push_back(emit_jump(Op::kJumpIf, matches));
    }
    failures.push_back(emit_jump(Op::kJump));
    patch_all(matched);
  } else {
    test(type);
    failures.push_back(emit_jump(Op::kJumpIfNot, matches));
  }
  temporary_count_ = mark;
}

// `value` is the register of a variable, which tests and parts do not consume.
void FunctionCompiler::test_pattern(const Pattern& pattern, Register value, std::vector<size_t>& failures) {
  const uint32_t mark = temporary_count_;
  const Register matches = temporary();
  span_ = pattern.span;
  visit(pattern, [&](const auto& node) { test(node, {value, matches, failures}); });
  if (pattern.alias != kNoSymbol) {
    const Register alias = declare_in_pattern(pattern.alias, &pattern.alias);
    emit(Op::kMove, alias, value);
    declared(alias);
  }
  temporary_count_ = mark;
}

void FunctionCompiler::test(const WildcardPattern&, const PatternTest&) {}

void FunctionCompiler::test(const LiteralPattern& pattern, const PatternTest& to) {
  const Expr& literal = *pattern.value;
  const Register expected = temporary_of(literal);
  const Op op = literal.kind == ExprKind::kRange ? Op::kContains : Op::kEqual;
  emit(op, to.matches, to.value, expected);
  to.failures.push_back(emit_jump(Op::kJumpIfNot, to.matches));
}

void FunctionCompiler::test(const BindingPattern& pattern, const PatternTest& to) {
  const Register reg = declare_in_pattern(pattern.name, &pattern);
  if (pattern.type) {
    test_type(module_.unaliased(*pattern.type), to.value, to.failures);
  }
  if (names_variant(pattern.name)) {
    // 0: another variant, 1: this variant, 2: no such variant, so the name binds.
    emit(Op::kTestName, to.matches, to.value, cache(pattern.name));
    to.failures.push_back(emit_jump(Op::kJumpIfNot, to.matches));
  }
  emit(Op::kMove, reg, to.value);
  declared(reg);
}

// Whether the pattern is Python's `int(n)`, `Point(x=0)` or `nn.Linear()`, and none of a variant.
bool FunctionCompiler::is_class_pattern(const VariantPattern& pattern) const {
  const bool is_builtin = is_port() && pattern.fields.size() <= 1 && pattern.path.size() == 1 &&
                          !builtin_type(name_of(pattern.path[0])).empty();
  return (pattern.is_class || is_builtin) && !is_variant_name(pattern.path.back());
}

// The value is an instance, and the parts match.
void FunctionCompiler::test_class(const VariantPattern& pattern, const PatternTest& to) {
  TypeExpr type;
  type.span = pattern.span;
  type.path = pattern.path;
  test_type(module_.unaliased(type), to.value, to.failures);
  for (const FieldPattern& field : pattern.fields) {
    const Register part = hidden();
    if (field.name != kNoSymbol) {
      emit(Op::kGetNamedPart, part, to.value, cache(field.name));
    } else {  // `int(n)` binds the number
      emit(Op::kMove, part, to.value);
    }
    test_pattern(*field.pattern, part, to.failures);
  }
}

// `{"key": pattern}` of Python: the dict has the keys, and their values match.
void FunctionCompiler::test_mapping(const StructPattern& pattern, const PatternTest& to) {
  emit(Op::kTestType, to.matches, to.value, cache(intern("dict")));
  to.failures.push_back(emit_jump(Op::kJumpIfNot, to.matches));
  for (const FieldPattern& field : pattern.fields) {
    const Register key = hidden();
    emit(Op::kLoadConstant, key, text_constant(name_of(field.name)));
    emit(Op::kContains, to.matches, key, to.value);
    to.failures.push_back(emit_jump(Op::kJumpIfNot, to.matches));
    const Register part = hidden();
    emit(Op::kGetIndex, part, to.value, key);
    test_pattern(*field.pattern, part, to.failures);
  }
}

void FunctionCompiler::test(const VariantPattern& pattern, const PatternTest& to) {
  if (is_class_pattern(pattern)) {
    test_class(pattern, to);
    return;
  }
  if (pattern.is_class && !pattern.fields.empty()) {
    error_at(pattern.span, "the values of a variant are matched by position",
             "write the patterns without names");
  }
  check_variant(pattern);
  note_variant(pattern);
  VariantPatternSpec spec;
  spec.variant = pattern.path.back();
  if (pattern.path.size() > 1) {
    spec.type = module_.unaliased(pattern.path[pattern.path.size() - 2]);
  } else if (!is_variant_name(spec.variant)) {
    spec.variant = module_.unaliased(spec.variant);
  }
  spec.arity = static_cast<uint32_t>(pattern.fields.size());
  proto_->variants.push_back(spec);
  emit(Op::kTestVariant, to.matches, to.value, static_cast<uint32_t>(proto_->variants.size() - 1));
  to.failures.push_back(emit_jump(Op::kJumpIfNot, to.matches));
  const bool is_some = spec.variant == intern("Some") && spec.arity == 1;
  for (uint32_t i = 0; i < pattern.fields.size(); ++i) {
    const Register part = hidden();
    emit(Op::kGetPart, part, to.value, is_some ? kPayloadOfSome : i);
    test_pattern(*pattern.fields[i].pattern, part, to.failures);
  }
}

void FunctionCompiler::test(const StructPattern& pattern, const PatternTest& to) {
  if (pattern.is_mapping) {
    test_mapping(pattern, to);
    return;
  }
  emit(Op::kTestRecord, to.matches, to.value,
       cache(pattern.path.empty() ? kNoSymbol : module_.unaliased(pattern.path.back())));
  to.failures.push_back(emit_jump(Op::kJumpIfNot, to.matches));
  for (uint32_t i = 0; i < pattern.fields.size(); ++i) {
    const Register part = hidden();
    if (pattern.fields[i].name == kNoSymbol) {
      emit(Op::kGetPart, part, to.value, i);
    } else {
      emit(Op::kGetNamedPart, part, to.value, cache(pattern.fields[i].name));
    }
    test_pattern(*pattern.fields[i].pattern, part, to.failures);
  }
}

void FunctionCompiler::test(const TuplePattern& pattern, const PatternTest& to) {
  if (!pattern.starred) {
    check_sequence(pattern, pattern.elements.size(), to.value);
    test_parts(pattern.elements, kOnlyTuples, to);
    return;
  }
  emit(Op::kTestSequence, to.matches, to.value, static_cast<uint32_t>(pattern.elements.size() - 1));
  emit_extra(kMayBeLonger);
  to.failures.push_back(emit_jump(Op::kJumpIfNot, to.matches));
  const Register parts = hidden();
  emit(Op::kTake, parts, starred_parts(pattern, to.value));
  test_parts(pattern.elements, kOnlyTuples, {parts, to.matches, to.failures});
}

void FunctionCompiler::test(const ArrayPattern& pattern, const PatternTest& to) {
  check_sequence(pattern, pattern.elements.size(), to.value);
  test_parts(pattern.elements, kOnlyArrays | (pattern.has_rest ? kMayBeLonger : 0), to);
  if (pattern.has_rest && pattern.rest != kNoSymbol) {
    const Register rest = declare_in_pattern(pattern.rest, &pattern);
    emit(Op::kGetRest, rest, to.value, static_cast<uint32_t>(pattern.elements.size()));
    declared(rest);
  }
}

void FunctionCompiler::test_parts(const std::vector<PatternPtr>& elements, int32_t flags,
                                  const PatternTest& to) {
  const auto count = static_cast<uint32_t>(elements.size());
  emit(Op::kTestSequence, to.matches, to.value, count);
  emit_extra(flags);
  to.failures.push_back(emit_jump(Op::kJumpIfNot, to.matches));
  for (uint32_t i = 0; i < count; ++i) {
    const Register part = hidden();
    emit(Op::kGetPart, part, to.value, i);
    test_pattern(*elements[i], part, to.failures);
  }
}

}  // namespace spl
