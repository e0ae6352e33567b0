// Expressions as S-expressions.
#include <cstdio>

#include "host/syntax/dumper.h"

namespace spl {

const char* spelled(BinaryOp op) {
  switch (op) {
    case BinaryOp::kPower:
      return "**";
    case BinaryOp::kMultiply:
      return "*";
    case BinaryOp::kDivide:
      return "/";
    case BinaryOp::kRemainder:
      return "%";
    case BinaryOp::kMatmul:
      return "@";
    case BinaryOp::kAdd:
      return "+";
    case BinaryOp::kSubtract:
      return "-";
    case BinaryOp::kShiftLeft:
      return "<<";
    case BinaryOp::kShiftRight:
      return ">>";
    case BinaryOp::kBitAnd:
      return "&";
    case BinaryOp::kBitXor:
      return "xor";
    case BinaryOp::kBitOr:
      return "|";
    case BinaryOp::kLess:
      return "<";
    case BinaryOp::kGreater:
      return ">";
    case BinaryOp::kLessEqual:
      return "<=";
    case BinaryOp::kGreaterEqual:
      return ">=";
    case BinaryOp::kEqual:
      return "==";
    case BinaryOp::kNotEqual:
      return "!=";
    case BinaryOp::kIs:
      return "is";
    case BinaryOp::kIsNot:
      return "is-not";
    case BinaryOp::kIn:
      return "in";
    case BinaryOp::kNotIn:
      return "not-in";
    case BinaryOp::kAnd:
      return "and";
    case BinaryOp::kOr:
      return "or";
    case BinaryOp::kCoalesce:
      return "??";
  }
  return "";
}

namespace {

const char* spelled(UnaryOp op) {
  switch (op) {
    case UnaryOp::kNegate:
      return "-";
    case UnaryOp::kNot:
      return "not";
    case UnaryOp::kBitNot:
      return "~";
    case UnaryOp::kReference:
      return "&";
    case UnaryOp::kDereference:
      return "deref";
    case UnaryOp::kAwait:
      return "await";
    case UnaryOp::kMove:
      return "move";
    case UnaryOp::kYield:
      return "yield";
  }
  return "";
}

}  // namespace

void Dumper::quoted(std::string_view text) {
  out_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out_ += '\\';
    }
    if (c == '\n') {
      out_ += "\\n";
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

void Dumper::real(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.15g", value);
  const std::string_view text = buffer;
  put(text);
  if (text.find_first_not_of("-0123456789") == std::string_view::npos) {
    put(".0");
  }
}

void Dumper::expr(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kInt:
      put(std::to_string(as<IntExpr>(e).value));
      return symbol(as<IntExpr>(e).suffix);
    case ExprKind::kFloat:
      real(as<FloatExpr>(e).value);
      return symbol(as<FloatExpr>(e).suffix);
    case ExprKind::kBool:
      return put(as<BoolExpr>(e).value ? "true" : "false");
    case ExprKind::kNil:
      return put("nil");
    case ExprKind::kText:
      return quoted(as<TextExpr>(e).value);
    case ExprKind::kInterpolation:
      return interpolation(as<InterpolationExpr>(e));
    case ExprKind::kName:
      return symbol(as<NameExpr>(e).name);
    case ExprKind::kSelf:
      return put("self");
    case ExprKind::kField: {
      const auto& field = as<FieldExpr>(e);
      open(field.nil_safe ? "?." : ".");
      spaced(field.object);
      put(" ");
      symbol(field.name);
      return close();
    }
    case ExprKind::kTupleField:
      open(".");
      spaced(as<TupleFieldExpr>(e).object);
      put(" ", std::to_string(as<TupleFieldExpr>(e).index));
      return close();
    case ExprKind::kCall:
      open("call");
      spaced(as<CallExpr>(e).callee);
      args(as<CallExpr>(e).args);
      return close();
    case ExprKind::kUpdateCall:
      open("update");
      spaced(as<UpdateCallExpr>(e).target);
      put(" ");
      symbol(as<UpdateCallExpr>(e).method);
      args(as<UpdateCallExpr>(e).args);
      return close();
    case ExprKind::kIndex: {
      const auto& index = as<IndexExpr>(e);
      open(index.tuple ? "index," : "index");
      spaced(index.object);
      for (const auto& subscript : index.subscripts) {
        spaced(subscript);
      }
      return close();
    }
    case ExprKind::kSlice: {
      const auto& slice = as<SliceExpr>(e);
      return list(":", {&slice.start, &slice.stop, &slice.step});
    }
    case ExprKind::kUnary:
      return list(spelled(as<UnaryExpr>(e).op), {&as<UnaryExpr>(e).operand});
    case ExprKind::kBinary: {
      const auto& binary = as<BinaryExpr>(e);
      return list(spelled(binary.op), {&binary.left, &binary.right});
    }
    case ExprKind::kCompare:
      open("compare");
      spaced(as<CompareExpr>(e).first);
      for (const auto& link : as<CompareExpr>(e).links) {
        put(" ");
        put(spelled(link.op));
        spaced(link.right);
      }
      return close();
    case ExprKind::kRange: {
      const auto& range = as<RangeExpr>(e);
      return list(range.inclusive ? "..=" : "..", {&range.start, &range.end});
    }
    case ExprKind::kTry:
      return list("?", {&as<TryExpr>(e).operand});
    case ExprKind::kPresent:
      return list(".?", {&as<PresentExpr>(e).operand});
    case ExprKind::kCast:
      open("as");
      spaced(as<CastExpr>(e).operand);
      put(" ");
      type(*as<CastExpr>(e).type);
      return close();
    case ExprKind::kLambda:
      return lambda(as<LambdaExpr>(e));
    case ExprKind::kArray:
      return array(as<ArrayExpr>(e));
    case ExprKind::kArrayRepeat:
      return list("repeat", {&as<ArrayRepeatExpr>(e).value, &as<ArrayRepeatExpr>(e).count});
    case ExprKind::kTuple:
      return tuple(as<TupleExpr>(e));
    case ExprKind::kDict:
      return dict(as<DictExpr>(e));
    case ExprKind::kComprehension:
      return comprehension(as<ComprehensionExpr>(e));
    case ExprKind::kStructLiteral:
      open("struct");
      spaced(as<StructLiteralExpr>(e).type);
      args(as<StructLiteralExpr>(e).args);
      return close();
    case ExprKind::kIf:
      return if_expr(as<IfExpr>(e));
    case ExprKind::kMatch:
      return match(as<MatchExpr>(e));
    case ExprKind::kNew:
      return list("new" + as<NewExpr>(e).sigil, {&as<NewExpr>(e).operand});
    case ExprKind::kTypeApply:
      open("<>");
      spaced(as<TypeApplyExpr>(e).object);
      put(" ");
      types(as<TypeApplyExpr>(e).types);
      return close();
  }
}

void Dumper::args(const std::vector<Arg>& args) {
  for (const Arg& arg : args) {
    switch (arg.kind) {
      case ArgKind::kPositional:
        spaced(arg.value);
        continue;
      case ArgKind::kNamed:
        put(" (= ", name_of(arg.name));
        break;
      case ArgKind::kSpread:
        put(" (...");
        break;
      case ArgKind::kDictSpread:
        put(" (**");
        break;
      case ArgKind::kBase:
        put(" (..");
        break;
    }
    spaced(arg.value);
    close();
  }
}

void Dumper::interpolation(const InterpolationExpr& e) {
  open("text");
  for (const auto& part : e.parts) {
    if (!part.text.empty()) {
      put(" ");
      quoted(part.text);
    }
    if (part.value) {
      spaced(part.value);
    }
    if (!part.format.empty()) {
      put(":", part.format);
    }
  }
  close();
}

void Dumper::block(const Block& block) {
  for (const auto& stmt : block.statements) {
    put(" ");
    statement(*stmt);
  }
}

void Dumper::params(const std::vector<Param>& params) {
  put(" (");
  for (size_t i = 0; i < params.size(); ++i) {
    const Param& param = params[i];
    if (i > 0) {
      put(" ");
    }
    if (param.kind == ParamKind::kNamed) {
      put("**");
    }
    if (param.pattern) {
      pattern(*param.pattern);
    } else {
      symbol(param.name);
    }
    if (param.kind == ParamKind::kRest) {
      put("...");
    }
    if (param.type) {
      put(":");
      type(*param.type);
    }
    if (param.default_value) {
      put("=");
      expr(*param.default_value);
    }
  }
  put(")");
}

void Dumper::lambda(const LambdaExpr& e) {
  open(e.scope_block ? "block" : "\\");
  if (!e.scope_block) {
    params(e.params);
  }
  if (e.return_type) {
    put(" -> ");
    type(*e.return_type);
  }
  block(e.body);
  close();
}

void Dumper::array(const ArrayExpr& e) {
  open("array");
  for (const auto& element : e.elements) {
    if (element.spread) {
      put(" ");
      list("...", {&element.value});
    } else {
      spaced(element.value);
    }
  }
  close();
}

void Dumper::tuple(const TupleExpr& e) {
  open("tuple");
  for (size_t i = 0; i < e.elements.size(); ++i) {
    if (i < e.names.size() && e.names[i] != kNoSymbol) {
      put(" ", name_of(e.names[i]), ":");
    }
    spaced(e.elements[i]);
  }
  close();
}

void Dumper::dict(const DictExpr& e) {
  open("dict");
  for (const auto& entry : e.entries) {
    put(" (");
    if (entry.key) {
      expr(*entry.key);
    } else {
      put("**");
    }
    spaced(entry.value);
    close();
  }
  close();
}

void Dumper::comprehension(const ComprehensionExpr& e) {
  open("each");
  if (e.key) {
    spaced(e.key);
  }
  spaced(e.value);
  for (const auto& clause : e.clauses) {
    put(" (for ");
    pattern(*clause.pattern);
    if (clause.second) {
      put(", ");
      pattern(*clause.second);
    }
    spaced(clause.iterable);
    for (const auto& test : clause.conditions) {
      put(" if");
      spaced(test);
    }
    close();
  }
  close();
}

void Dumper::condition(const Condition& condition) {
  if (condition.kind == ConditionKind::kTest) {
    return expr(*condition.value);
  }
  open(condition.kind == ConditionKind::kPresent ? "present " : "let ");
  pattern(*condition.pattern);
  spaced(condition.value);
  close();
}

void Dumper::if_expr(const IfExpr& e) {
  open("if");
  for (const auto& clause : e.clauses) {
    put(" (");
    condition(clause.condition);
    block(clause.body);
    close();
  }
  if (e.otherwise) {
    put(" (else");
    block(*e.otherwise);
    close();
  }
  close();
}

void Dumper::match(const MatchExpr& e) {
  open("match");
  spaced(e.subject);
  for (const auto& arm : e.arms) {
    put(" (");
    pattern(*arm.pattern);
    if (arm.guard) {
      put(" if");
      spaced(arm.guard);
    }
    block(arm.body);
    close();
  }
  close();
}

}  // namespace spl
