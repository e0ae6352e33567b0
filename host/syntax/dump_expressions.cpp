// Expressions as S-expressions.
#include <cstdio>

#include "host/syntax/dumper.h"
#include "host/syntax/visit.h"

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
    case BinaryOp::kFloorDivide:
      return "//";
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
  visit(e, [this](const auto& node) { this->node(node); });
}

// ---- Literals and names -----------------------------------------------------------------------------------

void Dumper::node(const IntExpr& e) {
  put(std::to_string(e.value));
  symbol(e.suffix);
}

void Dumper::node(const FloatExpr& e) {
  real(e.value);
  symbol(e.suffix);
}

void Dumper::node(const BoolExpr& e) { put(e.value ? "true" : "false"); }
void Dumper::node(const NilExpr&) { put("nil"); }
void Dumper::node(const TextExpr& e) { quoted(e.value); }
void Dumper::node(const NameExpr& e) { symbol(e.name); }
void Dumper::node(const SelfExpr&) { put("self"); }

// ---- Members, calls and subscripts ------------------------------------------------------------------------

void Dumper::node(const FieldExpr& e) {
  open(e.nil_safe ? "?." : ".");
  spaced(e.object);
  put(" ");
  symbol(e.name);
  close();
}

void Dumper::node(const TupleFieldExpr& e) {
  open(".");
  spaced(e.object);
  put(" ", std::to_string(e.index));
  close();
}

void Dumper::node(const CallExpr& e) {
  open("call");
  spaced(e.callee);
  args(e.args);
  close();
}

void Dumper::node(const UpdateCallExpr& e) {
  open("update");
  spaced(e.target);
  put(" ");
  symbol(e.method);
  args(e.args);
  close();
}

void Dumper::node(const StructLiteralExpr& e) {
  open("struct");
  spaced(e.type);
  args(e.args);
  close();
}

void Dumper::node(const IndexExpr& e) {
  open(e.tuple ? "index," : "index");
  spaced(e.object);
  for (const auto& subscript : e.subscripts) {
    spaced(subscript);
  }
  close();
}

void Dumper::node(const SliceExpr& e) { list(":", {&e.start, &e.stop, &e.step}); }

// ---- Operators --------------------------------------------------------------------------------------------

void Dumper::node(const UnaryExpr& e) { list(spelled(e.op), {&e.operand}); }
void Dumper::node(const BinaryExpr& e) { list(spelled(e.op), {&e.left, &e.right}); }
void Dumper::node(const RangeExpr& e) { list(e.inclusive ? "..=" : "..", {&e.start, &e.end}); }
void Dumper::node(const TryExpr& e) { list("?", {&e.operand}); }
void Dumper::node(const PresentExpr& e) { list(".?", {&e.operand}); }
void Dumper::node(const NewExpr& e) { list("new" + e.sigil, {&e.operand}); }
void Dumper::node(const ArrayRepeatExpr& e) { list("repeat", {&e.value, &e.count}); }

void Dumper::node(const CompareExpr& e) {
  open("compare");
  spaced(e.first);
  for (const auto& link : e.links) {
    put(" ");
    put(spelled(link.op));
    spaced(link.right);
  }
  close();
}

void Dumper::node(const CastExpr& e) {
  open("as");
  spaced(e.operand);
  put(" ");
  type(*e.type);
  close();
}

void Dumper::node(const TypeApplyExpr& e) {
  open("<>");
  spaced(e.object);
  put(" ");
  types(e.types, "", "");
  close();
}

// ---- Compound values --------------------------------------------------------------------------------------

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

void Dumper::node(const InterpolationExpr& e) {
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
    if (param.only_named) {
      put("*");
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

void Dumper::node(const LambdaExpr& e) {
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

void Dumper::node(const ArrayExpr& e) {
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

void Dumper::node(const TupleExpr& e) {
  open("tuple");
  for (size_t i = 0; i < e.elements.size(); ++i) {
    if (i < e.names.size() && e.names[i] != kNoSymbol) {
      put(" ", name_of(e.names[i]), ":");
    }
    spaced(e.elements[i]);
  }
  close();
}

void Dumper::node(const DictExpr& e) {
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

void Dumper::node(const ComprehensionExpr& e) {
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

void Dumper::node(const IfExpr& e) {
  open("if");
  for (const auto& clause : e.clauses) {
    put(" (");
    condition(clause.condition);
    block(clause.body);
    close();
  }
  otherwise(e.otherwise);
  close();
}

void Dumper::otherwise(const std::optional<Block>& body) {
  if (body) {
    put(" (else");
    block(*body);
    close();
  }
}

void Dumper::node(const MatchExpr& e) {
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
