// Reads the attribute @[direct(…)].
#include "host/compiler/direct_methods.h"

#include <algorithm>

#include "host/compiler/compiler.h"
#include "host/values/direct_calls.h"
#include "host/values/operator_hooks.h"

namespace spl {

namespace {

const Attribute* direct_attribute(const FunctionDecl& decl) {
  static const Symbol direct = intern("direct");
  for (const Attribute& attribute : decl.info.attributes) {
    if (attribute.name == direct) {
      return &attribute;
    }
  }
  return nullptr;
}

DirectCall extern_named(const Arg& argument, const SourceSpan& span) {
  if (argument.kind != ArgKind::kPositional || argument.value->kind != ExprKind::kName) {
    throw CompileError{span, "'direct' expects names of extern functions"};
  }
  return {as<NameExpr>(*argument.value).name, nullptr};
}

DirectInvocation* invocation_of(DirectCalls& calls, Symbol method) {
  static const Symbol call = intern("__call__"), invoke = intern("__invoke__"), get = intern("__getattr__");
  return method == call     ? &calls.call
         : method == invoke ? &calls.invoke
         : method == get    ? &calls.get
                            : nullptr;
}

void note_invocation(DirectInvocation& invocation, const Attribute& attribute) {
  if (attribute.args.size() != 2) {
    throw CompileError{
        attribute.span,
        "'direct' on a call hook expects an extern function and a function that raises its error"};
  }
  invocation.native = extern_named(attribute.args[0], attribute.span);
  invocation.failure = extern_named(attribute.args[1], attribute.span).name;
}

/// Reads an attribute that only sets the type letter of the class's handles.
bool notes_letter(DirectCalls& calls, const Attribute& attribute) {
  if (attribute.args.size() != 1 || attribute.args[0].value->kind != ExprKind::kText) {
    return false;
  }
  const std::string& letter = as<TextExpr>(*attribute.args[0].value).value;
  if (letter.size() != 1 || letter == "v") {
    throw CompileError{attribute.span, "'direct' expects one letter other than v"};
  }
  calls.letter = letter[0];
  return true;
}

void note_direct_call(DirectCalls& calls, Symbol method, const Attribute& attribute) {
  static const Symbol drop = intern("drop");
  if (DirectInvocation* invocation = invocation_of(calls, method)) {
    return note_invocation(*invocation, attribute);
  }
  if (notes_letter(calls, attribute)) {
    return;
  }
  const BinaryOp* op = operator_of_hook(method);
  const size_t max_args = method == drop ? 1 : op != nullptr ? 3 : 0;
  if (max_args == 0) {
    throw CompileError{attribute.span,
                       "'direct' applies only to drop() and to the hooks of binary operators and calls"};
  }
  if (attribute.args.empty() || attribute.args.size() > max_args) {
    throw CompileError{
        attribute.span,
        method == drop ? "'direct' on drop() expects one extern function"
                       : "'direct' on an operator expects extern functions for an operand of its class and, "
                         "optionally, for a float and an integer"};
  }
  if (method == drop) {
    calls.drop = extern_named(attribute.args[0], attribute.span);
    return;
  }
  DirectCalls::Operator& entry = calls.operators[static_cast<size_t>(*op)];
  const std::array<DirectCall*, 3> targets = {&entry.with_same, &entry.with_float, &entry.with_int};
  for (size_t i = 0; i < std::min(attribute.args.size(), targets.size()); ++i) {
    *targets[i] = extern_named(attribute.args[i], attribute.span);
  }
}

}  // namespace

void note_direct_calls(Record& record, const std::vector<FunctionPtr>& methods) {
  for (const auto& method : methods) {
    const Attribute* attribute = direct_attribute(*method);
    if (attribute == nullptr) {
      continue;
    }
    if (!record.is_class || record.fields.size() != 1) {
      throw CompileError{attribute->span, "'direct' requires a class with one field, a native handle"};
    }
    if (record.direct == nullptr) {
      record.direct = new DirectCalls();
      record.direct->record = &record;
    }
    record.direct->methods.push_back(method->info.name);
    note_direct_call(*record.direct, method->info.name, *attribute);
  }
}

}  // namespace spl
