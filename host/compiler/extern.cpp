#include "host/compiler/extern.h"

#include <map>

#include "host/compiler/compiler.h"
#include "host/compiler/type_names.h"

namespace spl {

namespace {

NativeType native_type(const TypeExpr& type, const SourceSpan& span) {
  if (type.kind == TypeKind::kArray) {
    return NativeType::kArray;
  }
  if (type.kind == TypeKind::kFunction) {
    return NativeType::kFunction;
  }
  if (type.kind == TypeKind::kTuple && type.args.empty()) {
    return NativeType::kVoid;
  }
  if (type.kind == TypeKind::kName && type.path.size() == 1) {
    if (!type.modifiers.empty()) {
      return NativeType::kInt;  // a pointer
    }
    static const std::map<std::string_view, NativeType> names = {
        {"i64", NativeType::kInt},   {"u64", NativeType::kInt},   {"i32", NativeType::kInt32},
        {"u32", NativeType::kInt32}, {"f64", NativeType::kFloat}, {"f32", NativeType::kFloat32},
        {"bool", NativeType::kBool}, {"text", NativeType::kText}, {"nil", NativeType::kVoid}};
    if (name_of(type.path[0]) == "void") {
      return NativeType::kVoid;
    }
    if (const auto found = names.find(builtin_type(name_of(type.path[0]))); found != names.end()) {
      return found->second;
    }
  }
  throw CompileError{span, "an extern function cannot have this type",
                     "it may have i64, i32, f64, f32, bool, text, arrays and functions of these"};
}

NativeType result_type(const TypeExpr& type, const SourceSpan& span) {
  if (type.kind == TypeKind::kFunction) {
    throw CompileError{span, "native code cannot return a function", ""};
  }
  return native_type(type, span);
}

void add_parameter(Signature& signature, const TypeExpr& type, const SourceSpan& span) {
  signature.parameters.push_back(native_type(type, span));
  std::shared_ptr<Signature> inner;
  if (type.kind == TypeKind::kFunction) {
    inner = std::make_shared<Signature>();
    for (const TypePtr& parameter : type.args) {
      if (parameter->kind == TypeKind::kFunction) {
        throw CompileError{span, "a function that native code calls cannot take functions itself", ""};
      }
      add_parameter(*inner, *parameter, span);
    }
    if (type.result) {
      inner->result = result_type(*type.result, span);
    }
  }
  signature.functions.push_back(std::move(inner));
}

/// Notes a type without a native form. Programs declare such functions for other hosts and may never call
/// them.
template <class Add>
void unless_unsupported(Extern& function, const std::string& what, Add&& add) {
  const size_t parameters = function.signature.parameters.size();
  try {
    add();
  } catch (const CompileError& error) {
    function.unsupported = what + ": " + error.message;
    function.signature.parameters.resize(parameters);
    if (what != "the result") {
      function.signature.parameters.push_back(NativeType::kInt);
      function.signature.functions.resize(parameters);
      function.signature.functions.emplace_back();
    }
  }
}

bool is_word(NativeType type) { return type == NativeType::kInt; }

}  // namespace

Value make_extern(const FunctionDecl& decl, const LoadedModule& module) {
  auto* function = new Extern();
  function->name = name_of(decl.info.name);
  if (decl.params.size() > kMaxArguments) {
    throw CompileError{decl.span,
                       "an extern function can have at most " + std::to_string(kMaxArguments) + " parameters",
                       ""};
  }
  for (const Param& param : decl.params) {
    if (!param.type) {
      throw CompileError{param.span, "a parameter of an extern function needs a type", ""};
    }
    unless_unsupported(*function, "the parameter " + name_of(param.name), [&] {
      add_parameter(function->signature, module.unaliased(*param.type), param.span);
    });
    function->parameters.push_back(param.name);
  }
  if (decl.return_type) {
    unless_unsupported(*function, "the result", [&] {
      function->signature.result = result_type(module.unaliased(*decl.return_type), decl.return_type->span);
    });
  }
  function->only_integers =
      function->signature.parameters.size() <= 6 &&
      (is_word(function->signature.result) || function->signature.result == NativeType::kVoid);
  for (const NativeType type : function->signature.parameters) {
    function->only_integers = function->only_integers && is_word(type);
  }
  return Value::object(function);
}

}  // namespace spl
