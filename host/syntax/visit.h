// Dispatch over the nodes of the tree: visit() calls `visitor` with the node as its own struct.
#pragma once

#include "host/syntax/ast.h"

namespace spl {

// clang-format off
#define SPL_EXPRESSIONS(X)                                                                               \
  X(Int) X(Float) X(Bool) X(Nil) X(Text) X(Interpolation) X(Name) X(Self) X(Field) X(TupleField) X(Call) \
  X(UpdateCall) X(Index) X(Slice) X(Unary) X(Binary) X(Compare) X(Range) X(Try) X(Present) X(Cast)       \
  X(Lambda) X(Array) X(ArrayRepeat) X(Tuple) X(Dict) X(Comprehension) X(StructLiteral) X(If) X(Match)    \
  X(New) X(TypeApply)

#define SPL_PATTERNS(X) X(Wildcard) X(Literal) X(Binding) X(Variant) X(Struct) X(Tuple) X(Array) X(Or)

#define SPL_STATEMENTS(X)                                                                                 \
  X(Expr, ExprStmt) X(Bind, BindStmt) X(Assign, AssignStmt) X(Return, ReturnStmt) X(Break, BreakStmt)     \
  X(Continue, ContinueStmt) X(Pass, PassStmt) X(Defer, DeferStmt) X(Assert, AssertStmt) X(For, ForStmt)   \
  X(While, WhileStmt) X(Loop, LoopStmt) X(With, WithStmt) X(Unsafe, UnsafeStmt) X(Function, FunctionDecl) \
  X(Record, RecordDecl) X(Enum, EnumDecl) X(Trait, TraitDecl) X(Impl, ImplDecl) X(Use, UseDecl)           \
  X(Export, ExportDecl) X(TypeAlias, TypeAliasDecl)
// clang-format on

// The switches have no default label, so that the compiler warns about a kind missing from a list.

template <class Visitor>
void visit(const Expr& expr, Visitor&& visitor) {
  switch (expr.kind) {
#define SPL_VISIT(name)   \
  case ExprKind::k##name: \
    return visitor(as<name##Expr>(expr));
    SPL_EXPRESSIONS(SPL_VISIT)
#undef SPL_VISIT
  }
}

template <class Visitor>
void visit(const Pattern& pattern, Visitor&& visitor) {
  switch (pattern.kind) {
#define SPL_VISIT(name)      \
  case PatternKind::k##name: \
    return visitor(as<name##Pattern>(pattern));
    SPL_PATTERNS(SPL_VISIT)
#undef SPL_VISIT
  }
}

template <class Visitor>
void visit(const Stmt& stmt, Visitor&& visitor) {
  switch (stmt.kind) {
#define SPL_VISIT(name, Node) \
  case StmtKind::k##name:     \
    return visitor(as<Node>(stmt));
    SPL_STATEMENTS(SPL_VISIT)
#undef SPL_VISIT
  }
}

#undef SPL_EXPRESSIONS
#undef SPL_PATTERNS
#undef SPL_STATEMENTS

}  // namespace spl
