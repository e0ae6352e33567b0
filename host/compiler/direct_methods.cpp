// Reads the attribute @[direct(…)].
#include "host/compiler/direct_methods.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "host/compiler/compiler.h"
#include "host/values/direct_calls.h"
#include "host/values/operator_hooks.h"

namespace spl {

namespace {

const Attribute* attribute_named(const FunctionDecl& decl, Symbol name) {
  for (const Attribute& attribute : decl.info.attributes) {
    if (attribute.name == name) {
      return &attribute;
    }
  }
  return nullptr;
}

OperatorCall::Form form_of_operator(Symbol function) {
  static const Symbol invoke = intern("__invoke__"), get = intern("__getattr__"),
                      item = intern("__getitem__"), set_item = intern("__setitem__");
  using Form = OperatorCall::Form;
  return function == invoke || function == get ? Form::kAnyName
         : function == item                    ? Form::kGetItem
         : function == set_item                ? Form::kSetItem
                                               : Form::kNamed;
}

bool is_name(const Arg& argument) {
  return argument.kind == ArgKind::kPositional && argument.value->kind == ExprKind::kName;
}

/// @[packed("d", code)]: in the arguments of operators, the field stands for an instance of the class.
void note_packed_field(Record& record, const Attribute& attribute) {
  const bool is_valid = attribute.args.size() == 2 && attribute.args[0].value->kind == ExprKind::kText &&
                        as<TextExpr>(*attribute.args[0].value).value.size() == 1 &&
                        is_name(attribute.args[1]);
  const auto field = is_valid ? record.field_index.find(as<NameExpr>(*attribute.args[1].value).name)
                              : record.field_index.end();
  if (field == record.field_index.end()) {
    throw CompileError{attribute.span, "'packed' expects a letter and the name of a field"};
  }
  record.packed_letter = as<TextExpr>(*attribute.args[0].value).value[0];
  record.packed_field = static_cast<int32_t>(field->second);
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
  invocation.value_of = extern_named(attribute.args[1], attribute.span).name;
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
  static const Symbol plain_drop = intern("drop"), hidden_drop = intern("__drop__");
  const bool is_drop = method == plain_drop || method == hidden_drop;
  if (DirectInvocation* invocation = invocation_of(calls, method)) {
    return note_invocation(*invocation, attribute);
  }
  if (notes_letter(calls, attribute)) {
    return;
  }
  const BinaryOp* op = operator_of_hook(method);
  const size_t max_args = is_drop ? 1 : op != nullptr ? 3 : 0;
  if (max_args == 0) {
    throw CompileError{attribute.span,
                       "'direct' applies only to drop() and to the hooks of binary operators and calls"};
  }
  if (attribute.args.empty() || attribute.args.size() > max_args) {
    throw CompileError{
        attribute.span,
        is_drop ? "'direct' on drop() expects one extern function"
                : "'direct' on an operator expects extern functions for an operand of its class and, "
                  "optionally, for a float and an integer"};
  }
  if (is_drop) {
    calls.drop = extern_named(attribute.args[0], attribute.span);
    return;
  }
  DirectCalls::Operator& entry = calls.operators[static_cast<size_t>(*op)];
  const std::array<DirectCall*, 3> targets = {&entry.with_same, &entry.with_float, &entry.with_int};
  for (size_t i = 0; i < std::min(attribute.args.size(), targets.size()); ++i) {
    *targets[i] = extern_named(attribute.args[i], attribute.span);
  }
}

[[noreturn]] void fail_operator(const SourceSpan& span) {
  throw CompileError{
      span, "'operator' expects an extern function and, optionally, the class of the result and the form"};
}

// The form that the last argument names.
std::optional<OperatorCall::Form> last_form(const std::vector<Arg>& args) {
  using Form = OperatorCall::Form;
  static const std::array<std::tuple<Symbol, size_t, Form>, 6> forms = {{
      {intern("packed"), 3, Form::kPacked},
      {intern("list"), 2, Form::kList},
      {intern("elements"), 2, Form::kReadElements},
      {intern("elements"), 3, Form::kMakeElements},
      {intern("property"), 3, Form::kProperty},
      {intern("prefix"), 3, Form::kPrefixed},
  }};
  for (const auto& [name, count, form] : forms) {
    if (args.size() == count && as<NameExpr>(*args.back().value).name == name) {
      return form;
    }
  }
  return std::nullopt;
}

}  // namespace

const OperatorCall* operator_call_of(const FunctionDecl& decl) {
  static const Symbol name = intern("operator");
  const Attribute* attribute = attribute_named(decl, name);
  if (attribute == nullptr) {
    return nullptr;
  }
  const auto& args = attribute->args;
  if (!std::all_of(args.begin(), args.end(), is_name)) {
    fail_operator(attribute->span);
  }
  const auto form = last_form(args);
  const size_t names = args.size() - (form ? 1 : 0);
  if (names < 1 || names > 2) {
    fail_operator(attribute->span);
  }
  auto* call = new OperatorCall();
  call->form = form ? *form : names == 1 ? OperatorCall::Form::kProperty : form_of_operator(decl.info.name);
  call->name = decl.info.name;
  call->native = as<NameExpr>(*args[0].value).name;
  if (names > 1) {
    call->result = as<NameExpr>(*args[1].value).name;
  }
  return call;
}

void note_direct_calls(Record& record, const std::vector<FunctionPtr>& methods) {
  static const Symbol direct = intern("direct"), packed = intern("packed");
  for (const auto& method : methods) {
    if (const Attribute* of_field = attribute_named(*method, packed)) {
      note_packed_field(record, *of_field);
    }
    const Attribute* attribute = attribute_named(*method, direct);
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
