// Writes a tree as S-expressions, for dump().
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/syntax/ast.h"

namespace spl {

const char* spelled(BinaryOp op);

class Dumper {
 public:
  std::string take() { return std::exchange(out_, {}); }

  void statement(const Stmt& stmt);

 private:
  template <class... Parts>
  void put(const Parts&... parts) {
    ((out_ += parts), ...);
  }
  void symbol(Symbol symbol) { out_ += name_of(symbol); }
  void open(std::string_view head) {
    out_ += '(';
    out_ += head;
  }
  void close() { out_ += ')'; }
  void quoted(std::string_view text);
  void real(double value);

  void expr(const Expr& expr);
  void spaced(const ExprPtr& child) {  // prints `_` for null
    out_ += ' ';
    if (child) {
      expr(*child);
    } else {
      out_ += '_';
    }
  }
  void list(std::string_view head, std::initializer_list<const ExprPtr*> children) {
    open(head);
    for (const auto* child : children) {
      spaced(*child);
    }
    close();
  }
  void args(const std::vector<Arg>& args);
  void block(const Block& block);
  void params(const std::vector<Param>& params);
  void condition(const Condition& condition);

  // dump_expressions.cpp
  void node(const IntExpr& expr);
  void node(const FloatExpr& expr);
  void node(const BoolExpr& expr);
  void node(const NilExpr& expr);
  void node(const TextExpr& expr);
  void node(const InterpolationExpr& expr);
  void node(const NameExpr& expr);
  void node(const SelfExpr& expr);
  void node(const FieldExpr& expr);
  void node(const TupleFieldExpr& expr);
  void node(const CallExpr& expr);
  void node(const UpdateCallExpr& expr);
  void node(const IndexExpr& expr);
  void node(const SliceExpr& expr);
  void node(const UnaryExpr& expr);
  void node(const BinaryExpr& expr);
  void node(const CompareExpr& expr);
  void node(const RangeExpr& expr);
  void node(const TryExpr& expr);
  void node(const PresentExpr& expr);
  void node(const CastExpr& expr);
  void node(const LambdaExpr& expr);
  void node(const ArrayExpr& expr);
  void node(const ArrayRepeatExpr& expr);
  void node(const TupleExpr& expr);
  void node(const DictExpr& expr);
  void node(const ComprehensionExpr& expr);
  void node(const StructLiteralExpr& expr);
  void node(const IfExpr& expr);
  void node(const MatchExpr& expr);
  void node(const NewExpr& expr);
  void node(const TypeApplyExpr& expr);

  // dump.cpp
  void pattern(const Pattern& pattern);
  void fields(const std::vector<FieldPattern>& fields, char open, char close);
  void type(const TypeExpr& type);
  void types(const std::vector<TypePtr>& types, std::string_view open, std::string_view close,
             std::string_view separator = ", ");
  void unmodified_type(const TypeExpr& type);
  void named_type(const TypeExpr& type);
  void array_type(const TypeExpr& type);
  void function_type(const TypeExpr& type);
  void path(const std::vector<Symbol>& names);
  void patterns(const std::vector<PatternPtr>& patterns, std::string_view separator);
  void info(std::string_view head, const DeclInfo& info);
  void generics(const std::vector<GenericParam>& params);
  void parents(const std::vector<TypePtr>& parents);
  void methods(const std::vector<FunctionPtr>& methods);
  void variant(const VariantDecl& variant);
  void names(const std::vector<ImportName>& names);
  void open_labeled(std::string_view head, Symbol label);
  void otherwise(const std::optional<Block>& body);

  void node(const WildcardPattern& pattern);
  void node(const LiteralPattern& pattern);
  void node(const BindingPattern& pattern);
  void node(const VariantPattern& pattern);
  void node(const StructPattern& pattern);
  void node(const TuplePattern& pattern);
  void node(const ArrayPattern& pattern);
  void node(const OrPattern& pattern);
  void node(const ExprStmt& stmt);
  void node(const BindStmt& stmt);
  void node(const AssignStmt& stmt);
  void node(const ReturnStmt& stmt);
  void node(const BreakStmt& stmt);
  void node(const ContinueStmt& stmt);
  void node(const PassStmt& stmt);
  void node(const DeferStmt& stmt);
  void node(const AssertStmt& stmt);
  void node(const ForStmt& stmt);
  void node(const WhileStmt& stmt);
  void node(const LoopStmt& stmt);
  void node(const WithStmt& stmt);
  void node(const UnsafeStmt& stmt);
  void node(const FunctionDecl& decl);
  void node(const RecordDecl& decl);
  void node(const EnumDecl& decl);
  void node(const TraitDecl& decl);
  void node(const ImplDecl& decl);
  void node(const UseDecl& decl);
  void node(const ExportDecl& decl);
  void node(const TypeAliasDecl& decl);

  std::string out_;
};

}  // namespace spl
