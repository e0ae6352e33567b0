// The tree as S-expressions.
#include <cstdio>

#include "parse.h"

namespace spl {
namespace {

const char* spelled(BinaryOp op) {
  switch (op) {
    case BinaryOp::kPower: return "**";
    case BinaryOp::kMultiply: return "*";
    case BinaryOp::kDivide: return "/";
    case BinaryOp::kRemainder: return "%";
    case BinaryOp::kMatmul: return "@";
    case BinaryOp::kAdd: return "+";
    case BinaryOp::kSubtract: return "-";
    case BinaryOp::kShiftLeft: return "<<";
    case BinaryOp::kShiftRight: return ">>";
    case BinaryOp::kBitAnd: return "&";
    case BinaryOp::kBitXor: return "xor";
    case BinaryOp::kBitOr: return "|";
    case BinaryOp::kLess: return "<";
    case BinaryOp::kGreater: return ">";
    case BinaryOp::kLessEqual: return "<=";
    case BinaryOp::kGreaterEqual: return ">=";
    case BinaryOp::kEqual: return "==";
    case BinaryOp::kNotEqual: return "!=";
    case BinaryOp::kIs: return "is";
    case BinaryOp::kIsNot: return "is-not";
    case BinaryOp::kIn: return "in";
    case BinaryOp::kNotIn: return "not-in";
    case BinaryOp::kAnd: return "and";
    case BinaryOp::kOr: return "or";
    case BinaryOp::kCoalesce: return "??";
  }
  return "";
}

const char* spelled(UnaryOp op) {
  switch (op) {
    case UnaryOp::kNegate: return "-";
    case UnaryOp::kNot: return "not";
    case UnaryOp::kBitNot: return "~";
    case UnaryOp::kReference: return "&";
    case UnaryOp::kDereference: return "deref";
    case UnaryOp::kAwait: return "await";
    case UnaryOp::kMove: return "move";
  }
  return "";
}

const char* spelled(BindKind kind) {
  switch (kind) {
    case BindKind::kVal: return "val";
    case BindKind::kVar: return "var";
    case BindKind::kLet: return "let";
    case BindKind::kConst: return "const";
  }
  return "";
}

class Dumper {
 public:
  std::string take() { return std::move(out_); }

  void statement(const Stmt& stmt);

 private:
  void put(std::string_view text) { out_ += text; }
  void symbol(Symbol symbol) { out_ += name_of(symbol); }
  void open(std::string_view head) {
    out_ += '(';
    out_ += head;
  }
  void close() { out_ += ')'; }
  void quoted(std::string_view text);
  void real(double value);

  void expr(const Expr& expr);
  void spaced(const ExprPtr& child) {  // a missing child is `_`
    out_ += ' ';
    if (child) expr(*child);
    else out_ += '_';
  }
  void list(std::string_view head, std::initializer_list<const ExprPtr*> children) {
    open(head);
    for (const auto* child : children) spaced(*child);
    close();
  }
  void args(const std::vector<Arg>& args);
  void block(const Block& block);
  void params(const std::vector<Param>& params);
  void interpolation(const InterpolationExpr& expr);
  void lambda(const LambdaExpr& expr);
  void array(const ArrayExpr& expr);
  void tuple(const TupleExpr& expr);
  void dict(const DictExpr& expr);
  void comprehension(const ComprehensionExpr& expr);
  void condition(const Condition& condition);
  void if_expr(const IfExpr& expr);
  void match(const MatchExpr& expr);

  void pattern(const Pattern& pattern);
  void fields(const std::vector<FieldPattern>& fields, char open, char close);
  void type(const TypeExpr& type);
  void types(const std::vector<TypePtr>& types);

  void assign(const AssignStmt& stmt);
  void info(std::string_view head, const DeclInfo& info);
  void function(const FunctionDecl& decl);
  void methods(const std::vector<FunctionPtr>& methods);
  void record(const RecordDecl& decl);
  void enumeration(const EnumDecl& decl);
  void use(const UseDecl& decl);
  void names(const std::vector<ImportName>& names);
  void loop(std::string_view head, Symbol label);

  std::string out_;
};

void Dumper::quoted(std::string_view text) {
  out_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out_ += '\\';
    if (c == '\n') out_ += "\\n";
    else out_ += c;
  }
  out_ += '"';
}

void Dumper::real(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.15g", value);
  const std::string_view text = buffer;
  put(text);
  if (text.find_first_not_of("-0123456789") == std::string_view::npos) put(".0");
}

// ---- Expressions ----------------------------------------------------------------------------------------

void Dumper::expr(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kInt: put(std::to_string(as<IntExpr>(e).value)); return symbol(as<IntExpr>(e).suffix);
    case ExprKind::kFloat: real(as<FloatExpr>(e).value); return symbol(as<FloatExpr>(e).suffix);
    case ExprKind::kBool: return put(as<BoolExpr>(e).value ? "true" : "false");
    case ExprKind::kNil: return put("nil");
    case ExprKind::kText: return quoted(as<TextExpr>(e).value);
    case ExprKind::kInterpolation: return interpolation(as<InterpolationExpr>(e));
    case ExprKind::kName: return symbol(as<NameExpr>(e).name);
    case ExprKind::kSelf: return put("self");
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
      put(" " + std::to_string(as<TupleFieldExpr>(e).index));
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
      for (const auto& subscript : index.subscripts) spaced(subscript);
      return close();
    }
    case ExprKind::kSlice: {
      const auto& slice = as<SliceExpr>(e);
      return list(":", {&slice.start, &slice.stop, &slice.step});
    }
    case ExprKind::kUnary: return list(spelled(as<UnaryExpr>(e).op), {&as<UnaryExpr>(e).operand});
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
    case ExprKind::kTry: return list("?", {&as<TryExpr>(e).operand});
    case ExprKind::kPresent: return list(".?", {&as<PresentExpr>(e).operand});
    case ExprKind::kCast:
      open("as");
      spaced(as<CastExpr>(e).operand);
      put(" ");
      type(*as<CastExpr>(e).type);
      return close();
    case ExprKind::kLambda: return lambda(as<LambdaExpr>(e));
    case ExprKind::kArray: return array(as<ArrayExpr>(e));
    case ExprKind::kArrayRepeat: return list("repeat", {&as<ArrayRepeatExpr>(e).value, &as<ArrayRepeatExpr>(e).count});
    case ExprKind::kTuple: return tuple(as<TupleExpr>(e));
    case ExprKind::kDict: return dict(as<DictExpr>(e));
    case ExprKind::kComprehension: return comprehension(as<ComprehensionExpr>(e));
    case ExprKind::kStructLiteral:
      open("struct");
      spaced(as<StructLiteralExpr>(e).type);
      args(as<StructLiteralExpr>(e).args);
      return close();
    case ExprKind::kIf: return if_expr(as<IfExpr>(e));
    case ExprKind::kMatch: return match(as<MatchExpr>(e));
    case ExprKind::kNew: return list("new" + as<NewExpr>(e).sigil, {&as<NewExpr>(e).operand});
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
      case ArgKind::kPositional: spaced(arg.value); continue;
      case ArgKind::kNamed: put(" (= " + name_of(arg.name)); break;
      case ArgKind::kSpread: put(" (..."); break;
      case ArgKind::kDictSpread: put(" (**"); break;
      case ArgKind::kBase: put(" (.."); break;
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
    if (part.value) spaced(part.value);
    if (!part.format.empty()) put(":" + part.format);
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
    if (i > 0) put(" ");
    if (param.kind == ParamKind::kNamed) put("**");
    if (param.pattern) pattern(*param.pattern);
    else symbol(param.name);
    if (param.kind == ParamKind::kRest) put("...");
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
  if (!e.scope_block) params(e.params);
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
    if (i < e.names.size() && e.names[i] != kNoSymbol) put(" " + name_of(e.names[i]) + ":");
    spaced(e.elements[i]);
  }
  close();
}

void Dumper::dict(const DictExpr& e) {
  open("dict");
  for (const auto& entry : e.entries) {
    put(" (");
    if (entry.key) expr(*entry.key);
    else put("**");
    spaced(entry.value);
    close();
  }
  close();
}

void Dumper::comprehension(const ComprehensionExpr& e) {
  open("each");
  if (e.key) spaced(e.key);
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
  if (condition.kind == ConditionKind::kTest) return expr(*condition.value);
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

// ---- Patterns and types ---------------------------------------------------------------------------------

void Dumper::pattern(const Pattern& p) {
  const auto list = [&](const std::vector<PatternPtr>& patterns, std::string_view between) {
    for (size_t i = 0; i < patterns.size(); ++i) {
      if (i > 0) put(between);
      pattern(*patterns[i]);
    }
  };
  const auto path = [&](const std::vector<Symbol>& names) {
    for (size_t i = 0; i < names.size(); ++i) put((i > 0 ? "." : "") + name_of(names[i]));
  };
  switch (p.kind) {
    case PatternKind::kWildcard: return put("_");
    case PatternKind::kLiteral: return expr(*as<LiteralPattern>(p).value);
    case PatternKind::kBinding:
      if (as<BindingPattern>(p).is_mutable) put("mut ");
      return symbol(as<BindingPattern>(p).name);
    case PatternKind::kVariant:
      path(as<VariantPattern>(p).path);
      return fields(as<VariantPattern>(p).fields, '(', ')');
    case PatternKind::kStruct:
      path(as<StructPattern>(p).path);
      return fields(as<StructPattern>(p).fields, '{', '}');
    case PatternKind::kTuple:
      put("(");
      list(as<TuplePattern>(p).elements, ", ");
      return put(")");
    case PatternKind::kArray: {
      const auto& array = as<ArrayPattern>(p);
      put("[");
      list(array.elements, ", ");
      if (array.has_rest) put((array.elements.empty() ? "..." : ", ...") + name_of(array.rest));
      return put("]");
    }
    case PatternKind::kOr: return list(as<OrPattern>(p).alternatives, " | ");
  }
}

void Dumper::fields(const std::vector<FieldPattern>& fields, char open, char close) {
  out_ += open;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) put(", ");
    if (fields[i].name != kNoSymbol) put(name_of(fields[i].name) + ": ");
    pattern(*fields[i].pattern);
  }
  out_ += close;
}

void Dumper::types(const std::vector<TypePtr>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) put(", ");
    type(*list[i]);
  }
}

void Dumper::type(const TypeExpr& t) {
  if (!t.modifiers.empty()) put(t.modifiers + " ");
  const auto wrapped = [&](std::string_view open, std::string_view close) {
    put(open);
    types(t.args);
    put(close);
  };
  switch (t.kind) {
    case TypeKind::kName:
      for (size_t i = 0; i < t.path.size(); ++i) put((i > 0 ? "." : "") + name_of(t.path[i]));
      if (!t.args.empty()) wrapped("<", ">");
      break;
    case TypeKind::kArray:
      put("[");
      types(t.args);
      if (t.size) {
        put("; ");
        expr(*t.size);
      }
      put("]");
      break;
    case TypeKind::kDict: {
      put("{");
      type(*t.args[0]);
      if (t.args.size() > 1) {
        put(": ");
        type(*t.args[1]);
      }
      put("}");
      break;
    }
    case TypeKind::kTuple: wrapped("(", ")"); break;
    case TypeKind::kFunction:
      wrapped("fn(", ")");
      if (t.result) {
        put(" -> ");
        type(*t.result);
      }
      break;
    case TypeKind::kUnion:
      for (size_t i = 0; i < t.args.size(); ++i) {
        if (i > 0) put(" | ");
        type(*t.args[i]);
      }
      break;
    case TypeKind::kInteger: put(std::to_string(t.value)); break;
    case TypeKind::kUnknown: put("?"); break;
    case TypeKind::kNamed:
      put(name_of(t.path[0]) + " = ");
      type(*t.args[0]);
      break;
    case TypeKind::kShape: wrapped("shape[", "]"); break;
  }
  if (t.optional) put("?");
}

// ---- Statements -----------------------------------------------------------------------------------------

void Dumper::loop(std::string_view head, Symbol label) {
  open(head);
  if (label != kNoSymbol) put("@" + name_of(label));
}

void Dumper::assign(const AssignStmt& stmt) {
  open(stmt.op ? std::string(spelled(*stmt.op)) + "=" : "=");
  for (const auto& target : stmt.targets) spaced(target);
  spaced(stmt.value);
  close();
}

void Dumper::statement(const Stmt& s) {
  switch (s.kind) {
    case StmtKind::kExpr: return expr(*as<ExprStmt>(s).value);
    case StmtKind::kBind: {
      const auto& bind = as<BindStmt>(s);
      open(bind.exported ? "export " : "");
      put(spelled(bind.bind));
      put(" ");
      pattern(*bind.pattern);
      if (bind.type) {
        put(":");
        type(*bind.type);
      }
      if (bind.value) spaced(bind.value);
      return close();
    }
    case StmtKind::kAssign: return assign(as<AssignStmt>(s));
    case StmtKind::kReturn:
      open("return");
      if (as<ReturnStmt>(s).value) spaced(as<ReturnStmt>(s).value);
      return close();
    case StmtKind::kBreak:
      loop("break", as<BreakStmt>(s).label);
      return close();
    case StmtKind::kContinue:
      loop("continue", as<ContinueStmt>(s).label);
      return close();
    case StmtKind::kPass: return put("(pass)");
    case StmtKind::kDefer:
      open("defer");
      block(as<DeferStmt>(s).body);
      return close();
    case StmtKind::kAssert:
      open("assert");
      spaced(as<AssertStmt>(s).condition);
      if (as<AssertStmt>(s).message) spaced(as<AssertStmt>(s).message);
      return close();
    case StmtKind::kFor: {
      const auto& stmt = as<ForStmt>(s);
      loop("for", stmt.label);
      put(" ");
      pattern(*stmt.pattern);
      if (stmt.second) {
        put(", ");
        pattern(*stmt.second);
      }
      spaced(stmt.iterable);
      block(stmt.body);
      return close();
    }
    case StmtKind::kWhile:
      loop("while", as<WhileStmt>(s).label);
      put(" ");
      condition(as<WhileStmt>(s).condition);
      block(as<WhileStmt>(s).body);
      return close();
    case StmtKind::kLoop:
      loop("loop", as<LoopStmt>(s).label);
      block(as<LoopStmt>(s).body);
      return close();
    case StmtKind::kWith:
      open("with");
      for (const auto& item : as<WithStmt>(s).items) {
        spaced(item.resource);
        if (item.name != kNoSymbol) put(" as " + name_of(item.name));
      }
      put(":");
      block(as<WithStmt>(s).body);
      return close();
    case StmtKind::kUnsafe:
      open("unsafe");
      block(as<UnsafeStmt>(s).body);
      return close();
    case StmtKind::kFunction: return function(as<FunctionDecl>(s));
    case StmtKind::kRecord: return record(as<RecordDecl>(s));
    case StmtKind::kEnum: return enumeration(as<EnumDecl>(s));
    case StmtKind::kTrait:
      info("trait", as<TraitDecl>(s).info);
      if (!as<TraitDecl>(s).parents.empty()) {
        put(" : ");
        types(as<TraitDecl>(s).parents);
      }
      methods(as<TraitDecl>(s).methods);
      return close();
    case StmtKind::kImpl: {
      const auto& impl = as<ImplDecl>(s);
      open("impl ");
      if (impl.trait) {
        type(*impl.trait);
        put(" for ");
      }
      type(*impl.target);
      methods(impl.methods);
      return close();
    }
    case StmtKind::kUse: return use(as<UseDecl>(s));
    case StmtKind::kExport:
      open("export");
      names(as<ExportDecl>(s).names);
      return close();
    case StmtKind::kTypeAlias:
      info("type", as<TypeAliasDecl>(s).info);
      put(" ");
      type(*as<TypeAliasDecl>(s).type);
      return close();
  }
}

void Dumper::info(std::string_view head, const DeclInfo& info) {
  open("");
  for (const auto& attribute : info.attributes) {
    put("@");
    symbol(attribute.name);
    if (!attribute.args.empty()) {
      open("");
      args(attribute.args);
      close();
    }
    put(" ");
  }
  if (info.exported) put("export ");
  put(head);
  put(" " + name_of(info.name));
  if (!info.generics.empty()) {
    put("<");
    for (size_t i = 0; i < info.generics.size(); ++i) {
      const auto& param = info.generics[i];
      if (i > 0) put(", ");
      if (param.is_const) put("const ");
      symbol(param.name);
      if (param.bound) {
        put(": ");
        type(*param.bound);
      }
      if (param.default_type) {
        put(" = ");
        type(*param.default_type);
      }
    }
    put(">");
  }
  if (!info.doc.empty()) {
    put(" ");
    quoted(info.doc);
  }
}

void Dumper::function(const FunctionDecl& decl) {
  std::string head;
  if (decl.is_extern) head += "extern ";
  if (decl.is_static) head += "static ";
  if (decl.is_async) head += "async ";
  info(head + (decl.is_mutating ? "me" : "fn"), decl.info);
  params(decl.params);
  if (decl.return_type) {
    put(" -> ");
    type(*decl.return_type);
  }
  if (decl.body) {
    put(" :");
    block(*decl.body);
  }
  close();
}

void Dumper::methods(const std::vector<FunctionPtr>& methods) {
  for (const auto& method : methods) {
    put(" ");
    function(*method);
  }
}

void Dumper::record(const RecordDecl& decl) {
  info(decl.is_class ? "class" : "struct", decl.info);
  if (!decl.parents.empty()) {
    put(" : ");
    types(decl.parents);
  }
  for (const auto& field : decl.fields) {
    put(" (field " + name_of(field.name));
    if (field.type) {
      put(":");
      type(*field.type);
    }
    if (field.default_value) spaced(field.default_value);
    close();
  }
  for (const auto& constant : decl.constants) {
    put(" ");
    statement(*constant);
  }
  methods(decl.methods);
  close();
}

void Dumper::enumeration(const EnumDecl& decl) {
  info("enum", decl.info);
  for (const auto& variant : decl.variants) {
    put(" " + name_of(variant.name));
    if (!variant.field_types.empty()) {
      open("");
      for (size_t i = 0; i < variant.field_types.size(); ++i) {
        if (i > 0) put(", ");
        if (variant.field_names[i] != kNoSymbol) put(name_of(variant.field_names[i]) + ": ");
        type(*variant.field_types[i]);
      }
      close();
    }
    if (variant.value) {
      put(" =");
      spaced(variant.value);
    }
  }
  methods(decl.methods);
  close();
}

void Dumper::names(const std::vector<ImportName>& names) {
  for (const auto& name : names) {
    put(" " + name_of(name.name));
    if (name.alias != name.name) put(":" + name_of(name.alias));
  }
}

void Dumper::use(const UseDecl& decl) {
  open(decl.reexport ? "export use " : "use ");
  put(std::string(decl.parents, '.'));
  for (size_t i = 0; i < decl.path.size(); ++i) put((i > 0 ? "." : "") + name_of(decl.path[i]));
  if (decl.alias != kNoSymbol) put(" as " + name_of(decl.alias));
  if (decl.everything) put(" *");
  names(decl.names);
  close();
}

}  // namespace

std::string dump(const Module& module) {
  Dumper dumper;
  std::string out;
  for (const auto& stmt : module.statements) {
    dumper.statement(*stmt);
    out += dumper.take() + "\n";
  }
  return out;
}

}  // namespace spl
