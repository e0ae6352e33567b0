// The recursive-descent parser of parse(). The files parser_*.cpp each parse one part of the language.
//
// The parser, not the lexer, interprets layout. Inside a block, a token that starts a line ends the previous
// statement (`kind_` is then kNewline) unless it continues that statement. Inside brackets lines have no
// meaning until the colon of a lambda opens a block.
//
// An error is recorded and thrown as Abandon. The parser of statements catches it and resumes at the next
// line of the block, so that one run reports several errors.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/syntax/ast.h"
#include "host/syntax/lexer.h"
#include "host/syntax/parse.h"

namespace spl {

class Parser {
 public:
  Parser(const SourceFile& file, Literals literals, std::vector<Diagnostic>& diagnostics);

  Module module();

 private:
  struct Abandon {};

  bool imports_torch() const;

  /// How tokens are interpreted at the current position. Saved and restored as a whole.
  struct Context {
    bool layout = true;      // line ends end statements
    uint32_t indent = 0;     // of the current block
    bool no_braces = false;  // `if x {`: the brace is the body, not a struct literal
    bool no_arrow = false;   // a guard: `->` or `=>` ends it
    bool no_cast = false;    // `with e as name`
    bool no_pipe = false;    // types of |x: T|
    bool subscript = false;  // `a[1::2]`: `::` is two colons
    bool arms = false;       // of a match: `case` starts a line
    size_t bracket = kNone;  // token of the innermost open bracket
  };
  static constexpr size_t kNone = static_cast<size_t>(-1);
  static constexpr const char* kCommentHint = "comments start with '#'";

  class RecordScope;

  /// The body of a function, also when an error abandons it.
  class BodyScope {
   public:
    explicit BodyScope(Parser& parser) : parser_(parser), outer_(parser.in_body_) { parser.in_body_ = true; }
    BodyScope(const BodyScope&) = delete;
    BodyScope& operator=(const BodyScope&) = delete;
    ~BodyScope() { parser_.in_body_ = outer_; }

   private:
    Parser& parser_;
    bool outer_;
  };

  /// Saves the context and restores it, then classifies the current token again.
  class Scope {
   public:
    explicit Scope(Parser& parser) : parser_(parser), saved_(parser.context_) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      parser_.context_ = saved_;
      parser_.refresh();
    }

   private:
    Parser& parser_;
    Context saved_;
  };

  /// One level of nesting. Also measures the tree's height, which grows with chains such as a + b + c + …
  class Level {
   public:
    explicit Level(Parser& parser);
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level();

   private:
    Parser& parser_;
    uint32_t outer_height_;
  };

  // Tokens (parser.cpp)
  const Token& current() const { return stream_.tokens[pos_]; }
  const Token& ahead(size_t count = 1) const;
  const Token& previous() const { return stream_.tokens[pos_ > 0 ? pos_ - 1 : 0]; }
  bool is(Tok kind) const { return kind_ == kind; }
  bool is_word(std::string_view word) const { return kind_ == Tok::kName && spelling(current()) == word; }
  bool is_name() const { return can_name(kind_); }
  static bool can_name(Tok kind);
  bool touches_previous() const { return !current().space_before && !current().line_start; }
  std::string_view spelling(const Token& token) const;
  void refresh();
  bool continues(const Token& token) const;
  void advance();
  bool accept(Tok kind);
  bool accept_word(std::string_view word);
  void expect(Tok kind, const char* where);
  Symbol expect_name(const char* what);
  Symbol member_name();
  void join_line();
  void open_bracket();
  void close_bracket(Tok kind, const char* where);
  void chained();
  SourceSpan span_of(const Token& token) const;
  SourceSpan here() const { return span_of(current()); }
  SourceSpan from(const SourceSpan& start) const;
  size_t matching_bracket(size_t open) const;

  // Errors (parser.cpp)
  [[noreturn]] void fail(std::string message, std::string hint = "");
  [[noreturn]] void fail_at(SourceSpan span, std::string message, std::string hint = "");
  [[noreturn]] void fail_expected(const std::string& what, std::string hint = "");
  void report(SourceSpan span, std::string message, std::string hint = "");
  std::string found() const;
  std::string keyword_hint() const;
  std::string doubled_operator_hint() const;
  bool follows_double_slash() const;
  void skip_statement(size_t start);

  // Blocks and statements (parser_statements.cpp)
  void lines(std::vector<StmtPtr>& out);
  void each_line(const std::function<void()>& read);
  void wrong_indentation();
  std::string indentation_hint(std::string otherwise) const;
  void inline_statements(std::vector<StmtPtr>& out);
  bool continues_imports(const Stmt& statement);
  void begin_line();
  static Block block_of(StmtPtr statement);
  static StmtPtr statement_of(SourceSpan span, ExprPtr value);
  Block block_after_colon();
  Block body(const char* after);
  Block indented_block();
  Block brace_block();
  void enter_indented();
  bool opens_indented() const;
  bool only_comments() const;
  bool at_statement_end() const;
  void check_statement_end();
  std::string statement_end_hint() const;
  StmtPtr statement();
  StmtPtr keyword_statement();
  bool starts_actor() const;
  bool actor_member(RecordDecl& actor);
  FunctionPtr message_handler();
  ExprPtr spawn_expression();
  bool starts_memory_mapped() const;
  ExprPtr memory_mapped();
  static void drop_other_targets(std::vector<StmtPtr>& statements);
  bool is_pass() const;
  void skip_pass();
  void reject_foreign_statement();
  void reject_foreign_name();
  void reject_foreign_declaration(std::string_view word);
  StmtPtr bind_statement(bool exported);
  bool starts_assembly() const;
  StmtPtr assembly();
  StmtPtr short_declaration();
  StmtPtr trait_binding();
  StmtPtr return_statement();
  template <class Jump>
  StmtPtr jump_statement();
  StmtPtr defer_statement();
  bool starts_assert() const;
  StmtPtr assert_statement();
  bool starts_label() const;
  StmtPtr labeled_statement();
  StmtPtr for_statement(Symbol label);
  ExprPtr loop_target();
  std::optional<Block> loop_otherwise(const Token& first);
  void reject_counting_loop();
  StmtPtr while_statement(Symbol label);
  StmtPtr loop_statement(Symbol label);
  StmtPtr with_statement();
  StmtPtr unsafe_statement();
  StmtPtr async_statement();
  StmtPtr expression_statement();
  bool starts_assignment() const;
  StmtPtr assignment(ExprPtr first);
  StmtPtr elements_assignment(std::vector<Element> elements, ExprPtr value);
  void split_starred(ExprPtr& target, std::vector<StmtPtr>& later);
  static ExprPtr parts_of(ExprPtr value, size_t starred, size_t count);
  std::optional<size_t> starred_target(std::vector<ExprPtr>& targets);
  bool more_targets() const;
  StmtPtr python_statement();
  static bool is_exception_name(std::string_view name);
  static bool tests_type(const BinaryExpr& expr);
  ExprPtr type_test(std::unique_ptr<BinaryExpr> expr);

  // Exceptions (parser_exceptions.cpp)
  bool starts_try() const;
  StmtPtr try_statement();
  bool accept_clause(std::string_view word, uint32_t indent);
  void except_clause(Symbol variable, ArrayExpr& caught, IfExpr& chosen);
  ExprPtr exception_class(ExprPtr value);
  StmtPtr raise_again();
  void note_exception(const Token& token);
  void import_exceptions(Module& module);

  // Python's statements, continued
  StmtPtr outer_variables(bool of_module);
  StmtPtr raise_statement();
  static StmtPtr raise_value(const SourceSpan& span, ExprPtr raised, ExprPtr cause);
  StmtPtr del_statement();
  void list_to_tuple(ExprPtr& target) const;
  void check_target(const Expr& target);
  ExprPtr assigned_value();
  ExprPtr value_or_tuple(ExprPtr value);
  Condition condition();
  ExprPtr header_expression();
  bool starts_assigning_expression() const;
  ExprPtr assigning_expression();

  // Commands: calls without parentheses (parser_commands.cpp)
  ExprPtr command_or_expression();
  bool starts_command() const;
  bool starts_argument(size_t token) const;
  bool starts_block_tail(size_t colon) const;
  bool starts_symbol(size_t colon) const;
  ExprPtr symbol();
  ExprPtr command();
  Arg command_argument();
  ExprPtr spec_assertion(ExprPtr call);
  ExprPtr with_tail(ExprPtr expr);
  Arg trailing_lambda();
  void append_block(CallExpr& call);

  // Keywords as names (ported_names.cpp)
  void mark_names();
  bool declares(size_t index) const;
  bool names_keyword(size_t index) const;

  // Forms of Python (parser_ported.cpp)
  void mark_fn_names();
  bool names_fn(size_t index) const;
  bool is_parameter(size_t index) const;
  bool declares_function(size_t index) const;
  bool starts_fn_lambda(size_t index) const;
  void restore(size_t position);
  ExprPtr docstring_of_module(const SourceSpan& span) const;
  StmtPtr annotated_assignment(ExprPtr& target);
  static ExprPtr method_of_variable(ExprPtr value);
  static ExprPtr shuffled_in_place(ExprPtr& statement);
  void split_default(ExprPtr& value, std::vector<StmtPtr>& before);
  StmtPtr change_of_default(ExprPtr& statement);
  void derive_from_collections(std::vector<TypePtr>& parents);
  void import_collections(Module& module) const;
  bool is_enum_of_python(const RecordDecl& record);
  StmtPtr enum_of_class(RecordDecl& record);

  // parser_bitfields.cpp
  bool starts_bitfield() const;
  StmtPtr bitfield(std::vector<Attribute> attributes, bool exported);
  void bitfield_member(RecordDecl& record, uint32_t& used, uint32_t width);
  static FunctionPtr bits_reader(const RecordDecl& record);
  static FunctionPtr bits_maker(const RecordDecl& record);

  bool catches_one_of(size_t token, std::initializer_list<std::string_view> names, bool bare) const;
  void note_key_handlers();
  bool catches_all(uint32_t indent) const;

  // Declarations (parser_declarations.cpp, parser_records.cpp, parser_imports.cpp)
  bool starts_declaration() const;
  StmtPtr declaration();
  bool starts_example() const;
  void mark_example(Stmt& example, std::vector<Attribute> attributes);
  StmtPtr bare_declaration(std::vector<Attribute> attributes, bool exported);
  std::vector<Attribute> attributes();
  Attribute attribute();
  Attribute decorator();
  bool is_known_attribute() const;
  bool visibility();
  FunctionPtr function(std::vector<Attribute> attributes, bool exported);
  void signature(FunctionDecl& function);
  void function_body(FunctionDecl& function);
  std::vector<Param> parameters(bool* takes_self);
  bool self_parameter();
  Param parameter();
  bool names_variadic() const;
  void check_one_variadic(const std::vector<Param>& params);
  ParamKind stars();
  void begin_only_named(const std::vector<Param>& params, bool again);
  void check_distinct(const std::vector<Param>& params);
  std::vector<GenericParam> generic_params();
  GenericParam generic_param();
  void where_clause(std::vector<GenericParam>& generics);
  StmtPtr type_alias(std::vector<Attribute> attributes, bool exported);
  std::string take_docstring(std::vector<StmtPtr>& statements, uint32_t header_line) const;
  std::string doc_comment() const;

  void members(std::string& doc, const std::function<void()>& member);
  bool starts_function() const;
  FunctionPtr method();
  StmtPtr record(std::vector<Attribute> attributes, bool exported);
  void parents(std::vector<TypePtr>& out);
  TypePtr parent();
  void mark_accessor(const RecordDecl& record, FunctionDecl& method);
  void record_member(RecordDecl& record);
  bool starts_inner_declaration() const;
  void inner_declaration(RecordDecl& record);
  FieldDecl field(bool exported);
  StmtPtr enumeration(std::vector<Attribute> attributes, bool exported);
  /// Parses the head of a type declaration: its keyword, its name and its generics.
  template <class Decl>
  void type_head(Decl& node, std::vector<Attribute>&& attributes, bool exported, const char* expected) {
    node.info.doc = doc_comment();
    node.info.attributes = std::move(attributes);
    node.info.exported = exported;
    advance();
    node.span = here();
    node.info.name = expect_name(expected);
    if (is(Tok::kLess) || is(Tok::kLeftBracket)) {
      node.info.generics = generic_params();
    }
  }
  VariantDecl variant();
  StmtPtr trait(std::vector<Attribute> attributes, bool exported);
  bool associated_type();
  StmtPtr implementation();

  StmtPtr use(bool reexport);
  StmtPtr submodule(bool reexport);
  StmtPtr from_import();
  void module_path(UseDecl& use);
  void bracketed_names(std::vector<ImportName>& out, Tok close);
  void listed_names(std::vector<ImportName>& out);
  ImportName import_name();
  bool starts_export_names() const;
  StmtPtr export_names();

  // Expressions (parser_expressions.cpp: operators; parser_postfix.cpp: postfix forms)
  struct Operator;
  ExprPtr expression();
  ExprPtr binary(int min_level);
  ExprPtr binary_above_pipe();
  ExprPtr operand();
  Operator operator_here() const;
  ExprPtr logical_not();
  ExprPtr range(ExprPtr start);
  ExprPtr piped(ExprPtr value);
  bool starts_conditional(size_t index) const;
  ExprPtr conditional(ExprPtr value);
  ExprPtr unary();
  ExprPtr negation();
  ExprPtr positive();
  bool starts_expression() const;

  ExprPtr postfix();
  ExprPtr postfix_operator(ExprPtr value);
  bool starts_postfix(const Expr& value);
  template <class Node>
  ExprPtr postfix_sign(ExprPtr operand);
  ExprPtr member(ExprPtr object);
  bool is_elementwise() const;
  ExprPtr cast(ExprPtr operand);
  ExprPtr coalesce(ExprPtr left);
  ExprPtr call(ExprPtr callee);
  ExprPtr index(ExprPtr object);
  ExprPtr subscript();
  ExprPtr update_call(ExprPtr target);
  bool starts_update_call() const;
  ExprPtr type_application(ExprPtr object);
  bool starts_type_application(const Expr& object) const;
  size_t angle_end(size_t open) const;
  ExprPtr struct_literal(ExprPtr type);
  bool starts_struct_literal(const Expr& type) const;
  std::vector<Arg> arguments(Tok close);
  Arg argument(bool follows_named);
  ExprPtr argument_value();

  // Values (parser_primary.cpp, parser_text.cpp, parser_collections.cpp, parser_lambdas.cpp,
  // parser_branches.cpp)
  ExprPtr super_call();
  ExprPtr parent_of_record(const SourceSpan& span);
  ExprPtr self_of_super(const SourceSpan& span);
  ExprPtr super_of_record(const SourceSpan& span);
  bool starts_me_call() const;
  ExprPtr method_of_self();
  size_t after_at_name(size_t at) const;
  bool begins_attributed(const Token& token) const;
  bool is_field_of_self(size_t at) const;
  ExprPtr field_of_self();
  bool starts_python_lambda() const;
  ExprPtr primary();
  ExprPtr constant();
  ExprPtr name_or_new();
  ExprPtr number();
  ExprPtr integer(std::string_view digits, int base, Symbol suffix);
  ExprPtr name();
  ExprPtr parenthesized();
  ExprPtr new_expression();
  bool starts_new() const;

  ExprPtr text();
  ExprPtr text_literal(bool has_fields);
  bool is_description() const;
  bool is_code_of_python() const;
  ExprPtr interpolation(const Token& token);
  ExprPtr interpolated(LexRange range);
  ExprPtr nested_format(LexRange range);
  uint32_t format_colon(uint32_t begin, uint32_t end) const;
  void move_to(LexRange& range, uint32_t offset) const;

  ExprPtr array();
  Element element();
  ExprPtr comprehension(SourceSpan start, ExprPtr key, ExprPtr value);
  ExprPtr generator_expression(SourceSpan span, ExprPtr value);
  ExprPtr leading_comprehension(SourceSpan start);
  ComprehensionClause comprehension_clause();
  static bool has_star(const Expr& expr);
  static ExprPtr with_spreads(std::unique_ptr<TupleExpr> tuple);
  ExprPtr dict();
  ExprPtr set(SourceSpan span, Element first);
  static ExprPtr call_of(const char* function, ExprPtr argument);
  uint32_t value_end(uint32_t begin, uint32_t end) const;
  bool starts_format() const;
  bool brace_is_dict() const;

  ExprPtr backslash_lambda();
  void backslash_params(LambdaExpr& lambda);
  ExprPtr fn_lambda();
  ExprPtr bar_lambda();
  ExprPtr arrow_lambda();
  bool starts_arrow_lambda() const;
  Param lambda_param(bool with_type);
  void lambda_body(LambdaExpr& lambda);
  ExprPtr method_reference();
  ExprPtr placeholder_lambda(ExprPtr body, uint32_t count, SourceSpan span);

  ExprPtr yield_expression();
  ExprPtr yield_from(const SourceSpan& span);
  ExprPtr if_expression(bool is_statement);
  Block branch(bool is_statement);
  bool accept_branch(uint32_t line_indent, bool is_statement);
  Block value_block();
  Block lambda_value();
  ExprPtr match_expression();
  MatchArm match_arm();
  Block arm_body();

  // Patterns and types (parser_patterns.cpp, parser_types.cpp)
  PatternPtr alternatives();
  PatternPtr pattern();
  PatternPtr part_pattern();
  PatternPtr with_alias(PatternPtr pattern);
  PatternPtr literal_pattern();
  ExprPtr pattern_value();
  PatternPtr named_pattern();
  bool starts_pattern_type();
  PatternPtr optionally_typed(PatternPtr pattern);
  PatternPtr tuple_pattern();
  void note_star(TuplePattern& tuple);
  PatternPtr starred_sequence(std::unique_ptr<ArrayPattern> array);
  PatternPtr array_pattern();
  PatternPtr struct_pattern(std::vector<Symbol> path, SourceSpan span);
  std::vector<FieldPattern> field_patterns(Tok close, bool shorthand);
  PatternPtr loop_pattern(PatternPtr& second);

  TypePtr type();
  TypePtr type_atom();
  TypePtr type_base();
  TypePtr named_type();
  TypePtr bracket_type();
  TypePtr brace_type();
  TypePtr tuple_type();
  TypePtr function_type();
  TypePtr type_argument();
  TypePtr unknown_type();
  TypePtr shape_or_array();
  std::vector<TypePtr> type_list(Tok close);
  std::vector<TypePtr> generic_arguments();

  const SourceFile& file_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<StmtPtr> hoisted_;  // declared inside the current record
  TokenStream stream_;
  size_t pos_ = 0;
  size_t opened_ = 0;  // a token at a line start that does not end a statement
  Tok kind_ = Tok::kEof;
  size_t statement_ = 0;    // the first token of the current statement
  size_t declaration_ = 0;  // the first token of the current declaration
  Context context_;
  const RecordDecl* record_ = nullptr;    // the innermost one that is being parsed
  bool in_body_ = false;                  // of a function
  bool uses_self_ = false;                // the current function contains self
  std::vector<Symbol> globals_;           // named by `global`
  bool ends_with_comparison_ = false;     // the last binary expression, without parentheses
  std::vector<Symbol> inner_variables_;   // assigned by expressions outside functions
  std::vector<Symbol> exceptions_;        // of Python, that the module names as classes
  std::vector<Symbol> user_collections_;  // classes that stand for dict and list among parents
  std::vector<Symbol> handled_;           // variables of the `except` blocks around this place
  bool has_fn_name_ = false;              // the module has variables named `fn`
  bool checks_keys_ = false;              // reading a missing key is an error
  bool next_raises_ = false;              // next(x) raises StopIteration at the end
  bool is_port_ = false;                  // '…' has escapes, and None is nil
  bool is_spec_ = false;                  // enables the argument syntax of std.spec
  uint32_t depth_ = 0;
  uint32_t height_ = 0;
  uint32_t arguments_ = 0;     // nested call arguments around the current position
  uint32_t placeholders_ = 0;  // the highest of _1, _2… in the current call argument; `_` counts as 1
};

/// Returns 'text'.
inline std::string in_quotes(std::string_view text) {
  std::string out(1, '\'');
  out += text;
  out += '\'';
  return out;
}

/// Creates a node at `span`.
template <class Node>
std::unique_ptr<Node> make(SourceSpan span) {
  auto node = std::make_unique<Node>();
  node->span = span;
  return node;
}

}  // namespace spl
