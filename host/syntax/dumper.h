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
  void spaced(const ExprPtr& child) {  // a missing child is `_`
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

}  // namespace spl
