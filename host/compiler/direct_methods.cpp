// What @[direct(…)] names.
#include "direct_methods.h"

#include <algorithm>

#include "../builtins/builtins.h"
#include "../values/direct_calls.h"
#include "compiler.h"

namespace spl {

namespace {

const Attribute* direct_attribute(const FunctionDecl& decl) {
  static const Symbol direct = intern("direct");
  for (const Attribute& attribute : decl.info.attributes)
    if (attribute.name == direct)
      return &attribute;
  return nullptr;
}

DirectCall named(const Arg& argument, const SourceSpan& span) {
  if (argument.kind != ArgKind::kPositional || argument.value->kind != ExprKind::kName)
    throw CompileError{span, "direct takes the names of extern functions", ""};
  return {as<NameExpr>(*argument.value).name, nullptr};
}

void note_direct_call(DirectCalls& calls, Symbol method, const Attribute& attribute) {
  static const Symbol drop = intern("drop");
  const BinaryOp* op = operator_of_hook(method);
  const size_t most = method == drop ? 1 : op != nullptr ? 3 : 0;
  if (most == 0)
    throw CompileError{attribute.span, "only drop() and the hooks of binary operators can be direct", ""};
  if (attribute.args.empty() || attribute.args.size() > most)
    throw CompileError{attribute.span,
                       method == drop
                           ? "a direct drop() names one extern function"
                           : "a direct operator names the extern functions for two of its class, and "
                             "if wanted for a float and an integer on the right",
                       ""};
  if (method == drop) {
    calls.drop = named(attribute.args[0], attribute.span);
    return;
  }
  DirectCalls::Operator& entry = calls.operators[static_cast<size_t>(*op)];
  const std::array<DirectCall*, 3> places = {&entry.with_same, &entry.with_float, &entry.with_int};
  for (size_t i = 0; i < std::min(attribute.args.size(), places.size()); ++i)
    *places[i] = named(attribute.args[i], attribute.span);
}

}  // namespace

void note_direct_calls(Record& record, const std::vector<FunctionPtr>& methods) {
  for (const auto& method : methods) {
    const Attribute* attribute = direct_attribute(*method);
    if (attribute == nullptr)
      continue;
    if (!record.is_class || record.fields.size() != 1)
      throw CompileError{attribute->span,
                         "only a class with one field, a native handle, can have direct methods", ""};
    if (record.direct == nullptr)
      record.direct = new DirectCalls{.record = &record, .methods = {}, .operators = {}, .drop = {}};
    record.direct->methods.push_back(method->info.name);
    note_direct_call(*record.direct, method->info.name, *attribute);
  }
}

}  // namespace spl
