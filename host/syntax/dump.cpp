// Patterns, types and statements as S-expressions.
#include "host/syntax/dumper.h"
#include "host/syntax/parse.h"
#include "host/syntax/visit.h"

namespace spl {
namespace {

const char* spelled(BindKind kind) {
  switch (kind) {
    case BindKind::kVal:
      return "val";
    case BindKind::kVar:
      return "var";
    case BindKind::kLet:
      return "let";
    case BindKind::kConst:
      return "const";
  }
  return "";
}

}  // namespace

// ---- Patterns ---------------------------------------------------------------------------------------------

void Dumper::pattern(const Pattern& p) {
  visit(p, [this](const auto& node) { this->node(node); });
  if (p.alias != kNoSymbol) {
    put(" as ", name_of(p.alias));
  }
}

void Dumper::patterns(const std::vector<PatternPtr>& patterns, std::string_view separator) {
  for (size_t i = 0; i < patterns.size(); ++i) {
    put(i > 0 ? separator : "");
    pattern(*patterns[i]);
  }
}

void Dumper::path(const std::vector<Symbol>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    put((i > 0 ? "." : ""), name_of(names[i]));
  }
}

void Dumper::fields(const std::vector<FieldPattern>& fields, char open, char close) {
  out_ += open;
  for (size_t i = 0; i < fields.size(); ++i) {
    put(i > 0 ? ", " : "");
    if (fields[i].name != kNoSymbol) {
      put(name_of(fields[i].name), ": ");
    }
    pattern(*fields[i].pattern);
  }
  out_ += close;
}

void Dumper::node(const WildcardPattern&) { put("_"); }
void Dumper::node(const LiteralPattern& p) { expr(*p.value); }
void Dumper::node(const OrPattern& p) { patterns(p.alternatives, " | "); }

void Dumper::node(const BindingPattern& p) {
  put(p.is_mutable ? "mut " : "");
  symbol(p.name);
}

void Dumper::node(const VariantPattern& p) {
  path(p.path);
  fields(p.fields, '(', ')');
}

void Dumper::node(const StructPattern& p) {
  path(p.path);
  fields(p.fields, '{', '}');
}

void Dumper::node(const TuplePattern& p) {
  put("(");
  for (size_t i = 0; i < p.elements.size(); ++i) {
    put(i > 0 ? ", " : "", p.starred == i ? "*" : "");
    pattern(*p.elements[i]);
  }
  put(")");
}

void Dumper::node(const ArrayPattern& p) {
  put("[");
  patterns(p.elements, ", ");
  if (p.has_rest) {
    put((p.elements.empty() ? "..." : ", ..."), name_of(p.rest));
  }
  put("]");
}

// ---- Types ------------------------------------------------------------------------------------------------

void Dumper::types(const std::vector<TypePtr>& list, std::string_view open, std::string_view close,
                   std::string_view separator) {
  put(open);
  for (size_t i = 0; i < list.size(); ++i) {
    put(i > 0 ? separator : "");
    type(*list[i]);
  }
  put(close);
}

void Dumper::type(const TypeExpr& t) {
  if (!t.modifiers.empty()) {
    put(t.modifiers, " ");
  }
  unmodified_type(t);
  put(t.optional ? "?" : "");
}

void Dumper::unmodified_type(const TypeExpr& t) {
  switch (t.kind) {
    case TypeKind::kName:
      return named_type(t);
    case TypeKind::kArray:
      return array_type(t);
    case TypeKind::kDict:
      return types(t.args, "{", "}", ": ");
    case TypeKind::kTuple:
      return types(t.args, "(", ")");
    case TypeKind::kFunction:
      return function_type(t);
    case TypeKind::kUnion:
      return types(t.args, "", "", " | ");
    case TypeKind::kInteger:
      return put(std::to_string(t.value));
    case TypeKind::kUnknown:
      return put("?");
    case TypeKind::kNamed:
      put(name_of(t.path[0]), " = ");
      return type(*t.args[0]);
    case TypeKind::kShape:
      return types(t.args, "shape[", "]");
    case TypeKind::kComputed:
      if (t.keyword != kNoSymbol) {
        put(name_of(t.keyword), "=");
      }
      return expr(*t.value_of);
  }
}

void Dumper::named_type(const TypeExpr& t) {
  path(t.path);
  if (!t.args.empty()) {
    types(t.args, "<", ">");
  }
}

void Dumper::array_type(const TypeExpr& t) {
  types(t.args, "[", "");
  if (t.size) {
    put("; ");
    expr(*t.size);
  }
  put("]");
}

void Dumper::function_type(const TypeExpr& t) {
  types(t.args, "fn(", ")");
  if (t.result) {
    put(" -> ");
    type(*t.result);
  }
}

// ---- Statements -------------------------------------------------------------------------------------------

void Dumper::statement(const Stmt& s) {
  visit(s, [this](const auto& node) { this->node(node); });
}

void Dumper::open_labeled(std::string_view head, Symbol label) {
  open(head);
  if (label != kNoSymbol) {
    put("@", name_of(label));
  }
}

void Dumper::node(const ExprStmt& stmt) { expr(*stmt.value); }
void Dumper::node(const PassStmt&) { put("(pass)"); }

void Dumper::node(const BindStmt& stmt) {
  open(stmt.exported ? "export " : "");
  put(spelled(stmt.bind), " ");
  pattern(*stmt.pattern);
  if (stmt.type) {
    put(":");
    type(*stmt.type);
  }
  if (stmt.value) {
    spaced(stmt.value);
  }
  close();
}

void Dumper::node(const AssignStmt& stmt) {
  open(stmt.op ? std::string(spelled(*stmt.op)) + "=" : "=");
  for (const auto* targets : {&stmt.targets, &stmt.chained}) {
    for (const auto& target : *targets) {
      spaced(target);
    }
  }
  spaced(stmt.value);
  close();
}

void Dumper::node(const ReturnStmt& stmt) {
  open("return");
  if (stmt.value) {
    spaced(stmt.value);
  }
  close();
}

void Dumper::node(const BreakStmt& stmt) {
  open_labeled("break", stmt.label);
  close();
}

void Dumper::node(const ContinueStmt& stmt) {
  open_labeled("continue", stmt.label);
  close();
}

void Dumper::node(const DeferStmt& stmt) {
  open("defer");
  block(stmt.body);
  close();
}

void Dumper::node(const AssertStmt& stmt) {
  open("assert");
  spaced(stmt.condition);
  if (stmt.message) {
    spaced(stmt.message);
  }
  close();
}

void Dumper::node(const ForStmt& stmt) {
  open_labeled("for", stmt.label);
  put(" ");
  pattern(*stmt.pattern);
  if (stmt.second) {
    put(", ");
    pattern(*stmt.second);
  }
  spaced(stmt.iterable);
  block(stmt.body);
  otherwise(stmt.otherwise);
  close();
}

void Dumper::node(const WhileStmt& stmt) {
  open_labeled("while", stmt.label);
  put(" ");
  condition(stmt.condition);
  block(stmt.body);
  otherwise(stmt.otherwise);
  close();
}

void Dumper::node(const LoopStmt& stmt) {
  open_labeled("loop", stmt.label);
  block(stmt.body);
  close();
}

void Dumper::node(const WithStmt& stmt) {
  open("with");
  for (const auto& item : stmt.items) {
    spaced(item.resource);
    if (item.name != kNoSymbol) {
      put(" as ", name_of(item.name));
    }
  }
  put(":");
  block(stmt.body);
  close();
}

void Dumper::node(const UnsafeStmt& stmt) {
  open("unsafe");
  block(stmt.body);
  close();
}

// ---- Declarations -----------------------------------------------------------------------------------------

void Dumper::info(std::string_view head, const DeclInfo& info) {
  open("");
  for (const auto& attribute : info.attributes) {
    put("@");
    if (attribute.decorator) {
      expr(*attribute.decorator);
    } else {
      symbol(attribute.name);
    }
    if (!attribute.args.empty()) {
      open("");
      args(attribute.args);
      close();
    }
    put(" ");
  }
  if (info.exported) {
    put("export ");
  }
  put(head);
  put(" ", name_of(info.name));
  generics(info.generics);
  if (!info.doc.empty()) {
    put(" ");
    quoted(info.doc);
  }
}

void Dumper::generics(const std::vector<GenericParam>& params) {
  for (size_t i = 0; i < params.size(); ++i) {
    const GenericParam& param = params[i];
    put((i > 0 ? ", " : "<"), (param.is_const ? "const " : ""));
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
  put(params.empty() ? "" : ">");
}

void Dumper::node(const FunctionDecl& decl) {
  std::string head;
  if (decl.is_extern) {
    head += "extern ";
  }
  if (decl.is_static) {
    head += "static ";
  }
  if (decl.is_async) {
    head += "async ";
  }
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

void Dumper::parents(const std::vector<TypePtr>& parents) {
  if (!parents.empty()) {
    types(parents, " : ", "");
  }
}

void Dumper::methods(const std::vector<FunctionPtr>& methods) {
  for (const auto& method : methods) {
    put(" ");
    node(*method);
  }
}

void Dumper::node(const RecordDecl& decl) {
  info(decl.is_class ? "class" : "struct", decl.info);
  parents(decl.parents);
  for (const auto& field : decl.fields) {
    put(" (field ", name_of(field.name));
    if (field.type) {
      put(":");
      type(*field.type);
    }
    if (field.default_value) {
      spaced(field.default_value);
    }
    close();
  }
  for (const auto& constant : decl.constants) {
    put(" ");
    statement(*constant);
  }
  methods(decl.methods);
  close();
}

void Dumper::node(const EnumDecl& decl) {
  info("enum", decl.info);
  for (const auto& variant : decl.variants) {
    this->variant(variant);
  }
  methods(decl.methods);
  close();
}

void Dumper::variant(const VariantDecl& variant) {
  put(" ", name_of(variant.name));
  for (size_t i = 0; i < variant.field_types.size(); ++i) {
    put(i > 0 ? ", " : "(");
    if (variant.field_names[i] != kNoSymbol) {
      put(name_of(variant.field_names[i]), ": ");
    }
    type(*variant.field_types[i]);
  }
  put(variant.field_types.empty() ? "" : ")");
  if (variant.value) {
    put(" =");
    spaced(variant.value);
  }
}

void Dumper::node(const TraitDecl& decl) {
  info("trait", decl.info);
  parents(decl.parents);
  methods(decl.methods);
  close();
}

void Dumper::node(const ImplDecl& decl) {
  open("impl ");
  if (decl.trait) {
    type(*decl.trait);
    put(" for ");
  }
  type(*decl.target);
  methods(decl.methods);
  close();
}

void Dumper::node(const ExportDecl& decl) {
  open("export");
  names(decl.names);
  close();
}

void Dumper::node(const TypeAliasDecl& decl) {
  info("type", decl.info);
  put(" ");
  type(*decl.type);
  close();
}

void Dumper::names(const std::vector<ImportName>& names) {
  for (const auto& name : names) {
    put(" ", name_of(name.name));
    if (name.alias != name.name) {
      put(":", name_of(name.alias));
    }
  }
}

void Dumper::node(const UseDecl& decl) {
  open(decl.reexport ? "export use " : "use ");
  put(std::string(decl.parents, '.'));
  path(decl.path);
  if (decl.alias != kNoSymbol) {
    put(" as ", name_of(decl.alias));
  }
  if (decl.everything) {
    put(" *");
  }
  names(decl.names);
  close();
}

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
