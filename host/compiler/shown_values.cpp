// Code that computes, for another language, what the declaration of a function refers to: default values, and
// types that are variables of an enclosing function.
//
// Another language shows default values before any call. Only those whose computation has no effect on the
// program are shown: they consist of literals, constants, members, operators, and calls of the other
// language, which itself computes default values once.
#include <algorithm>

#include "host/compiler/compiler.h"
#include "host/compiler/literal_value.h"
#include "host/compiler/type_names.h"

namespace spl {

// Whether the name has one value for the whole life of the function, which is known before a call.
bool FunctionCompiler::is_fixed_outside(Symbol name) {
  if (find_local(name) != nullptr || name == own_name_) {
    return false;
  }
  for (FunctionCompiler* at = parent_; at != nullptr; at = at->parent_) {
    if (const Local* local = at->find_local(name)) {
      return !local->is_cell;
    }
  }
  if (fields_ != nullptr && has_self() &&
      std::find(fields_->begin(), fields_->end(), name) != fields_->end()) {
    return false;
  }
  return !module_.variables.contains(name);
}

bool FunctionCompiler::are_shown(const std::vector<Arg>& args, std::vector<Symbol>& roots) {
  return std::all_of(args.begin(), args.end(), [&](const Arg& arg) {
    const bool is_plain = arg.kind == ArgKind::kPositional || arg.kind == ArgKind::kNamed;
    return is_plain && (arg.value->kind == ExprKind::kLambda || is_shown(*arg.value, roots));
  });
}

// A call is shown if the name at the root of its callee is a value of the other language, which is known when
// the value is read: the name is added to `roots`.
bool FunctionCompiler::is_shown_call(const CallExpr& call, std::vector<Symbol>& roots) {
  const Expr* root = call.callee.get();
  for (;;) {
    if (root->kind == ExprKind::kField) {
      root = as<FieldExpr>(*root).object.get();
    } else if (root->kind == ExprKind::kIndex) {
      root = as<IndexExpr>(*root).object.get();
    } else if (root->kind == ExprKind::kCall) {
      root = as<CallExpr>(*root).callee.get();
    } else {
      break;
    }
  }
  if (root->kind != ExprKind::kName) {
    return false;
  }
  roots.push_back(as<NameExpr>(*root).name);
  return is_shown(*call.callee, roots) && are_shown(call.args, roots);
}

bool FunctionCompiler::is_shown(const Expr& expr, std::vector<Symbol>& roots) {
  const auto all = [&](const std::vector<ExprPtr>& parts) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const ExprPtr& part) { return part != nullptr && is_shown(*part, roots); });
  };
  switch (expr.kind) {
    case ExprKind::kInt:
    case ExprKind::kFloat:
    case ExprKind::kBool:
    case ExprKind::kNil:
    case ExprKind::kText:
      return true;
    case ExprKind::kName:
      return is_fixed_outside(as<NameExpr>(expr).name);
    case ExprKind::kField:
      return is_shown(*as<FieldExpr>(expr).object, roots);
    case ExprKind::kIndex:
      return is_shown(*as<IndexExpr>(expr).object, roots) && all(as<IndexExpr>(expr).subscripts);
    case ExprKind::kCall:
      return is_shown_call(as<CallExpr>(expr), roots);
    case ExprKind::kTuple:
      return all(as<TupleExpr>(expr).elements);
    default:
      return is_shown_operation(expr, roots);
  }
}

bool FunctionCompiler::is_shown_operation(const Expr& expr, std::vector<Symbol>& roots) {
  switch (expr.kind) {
    case ExprKind::kUnary: {
      const auto& unary = as<UnaryExpr>(expr);
      const bool is_operator =
          unary.op == UnaryOp::kNegate || unary.op == UnaryOp::kNot || unary.op == UnaryOp::kBitNot;
      return is_operator && is_shown(*unary.operand, roots);
    }
    case ExprKind::kBinary:
      return is_shown(*as<BinaryExpr>(expr).left, roots) && is_shown(*as<BinaryExpr>(expr).right, roots);
    case ExprKind::kArray: {
      const auto& elements = as<ArrayExpr>(expr).elements;
      return std::all_of(elements.begin(), elements.end(), [&](const Element& element) {
        return !element.spread && is_shown(*element.value, roots);
      });
    }
    case ExprKind::kDict: {
      const auto& entries = as<DictExpr>(expr).entries;
      return std::all_of(entries.begin(), entries.end(), [&](const DictEntry& entry) {
        return entry.key && is_shown(*entry.key, roots) && is_shown(*entry.value, roots);
      });
    }
    default:
      return false;
  }
}

const Proto* FunctionCompiler::names_read(const std::vector<Symbol>& names) {
  proto_->name = "default value";
  const Register values = temporary();
  emit(Op::kMakeArray, values, values, 0);
  for (const Symbol name : names) {
    const Register value = temporary();
    name_to(name, span_, value);
    emit(Op::kArrayPush, values, value);
  }
  emit(Op::kReturn, values);
  return finish();
}

// The value of a type whose name is a variable or a member of one.
void FunctionCompiler::type_to(const TypeExpr& type, Register dest) {
  name_to(type.path[0], type.span, dest);
  for (size_t i = 1; i < type.path.size(); ++i) {
    emit(Op::kGetField, dest, dest, cache(type.path[i]));
  }
}

const Proto* FunctionCompiler::type_read(const TypeExpr& type) {
  proto_->name = "type";
  const Register value = temporary();
  type_to(type, value);
  emit(Op::kReturn, value);
  return finish();
}

void FunctionCompiler::show_default(const Param& param, size_t parameter) {
  std::vector<Symbol> roots;
  Value literal;
  const bool is_literal = literal_value(*param.default_value, literal);
  release(literal);
  if (is_literal || module_.is_library || !is_shown(*param.default_value, roots)) {
    return;
  }
  ShownDefault shown;
  shown.parameter = parameter;
  FunctionCompiler value(module_, this, cells_, nullptr);
  shown.value.code = value.initializer(*param.default_value, "default value");
  shown.value.captures = value.captures();
  FunctionCompiler callees(module_, this, cells_, nullptr);
  shown.callees.code = callees.names_read(roots);
  shown.callees.captures = callees.captures();
  proto_->shown_defaults.push_back(std::move(shown));
}

// A type that is a variable of an enclosing function, and the types inside.
void FunctionCompiler::show_type(const TypeExpr* type) {
  if (type == nullptr || module_.is_library) {
    return;
  }
  for (const TypePtr& part : type->args) {
    show_type(part.get());
  }
  const bool is_name = type->kind == TypeKind::kName && !type->path.empty();
  if (is_name && builtin_type(name_of(type->path[0])).empty() && captured_local(type->path[0]) != nullptr) {
    FunctionCompiler reader(module_, this, cells_, nullptr);
    ShownValue& shown = proto_->shown_types[type];
    shown.code = reader.type_read(*type);
    shown.captures = reader.captures();
  }
}

}  // namespace spl
