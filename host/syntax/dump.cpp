// Patterns, types and statements as S-expressions.
#include "host/syntax/dumper.h"
#include "host/syntax/parse.h"

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

// ---- Patterns and types ---------------------------------------------------------------------------------

void Dumper::pattern(const Pattern& p) {
  const auto list = [&](const std::vector<PatternPtr>& patterns, std::string_view between) {
    for (size_t i = 0; i < patterns.size(); ++i) {
      if (i > 0) {
        put(between);
      }
      pattern(*patterns[i]);
    }
  };
  const auto path = [&](const std::vector<Symbol>& names) {
    for (size_t i = 0; i < names.size(); ++i) {
      put((i > 0 ? "." : ""), name_of(names[i]));
    }
  };
  switch (p.kind) {
    case PatternKind::kWildcard:
      return put("_");
    case PatternKind::kLiteral:
      return expr(*as<LiteralPattern>(p).value);
    case PatternKind::kBinding:
      if (as<BindingPattern>(p).is_mutable) {
        put("mut ");
      }
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
      if (array.has_rest) {
        put((array.elements.empty() ? "..." : ", ..."), name_of(array.rest));
      }
      return put("]");
    }
    case PatternKind::kOr:
      return list(as<OrPattern>(p).alternatives, " | ");
  }
}

void Dumper::fields(const std::vector<FieldPattern>& fields, char open, char close) {
  out_ += open;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) {
      put(", ");
    }
    if (fields[i].name != kNoSymbol) {
      put(name_of(fields[i].name), ": ");
    }
    pattern(*fields[i].pattern);
  }
  out_ += close;
}

void Dumper::types(const std::vector<TypePtr>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) {
      put(", ");
    }
    type(*list[i]);
  }
}

void Dumper::type(const TypeExpr& t) {
  if (!t.modifiers.empty()) {
    put(t.modifiers, " ");
  }
  const auto wrapped = [&](std::string_view open, std::string_view close) {
    put(open);
    types(t.args);
    put(close);
  };
  switch (t.kind) {
    case TypeKind::kName:
      for (size_t i = 0; i < t.path.size(); ++i) {
        put((i > 0 ? "." : ""), name_of(t.path[i]));
      }
      if (!t.args.empty()) {
        wrapped("<", ">");
      }
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
    case TypeKind::kTuple:
      wrapped("(", ")");
      break;
    case TypeKind::kFunction:
      wrapped("fn(", ")");
      if (t.result) {
        put(" -> ");
        type(*t.result);
      }
      break;
    case TypeKind::kUnion:
      for (size_t i = 0; i < t.args.size(); ++i) {
        if (i > 0) {
          put(" | ");
        }
        type(*t.args[i]);
      }
      break;
    case TypeKind::kInteger:
      put(std::to_string(t.value));
      break;
    case TypeKind::kUnknown:
      put("?");
      break;
    case TypeKind::kNamed:
      put(name_of(t.path[0]), " = ");
      type(*t.args[0]);
      break;
    case TypeKind::kShape:
      wrapped("shape[", "]");
      break;
  }
  if (t.optional) {
    put("?");
  }
}

// ---- Statements -----------------------------------------------------------------------------------------

void Dumper::loop(std::string_view head, Symbol label) {
  open(head);
  if (label != kNoSymbol) {
    put("@", name_of(label));
  }
}

void Dumper::assign(const AssignStmt& stmt) {
  open(stmt.op ? std::string(spelled(*stmt.op)) + "=" : "=");
  for (const auto& target : stmt.targets) {
    spaced(target);
  }
  spaced(stmt.value);
  close();
}

void Dumper::statement(const Stmt& s) {
  switch (s.kind) {
    case StmtKind::kExpr:
      return expr(*as<ExprStmt>(s).value);
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
      if (bind.value) {
        spaced(bind.value);
      }
      return close();
    }
    case StmtKind::kAssign:
      return assign(as<AssignStmt>(s));
    case StmtKind::kReturn:
      open("return");
      if (as<ReturnStmt>(s).value) {
        spaced(as<ReturnStmt>(s).value);
      }
      return close();
    case StmtKind::kBreak:
      loop("break", as<BreakStmt>(s).label);
      return close();
    case StmtKind::kContinue:
      loop("continue", as<ContinueStmt>(s).label);
      return close();
    case StmtKind::kPass:
      return put("(pass)");
    case StmtKind::kDefer:
      open("defer");
      block(as<DeferStmt>(s).body);
      return close();
    case StmtKind::kAssert:
      open("assert");
      spaced(as<AssertStmt>(s).condition);
      if (as<AssertStmt>(s).message) {
        spaced(as<AssertStmt>(s).message);
      }
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
        if (item.name != kNoSymbol) {
          put(" as ", name_of(item.name));
        }
      }
      put(":");
      block(as<WithStmt>(s).body);
      return close();
    case StmtKind::kUnsafe:
      open("unsafe");
      block(as<UnsafeStmt>(s).body);
      return close();
    case StmtKind::kFunction:
      return function(as<FunctionDecl>(s));
    case StmtKind::kRecord:
      return record(as<RecordDecl>(s));
    case StmtKind::kEnum:
      return enumeration(as<EnumDecl>(s));
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
    case StmtKind::kUse:
      return use(as<UseDecl>(s));
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
  if (info.exported) {
    put("export ");
  }
  put(head);
  put(" ", name_of(info.name));
  if (!info.generics.empty()) {
    put("<");
    for (size_t i = 0; i < info.generics.size(); ++i) {
      const auto& param = info.generics[i];
      if (i > 0) {
        put(", ");
      }
      if (param.is_const) {
        put("const ");
      }
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

void Dumper::enumeration(const EnumDecl& decl) {
  info("enum", decl.info);
  for (const auto& variant : decl.variants) {
    put(" ", name_of(variant.name));
    if (!variant.field_types.empty()) {
      open("");
      for (size_t i = 0; i < variant.field_types.size(); ++i) {
        if (i > 0) {
          put(", ");
        }
        if (variant.field_names[i] != kNoSymbol) {
          put(name_of(variant.field_names[i]), ": ");
        }
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
    put(" ", name_of(name.name));
    if (name.alias != name.name) {
      put(":", name_of(name.alias));
    }
  }
}

void Dumper::use(const UseDecl& decl) {
  open(decl.reexport ? "export use " : "use ");
  put(std::string(decl.parents, '.'));
  for (size_t i = 0; i < decl.path.size(); ++i) {
    put((i > 0 ? "." : ""), name_of(decl.path[i]));
  }
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
