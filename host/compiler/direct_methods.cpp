// What @[direct(…)] names.
#include "host/compiler/direct_methods.h"

#include <algorithm>

#include "host/builtins/builtins.h"
#include "host/compiler/compiler.h"
#include "host/values/direct_calls.h"

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

DirectCall named(const Arg& argument, const SourceSpan& span) {
  if (argument.kind != ArgKind::kPositional || argument.value->kind != ExprKind::kName) {
    throw CompileError{span, "direct takes the names of extern functions", ""};
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
    throw CompileError{attribute.span,
                       "a direct call names an extern function and the function that tells of its failure",
                       ""};
  }
  invocation.native = named(attribute.args[0], attribute.span);
  invocation.refusal = named(attribute.args[1], attribute.span).name;
}

/// Whether the attribute only says with which letter the class's handles go.
bool notes_letter(DirectCalls& calls, const Attribute& attribute) {
  if (attribute.args.size() != 1 || attribute.args[0].value->kind != ExprKind::kText) {
    return false;
  }
  const std::string& letter = as<TextExpr>(*attribute.args[0].value).value;
  if (letter.size() != 1 || letter == "v") {
    throw CompileError{attribute.span, "direct takes one letter, which is not v", ""};
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
  const size_t most = method == drop ? 1 : op != nullptr ? 3 : 0;
  if (most == 0) {
    throw CompileError{attribute.span,
                       "only drop() and the hooks of binary operators and of calls can be direct", ""};
  }
  if (attribute.args.empty() || attribute.args.size() > most) {
    throw CompileError{attribute.span,
                       method == drop
                           ? "a direct drop() names one extern function"
                           : "a direct operator names the extern functions for two of its class, and "
                             "if wanted for a float and an integer on the right",
                       ""};
  }
  if (method == drop) {
    calls.drop = named(attribute.args[0], attribute.span);
    return;
  }
  DirectCalls::Operator& entry = calls.operators[static_cast<size_t>(*op)];
  const std::array<DirectCall*, 3> places = {&entry.with_same, &entry.with_float, &entry.with_int};
  for (size_t i = 0; i < std::min(attribute.args.size(), places.size()); ++i) {
    *places[i] = named(attribute.args[i], attribute.span);
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
      throw CompileError{attribute->span,
                         "only a class with one field, a native handle, can have direct methods", ""};
    }
    if (record.direct == nullptr) {
      record.direct = new DirectCalls{.record = &record};
    }
    record.direct->methods.push_back(method->info.name);
    note_direct_call(*record.direct, method->info.name, *attribute);
  }
}

}  // namespace spl
