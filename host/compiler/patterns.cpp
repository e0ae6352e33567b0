// Patterns: tests that jump away, and bindings.
#include "host/vm/patterns.h"
#include "host/compiler/compiler.h"
#include "host/compiler/type_names.h"

namespace spl {

void FunctionCompiler::bind_pattern(const Pattern& pattern, Register value, bool is_variable) {
  const bool temporary_value = (value & kTemporary) != 0;
  switch (pattern.kind) {
    case PatternKind::kBinding: {
      const auto& binding = as<BindingPattern>(pattern);
      if (at_module_level()) {
        emit_wide(Op::kSetGlobal, value, static_cast<int32_t>(module_.slot(binding.name)));
        return;
      }
      const Register reg = declare(binding.name, &binding, is_variable || binding.is_mutable);
      emit(temporary_value ? Op::kTake : Op::kMove, reg, value);
      declared(reg);
      return;
    }
    case PatternKind::kWildcard:
      if (temporary_value) {
        emit(Op::kRelease, value);
      }
      return;
    default:
      break;
  }
  const bool is_tuple = pattern.kind == PatternKind::kTuple;
  if (!is_tuple && pattern.kind != PatternKind::kArray) {
    const Register subject = hidden();
    emit(temporary_value ? Op::kTake : Op::kMove, subject, value);
    std::vector<size_t> failures;
    test_pattern(pattern, subject, failures);
    const size_t fine = emit_jump(Op::kJump);
    patch_all(failures);
    const Register message = temporary();
    emit(Op::kLoadConstant, message, text_constant("the value does not have the form that is bound here"));
    emit(Op::kAssert, message, message, text_constant(""));
    patch(fine);
    return;
  }
  const auto& elements = is_tuple ? as<TuplePattern>(pattern).elements : as<ArrayPattern>(pattern).elements;
  const bool has_rest = !is_tuple && as<ArrayPattern>(pattern).has_rest;
  const auto count = static_cast<uint32_t>(elements.size());
  const Register parts = temporaries(count + 1);
  emit(Op::kTestSequence, parts, value, count);
  emit_extra(has_rest ? 3 : 2);
  for (uint32_t i = 0; i < count; ++i) {
    emit(Op::kGetPart, parts + i, value, i);
  }
  if (has_rest) {
    emit(Op::kGetRest, parts + count, value, count);
  }
  if (temporary_value) {
    emit(Op::kRelease, value);
  }
  for (uint32_t i = 0; i < count; ++i) {
    bind_pattern(*elements[i], static_cast<Register>(parts + i), is_variable);
  }
  if (has_rest && as<ArrayPattern>(pattern).rest != kNoSymbol) {
    const Register rest = declare(as<ArrayPattern>(pattern).rest, &pattern, is_variable);
    emit(Op::kTake, rest, parts + count);
    declared(rest);
  }
}

// A union holds where one of its types does; the elements of arrays and their like are not looked at.
void FunctionCompiler::test_type(const TypeExpr& type, Register value, std::vector<size_t>& failures) {
  if (type.optional) {
    return;
  }
  const uint32_t mark = temporary_count_;
  const Register answer = temporary();
  std::vector<size_t> holds;
  const auto test = [&](const TypeExpr& one) {
    std::string_view name;
    switch (one.kind) {
      case TypeKind::kName:
        name = builtin_type(name_of(one.path.back()));
        break;
      case TypeKind::kArray:
        name = "array";
        break;
      case TypeKind::kDict:
        name = "dict";
        break;
      case TypeKind::kTuple:
        name = "tuple";
        break;
      default:
        name = "function";
        break;
    }
    const Symbol symbol = name.empty() ? module_.unaliased(one.path.back()) : intern(name);
    emit(Op::kTestType, answer, value, cache(symbol));
  };
  if (type.kind == TypeKind::kUnion) {
    for (const auto& one : type.args) {
      test(module_.unaliased(*one));
      holds.push_back(emit_jump(Op::kJumpIf, answer));
    }
    failures.push_back(emit_jump(Op::kJump));
    patch_all(holds);
  } else {
    test(type);
    failures.push_back(emit_jump(Op::kJumpIfNot, answer));
  }
  temporary_count_ = mark;
}

// `value` is a variable's register: tests and parts leave it alone.
void FunctionCompiler::test_pattern(const Pattern& pattern, Register value, std::vector<size_t>& failures) {
  const uint32_t mark = temporary_count_;
  const Register answer = temporary();
  span_ = pattern.span;
  switch (pattern.kind) {
    case PatternKind::kWildcard:
      break;
    case PatternKind::kLiteral: {
      const Expr& literal = *as<LiteralPattern>(pattern).value;
      const Register expected = temporary_of(literal);
      emit(literal.kind == ExprKind::kRange ? Op::kContains : Op::kEqual, answer, value, expected);
      failures.push_back(emit_jump(Op::kJumpIfNot, answer));
      break;
    }
    case PatternKind::kBinding: {
      const auto& binding = as<BindingPattern>(pattern);
      const Register reg = declare(binding.name, &binding, true);
      if (binding.type) {
        test_type(module_.unaliased(*binding.type), value, failures);
      }
      if (names_variant(binding.name)) {
        // 0: some other variant, 1: this variant, 2: no such variant, so it binds.
        emit(Op::kTestName, answer, value, cache(binding.name));
        failures.push_back(emit_jump(Op::kJumpIfNot, answer));
      }
      emit(Op::kMove, reg, value);
      declared(reg);
      break;
    }
    case PatternKind::kVariant: {
      const auto& variant = as<VariantPattern>(pattern);
      check_variant(variant);
      note_variant(variant);
      VariantPatternSpec spec;
      spec.variant = variant.path.back();
      if (variant.path.size() > 1) {
        spec.type = module_.unaliased(variant.path[variant.path.size() - 2]);
      } else if (!is_variant_name(spec.variant)) {
        spec.variant = module_.unaliased(spec.variant);
      }
      spec.arity = static_cast<uint32_t>(variant.fields.size());
      proto_->variants.push_back(spec);
      emit(Op::kTestVariant, answer, value, static_cast<uint32_t>(proto_->variants.size() - 1));
      failures.push_back(emit_jump(Op::kJumpIfNot, answer));
      const bool is_some = spec.variant == intern("Some") && spec.arity == 1;
      for (uint32_t i = 0; i < variant.fields.size(); ++i) {
        const Register part = hidden();
        emit(Op::kGetPart, part, value, is_some ? kWhatSomeHolds : i);
        test_pattern(*variant.fields[i].pattern, part, failures);
      }
      break;
    }
    case PatternKind::kStruct: {
      const auto& record = as<StructPattern>(pattern);
      emit(Op::kTestRecord, answer, value,
           cache(record.path.empty() ? kNoSymbol : module_.unaliased(record.path.back())));
      failures.push_back(emit_jump(Op::kJumpIfNot, answer));
      for (uint32_t i = 0; i < record.fields.size(); ++i) {
        const Register part = hidden();
        if (record.fields[i].name == kNoSymbol) {
          emit(Op::kGetPart, part, value, i);
        } else {
          emit(Op::kGetNamedPart, part, value, cache(record.fields[i].name));
        }
        test_pattern(*record.fields[i].pattern, part, failures);
      }
      break;
    }
    case PatternKind::kTuple:
    case PatternKind::kArray: {
      const bool is_tuple = pattern.kind == PatternKind::kTuple;
      const auto& elements =
          is_tuple ? as<TuplePattern>(pattern).elements : as<ArrayPattern>(pattern).elements;
      const bool has_rest = !is_tuple && as<ArrayPattern>(pattern).has_rest;
      const auto count = static_cast<uint32_t>(elements.size());
      emit(Op::kTestSequence, answer, value, count);
      emit_extra((has_rest ? 1 : 0) | (is_tuple ? 4 : 8));  // 4: only tuples fit, 8: only arrays
      failures.push_back(emit_jump(Op::kJumpIfNot, answer));
      for (uint32_t i = 0; i < count; ++i) {
        const Register part = hidden();
        emit(Op::kGetPart, part, value, i);
        test_pattern(*elements[i], part, failures);
      }
      if (has_rest && as<ArrayPattern>(pattern).rest != kNoSymbol) {
        const Register rest = declare(as<ArrayPattern>(pattern).rest, &pattern, true);
        emit(Op::kGetRest, rest, value, count);
        declared(rest);
      }
      break;
    }
    case PatternKind::kOr: {
      const auto& alternatives = as<OrPattern>(pattern).alternatives;
      std::vector<size_t> matched;
      for (size_t i = 0; i < alternatives.size(); ++i) {
        std::vector<size_t> missed;
        test_pattern(*alternatives[i], value, missed);
        if (i + 1 == alternatives.size()) {
          failures.insert(failures.end(), missed.begin(), missed.end());
        } else {
          matched.push_back(emit_jump(Op::kJump));
          patch_all(missed);
        }
      }
      patch_all(matched);
      break;
    }
  }
  temporary_count_ = mark;
}

}  // namespace spl
