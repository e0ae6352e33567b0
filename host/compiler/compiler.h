// Compiles the tree of a module to bytecode.
//
// The functions and types of a module exist as soon as it is compiled, so that they can be used before their
// definition. The other statements become the body, which runs once.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "host/compiler/bytecode.h"
#include "host/compiler/variable_uses.h"
#include "host/syntax/ast.h"
#include "host/values/module.h"
#include "host/values/shape.h"

namespace spl {

/// An error found after parsing.
struct CompileError {
  SourceSpan span;
  std::string message;
  std::string hint{};  // may be empty
};

/// Defines the module's functions and types, and returns its body. Throws CompileError.
const Proto* compile_module(LoadedModule& module);

/// Names of methods that change a built-in value (push, sort, …) or a struct: a call of one operates on an
/// lvalue. The `me` methods of structs are added when they are declared.
std::unordered_set<Symbol>& mutating_names();
/// Names of the `me` methods of classes.
std::unordered_set<Symbol>& action_names();

/// Methods that return the collection that they change. sort() and reverse() are also called for their value.
bool returns_receiver(Symbol method);

/// The variable, or other value, that an lvalue such as `a.b[i]` is a part of.
const Expr& root_of(const Expr& expr);
/// The object of `object.field`, `object.0` or `object[index]`.
const Expr& object_of(const Expr& part);
/// `self.rows[…]` for the expression `self.rows[i]`.
std::string place_spelling(const Expr& place);

/// Whether the method receives the class on which it is called. Throws CompileError.
bool takes_class(const FunctionDecl& decl, bool is_static);
/// Zero or false for a number or a bool, nil for other types and for null.
Value zero_of(const TypeExpr* type);
/// What the methods of a class show about its fields.
struct AssignedFields {
  std::vector<Symbol> names;            // assigned through self, not declared
  std::vector<Symbol> unknown;          // names in methods that nothing declares
  bool has_python_initializer = false;  // __init__: its author writes self.name for each field
};

/// Compiles a method of `type`. `fields` are those that it names without self. `assigned` may be null.
Method make_method(LoadedModule& module, const FunctionDecl& decl, Symbol type,
                   const std::vector<Symbol>& fields, bool is_static, AssignedFields* assigned = nullptr);
/// Whether a decorator is applied to the declaration.
bool is_decorated(LoadedModule& module, const DeclInfo& info);
/// Reports decorators of a declaration that cannot have any.
void reject_decorators(LoadedModule& module, const DeclInfo& info, const char* declaration);

/// `&T`: a unique reference.
bool is_unique_type(const TypeExpr* type);
/// `new(&) e`
bool makes_unique(const Expr& expr);

/// Whether some enum has a variant of this name.
bool is_variant_name(Symbol name);
void offer_variant_names(class SpellingSuggester& suggester);
/// Warns about patterns with an undeclared variant or type.
void warn_unknown_variants(LoadedModule& module);
/// Whether a bare name in a pattern may test for a variant instead of binding.
bool names_variant(Symbol name);
/// Warns about names that functions use without a definition, and about assignments to variables of the
/// module that probably were meant to be local. Call it after the whole module was compiled.
void warn_about_names(LoadedModule& module);
/// Adds a warning unless there is one at this place: methods are compiled again when they add a field.
void warn_once(LoadedModule& module, Diagnostic warning);
/// Warns about a literal that is not of the declared type; either may be null. `what` has the type.
void check_shared_defaults(LoadedModule& module, const RecordDecl& decl);
void check_type(LoadedModule& module, const TypeExpr* type, const Expr* value, const std::string& what);
/// The IntegerWidth of a declaration with this type, which may be null.
int declared_width(const LoadedModule& module, const TypeExpr* type);
/// What the type demands of the numbers in a value. Modules of the library only check widths.
Demand declared_demand(const LoadedModule& module, const TypeExpr* type);
Demand plain_demand(const LoadedModule& module, const TypeExpr* type);
/// The built-in type of a declaration; empty for other types and for names that the module declares itself.
std::string_view declared_type(const TypeExpr& type, const LoadedModule& module);
/// Keeps the functions and types of a module for the check of their calls.
void note_declarations(LoadedModule& module, const std::vector<StmtPtr>& statements);
/// Registers an enum for the exhaustiveness checks.
void note_variants(Enum& type);

using Register = uint16_t;
inline constexpr Register kTemporary = 0x8000;  // marks a temporary until its final number is known
inline constexpr Register kWide = 0x4000;       // marks a function-wide variable that a nested block declared

/// The variables that a closure shares with its function, which are therefore stored in cells.
class CellSet {
 public:
  struct Variable {
    Symbol name;
    const void* declaration;
  };

  bool contains(const void* declaration) const { return declarations_.contains(declaration); }
  void insert(const void* declaration) { declarations_.insert(declaration); }
  size_t size() const { return declarations_.size() + kept_.size(); }

  /// The variables of loops and `with` blocks that a program with PyTorch uses below the block.
  bool keeps(const void* declaration) const { return kept_.contains(declaration); }
  void keep(const void* declaration) { kept_.insert(declaration); }

  /// The variables of a function that a nested function uses above their first assignment.
  const std::vector<Variable>& early_variables(const void* function) { return early_[function]; }
  void insert_early(const void* function, Variable variable) {
    insert(variable.declaration);
    early_[function].push_back(variable);
  }

 private:
  std::unordered_set<const void*> declarations_, kept_;
  std::unordered_map<const void*, std::vector<Variable>> early_;
};

/// The names that a pattern of a loop binds.
template <class Visitor>
void for_each_binding(const Pattern& pattern, const Visitor& visitor) {
  if (pattern.kind == PatternKind::kBinding) {
    visitor(as<BindingPattern>(pattern));
  } else if (pattern.kind == PatternKind::kTuple) {
    for (const auto& element : as<TuplePattern>(pattern).elements) {
      for_each_binding(*element, visitor);
    }
  } else if (pattern.kind == PatternKind::kArray) {
    for (const auto& element : as<ArrayPattern>(pattern).elements) {
      for_each_binding(*element, visitor);
    }
  }
}

/// The type of a number's suffix: kInt without a suffix and for i64, kFloat for f64.
Tag suffix_type(Symbol suffix);

/// A comparison of a chain with the operand before it.
struct ChainLink {
  BinaryOp op;
  const Expr* right;
};

class FunctionCompiler {
 public:
  FunctionCompiler(LoadedModule& module, FunctionCompiler* parent, CellSet& cells,
                   const std::vector<Symbol>* fields);

  /// For a method of a class: it adds what it shows about the fields to `fields`.
  void note_fields(AssignedFields* fields) { assigned_fields_ = fields; }
  /// For a method: its type, whose constants are visible by their bare names.
  void belong_to(Symbol type) { owner_name_ = type; }

  const Proto* function(const FunctionDecl& decl, bool is_method);
  const Proto* lambda(const LambdaExpr& lambda);
  const Proto* deferred(const Block& block);
  const Proto* module_body(const std::vector<StmtPtr>& statements);
  const Proto* initializer(const Expr& value, std::string name);
  /// A method that calls its captured value, the decorated function, with all its arguments.
  const Proto* forwarding(const FunctionDecl& decl);

  /// The captured variables, as the enclosing function refers to them.
  const std::vector<Capture>& captures() const { return captures_; }

 private:
  struct Local {
    Symbol name;
    Register reg;
    const void* key;  // the declaration, as in CellSet
    bool is_cell;
    bool is_fixed = false;     // declared with val or const
    bool is_unique = false;    // a &T, which moves
    bool is_function = false;  // declared with fn
    bool is_search = false;    // holds the result of find() or its kin, which is nil without a match
    bool is_of_block = false;  // the variable of a loop or a `with`
    Demand demand = 0;         // of the declared type
    Demand stored = 0;         // of a parameter: on the elements that the function stores in it
    uint32_t line = 0;         // of the declaration
    size_t loops = 0;          // how many loops enclose the declaration
    bool is_captured = false;  // a closure that was compiled before uses it
    uint32_t changed_in = 0;   // the outermost loop after the declaration that changed it; 0: none
  };
  struct Scope {
    size_t first_local;
    uint32_t first_register;
    int defer_mark = -1;
  };
  struct Loop {
    Symbol label;
    size_t scope;
    uint32_t first_register;  // of the variables that end with the loop
    uint32_t peak_before;
    std::vector<size_t> breaks, continues;
  };
  struct Captured {
    Symbol name;
    bool is_cell;
  };
  /// The registers and jumps of the test of one pattern.
  struct PatternTest {
    Register value;
    Register matches;               // a temporary for the result
    std::vector<size_t>& failures;  // the jumps taken on a mismatch
  };
  struct Name {
    enum class Form {
      kLocal,
      kLocalCell,
      kCaptured,
      kCapturedCell,
      kField,
      kStatic,
      kGlobal,
      kSelfClosure
    } form;
    uint32_t operand;
  };

  // statements.cpp
  void statement(const Stmt& stmt);
  void statements(const Block& block);
  void mark_defers(const std::vector<StmtPtr>& statements);
  void block(const Block& block);                    // drops the value
  void block_to(const Block& block, Register dest);  // writes the last expression's value to `dest`
  void body_value(const Block& block);               // returns the last expression's value
  void last_value_to(const Expr& expr, Register dest);
  void compile(const ExprStmt& stmt);
  void compile(const BindStmt& stmt);
  void compile(const AssignStmt& stmt);
  void compile(const ReturnStmt& stmt);
  void compile(const BreakStmt& stmt);
  void compile(const ContinueStmt& stmt);
  void compile(const PassStmt& stmt);
  void compile(const DeferStmt& stmt);
  void compile(const AssertStmt& stmt);
  void compile(const ForStmt& stmt);
  void compile(const WhileStmt& stmt);
  void compile(const LoopStmt& stmt);
  void compile(const WithStmt& stmt);
  void compile(const UnsafeStmt& stmt);
  void compile(const FunctionDecl& decl);
  void compile(const UseDecl& decl);
  void compile(const ExportDecl& decl);
  void bind_local(const BindStmt& stmt, const BindingPattern& binding);
  void zero_to(const TypeExpr* type, Register dest);
  void initial_value_to(const BindStmt& stmt, Register dest);
  void fix_pattern(const Pattern& pattern);
  void check_assignable(Symbol symbol, const SourceSpan& span);
  void assign_one(const Expr& target, const Expr& value);
  void assign_parts(const std::vector<ExprPtr>& targets, Register value);
  void assign_to(const Expr& target, Register value);
  void assign_self(const Expr& target, Register value);
  void assign_name(const NameExpr& target, Register value);
  void assign_field(const FieldExpr& target, Register value);
  void assign_index(const IndexExpr& target, Register value);
  void assign_path(const Expr& target, Register value);
  void compound_assign(const AssignStmt& stmt);
  void assign_chained(const AssignStmt& stmt);
  void compound_assign_name(const NameExpr& target, BinaryOp op, const Expr& right);
  void in_place(BinaryOp op, Register current, Register value);
  std::optional<uint16_t> constant_step(BinaryOp op, const Expr& right);
  void release_lvalue(BinaryOp op, Register current, size_t path, Register value);
  void for_range(const ForStmt& stmt, const RangeExpr& range);
  void for_each(const ForStmt& stmt);
  void end_for(const ForStmt& stmt, size_t top);
  void end_loop(size_t continue_target, const std::optional<Block>& otherwise);
  void open_loop(Symbol label);  // after the loop's own scope was opened
  void close_loop(size_t continue_target);
  void leave_loop(Symbol label, bool is_break, const SourceSpan& span);
  void return_register(Register value);
  void run_defers_above(size_t scope);
  void local_function(const FunctionDecl& decl);

  // declarations.cpp
  void declare_local_type(const Stmt& stmt, Symbol name);
  void bind_latest_type(Symbol type);

  // linked_declarations.cpp
  void compile(const RecordDecl& decl);
  void compile(const EnumDecl& decl);
  void compile(const TraitDecl& decl);
  void compile(const ImplDecl& decl);
  void compile(const TypeAliasDecl& decl);
  bool capturing_method(const FunctionDecl& decl, Symbol type, const std::vector<Symbol>& fields,
                        Method& method);
  void link_methods(TypeLink& link, const std::vector<FunctionPtr>& methods, Symbol type,
                    const std::vector<Symbol>& fields);
  std::vector<Symbol> fields_of(Symbol type) const;
  TypeLink link_to(Symbol type, const std::vector<TypePtr>& parents);
  void value_of_type(TypeLink& link, const TypeExpr* type);
  void emit_link(TypeLink link);
  void static_value(Symbol type, const BindStmt& stmt);

  // decorators.cpp
  void decorate_function(const FunctionDecl& decl);
  void decorate_type(const DeclInfo& info);
  void decorate_methods(TypeLink& link, const std::vector<FunctionPtr>& methods, Symbol type,
                        const std::vector<Symbol>& fields);
  void decorated_to(const DeclInfo& info, Register function, const std::vector<Register>& decorators);
  std::vector<Register> decorator_values(const DeclInfo& info);
  bool is_applied(const Attribute& attribute) const;

  // expressions.cpp, literals.cpp, operators.cpp, calls.cpp
  void expr_to(const Expr& expr, Register dest);
  Register operand(const Expr& expr);       // a variable's own register, or a temporary
  Register temporary_of(const Expr& expr);  // always a fresh temporary
  void effect(const Expr& expr);
  void compile(const IntExpr& expr, Register dest);
  void compile(const FloatExpr& expr, Register dest);
  void compile(const BoolExpr& expr, Register dest);
  void compile(const NilExpr& expr, Register dest);
  void compile(const TextExpr& expr, Register dest);
  void compile(const InterpolationExpr& expr, Register dest);
  void compile(const NameExpr& expr, Register dest);
  void compile(const SelfExpr& expr, Register dest);
  void compile(const FieldExpr& expr, Register dest);
  void compile(const TupleFieldExpr& expr, Register dest);
  void compile(const CallExpr& expr, Register dest);
  void compile(const UpdateCallExpr& expr, Register dest);
  std::optional<Register> register_of(const Expr& expr);
  bool field_element_to(const IndexExpr& expr, Register dest);
  void compile(const IndexExpr& expr, Register dest);
  void compile(const SliceExpr& expr, Register dest);
  void compile(const UnaryExpr& expr, Register dest);
  void compile(const BinaryExpr& expr, Register dest);
  void compile(const CompareExpr& expr, Register dest);
  void super_to(const CallExpr& expr, Register dest);
  bool is_mixed_chain(const BinaryExpr& expr) const;
  void mixed_chain_to(const BinaryExpr& expr, Register dest);
  void compare_to(BinaryOp op, Register dest, Register left, Register right);
  void chain_to(const Expr& first, const std::vector<ChainLink>& links, Register dest);
  void compile(const RangeExpr& expr, Register dest);
  void compile(const TryExpr& expr, Register dest);
  void compile(const PresentExpr& expr, Register dest);
  void compile(const CastExpr& expr, Register dest);
  void compile(const LambdaExpr& expr, Register dest);
  void compile(const ArrayExpr& expr, Register dest);
  void compile(const ArrayRepeatExpr& expr, Register dest);
  void compile(const TupleExpr& expr, Register dest);
  void compile(const DictExpr& expr, Register dest);
  void compile(const ComprehensionExpr& expr, Register dest);
  void compile(const StructLiteralExpr& expr, Register dest);
  void compile(const IfExpr& expr, Register dest);
  void compile(const MatchExpr& expr, Register dest);
  void compile(const NewExpr& expr, Register dest);
  void compile(const TypeApplyExpr& expr, Register dest);
  void yield_to(Register value, Register dest);
  void copy_to(Register value, Register dest);
  void logic_to(const BinaryExpr& expr, Register dest);
  void comprehension_clause(const ComprehensionExpr& expr, size_t clause, Register dest);
  void if_to(const IfExpr& expr, Register dest, bool needs_value);
  void match_to(const MatchExpr& expr, Register dest, bool needs_value);
  void closure_to(const Proto* proto, const std::vector<Capture>& captures, Register dest);
  void name_to(Symbol name, const SourceSpan& span, Register dest);
  void subscript_to(const IndexExpr& expr, Register dest);
  std::vector<size_t> jump_if_false(const Expr& expr);
  size_t jump_if_absent(Register value);
  std::vector<size_t> condition(const Condition& condition);  // returns the jumps taken if it is false

  // calls.cpp
  bool is_handed_over(const Expr& value, Symbol variable) const;
  void release_reassigned(const std::optional<Name>& variable);
  bool simple_arguments(const std::vector<Arg>& args) const;
  /// Evaluates arguments into fresh temporaries. A variable that holds a &T is moved if the call `moves`.
  uint16_t arguments(const std::vector<Arg>& args, bool moves = true);
  Register window_of(const Expr& head, Register dest);
  void dict_argument(const Expr& mapping);
  uint16_t call_spec(const std::vector<Arg>& args);
  void method_call(const FieldExpr& callee, const std::vector<Arg>& args, Register dest,
                   const std::optional<Name>& reassigned = std::nullopt);
  void mutating_call(const FieldExpr& callee, const std::vector<Arg>& args, Register dest);
  void check_changed_key(const Expr& object);
  void invoke(Symbol method, const std::vector<Arg>& args, Register window, uint16_t count);
  bool is_lvalue(const Expr& expr) const;
  bool is_action(const Expr& expr) const;
  bool lvalue_path(const Expr& expr, LvaluePath& path);
  bool variable_path(Symbol symbol, const SourceSpan& span, LvaluePath& path);
  void check_known(Symbol symbol, const SourceSpan& span);

  // chained_changes.cpp
  bool is_chained_change(const FieldExpr& callee) const;
  void chained_change(const FieldExpr& callee, const std::vector<Arg>& args, Register dest);
  void chain_to(const FieldExpr& callee, const std::vector<Arg>& args, LvaluePath& path, Register dest);
  void change(const FieldExpr& callee, const std::vector<Arg>& args, LvaluePath path, Register dest);
  void release_path(const LvaluePath& path);
  bool stores_back(const Expr& target, const Expr& value) const;
  bool is_outer_change(const Expr& expr);
  void effect_value_to(const CallExpr& call, Register dest);

  // spec_assertions.cpp
  bool is_spec_assertion(const CallExpr& call);
  void spec_assertion_to(const CallExpr& call, Register dest);

  // ownership.cpp
  bool is_unique(const Expr& expr) const;
  bool names_builtin(const Expr& callee) const;
  void mark_moved(const Expr& expr);
  void check_moved(const Local& local);

  // patterns.cpp
  void bind_pattern(const Pattern& pattern, Register value);  // irrefutable
  Register starred_parts(const TuplePattern& pattern, Register value);
  void bind_name(const BindingPattern& binding, Register value);
  void bind_tested(const Pattern& pattern, Register value);
  void bind_parts(const std::vector<PatternPtr>& elements, const ArrayPattern* open_ended, Register value);
  void release_temporary(Register value);
  void test_pattern(const Pattern& pattern, Register value, std::vector<size_t>& failures);
  void test(const WildcardPattern& pattern, const PatternTest& to);
  void test(const LiteralPattern& pattern, const PatternTest& to);
  void test(const BindingPattern& pattern, const PatternTest& to);
  void test(const VariantPattern& pattern, const PatternTest& to);
  bool is_class_pattern(const VariantPattern& pattern) const;
  void test_class(const VariantPattern& pattern, const PatternTest& to);
  void test(const StructPattern& pattern, const PatternTest& to);
  void test_mapping(const StructPattern& pattern, const PatternTest& to);
  void test(const TuplePattern& pattern, const PatternTest& to);
  void test(const ArrayPattern& pattern, const PatternTest& to);
  void test(const OrPattern& pattern, const PatternTest& to);
  void test_parts(const std::vector<PatternPtr>& elements, int32_t flags, const PatternTest& to);
  void test_type(const TypeExpr& type, Register value, std::vector<size_t>& failures);
  void test_member_type(const TypeExpr& type, Register value, Register matches);
  bool type_test_to(const BinaryExpr& expr, Register dest);

  // or_patterns.cpp
  bool is_sequence(const OrPattern& pattern) const;
  Register declare_in_pattern(Symbol name, const void* key);

  // variant_checks.cpp
  void note_variant(const VariantPattern& pattern);
  const Enum* qualified_enum(const VariantPattern& pattern);
  void check_variant(const VariantPattern& pattern);

  // exhaustive.cpp
  void check_arms(const MatchExpr& match);

  // shown_values.cpp
  bool is_fixed_outside(Symbol name);
  bool are_shown(const std::vector<Arg>& args, std::vector<Symbol>& roots);
  bool is_shown_call(const CallExpr& call, std::vector<Symbol>& roots);
  bool is_shown(const Expr& expr, std::vector<Symbol>& roots);
  bool is_shown_operation(const Expr& expr, std::vector<Symbol>& roots);
  const Proto* names_read(const std::vector<Symbol>& names);
  void type_to(const TypeExpr& type, Register dest);
  const Proto* type_read(const TypeExpr& type);
  void show_default(const Param& param, size_t parameter);
  void show_type(const TypeExpr* type);

  // compiler.cpp
  void parameters(const std::vector<Param>& params);
  const Proto* finish();
  void make_wide_cells();
  size_t emit(Op op, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0);
  size_t emit_wide(Op op, uint32_t a, int32_t d);
  size_t emit_jump(Op op, uint32_t a = 0);
  void emit_extra(int32_t d);
  size_t here() const { return proto_->code.size(); }
  void patch(size_t jump) { patch_to(jump, here()); }
  void patch_to(size_t jump, size_t target);
  void patch_all(const std::vector<size_t>& jumps) {
    for (const size_t jump : jumps) {
      patch(jump);
    }
  }
  uint16_t constant(Value owned);
  void load_constant(Register dest, Value owned);
  void convert_arguments(const std::vector<Param>& params, size_t first);
  uint16_t text_constant(const std::string& text) { return constant(make_text_constant(text)); }
  std::optional<uint16_t> compared_constant(const Expr& expr);
  uint16_t cache(Symbol name);
  Register temporary();
  Register temporaries(uint32_t count);
  Register declare(Symbol name, const void* key);
  void declare_at(Register reg, Symbol name, const void* key);
  void declared(Register reg);  // after its value was written: creates the cell
  Register hidden();
  void declare_wide(Symbol name, const void* key);
  void open_scope();
  void close_scope();
  Name resolve(Symbol name);
  void suggest_local(Symbol unknown);
  void note_ended(Symbol unknown);
  AssignedFields* assigned_fields() const;
  void check_bare_field(const NameExpr& target, Name name);
  void note_field(Symbol name);
  int capture(Symbol name);
  Local* find_local(Symbol name);

  // name_checks.cpp
  bool checks_names() const;
  void note_read(Symbol name, const SourceSpan& span);
  void forget_uses(Symbol name);
  void note_assignment(Symbol name, const SourceSpan& span);
  bool hides_variable(Symbol name) const;
  bool hides_field(Symbol name) const;
  bool assigns_before_reading(Symbol name) const;
  const void* enclosing_declaration() const;
  void note_ended_loop(const ForStmt& stmt);
  bool is_one_pass(const Expr& value);
  Register iterator_of(const Expr& value);
  bool is_declared_outside(Symbol name, const void* key);
  bool outlives_block(Symbol name, const void* key);
  void bind_of_block(Symbol name, const void* key);
  void bind_of_loop(const Pattern& pattern);
  void note_ended_block(Symbol name, const void* key);
  void note_ended_pattern(const Pattern& pattern);
  void keep_ended_blocks(Symbol name);
  void check_change_of_default(const FieldExpr& callee);
  void check_ended_loop(Symbol name, const SourceSpan& span);
  void note_late_import(const UseDecl& use);
  Register compared_operand(const Expr& expr, const Expr& other);
  void check_search_result(const BinaryExpr& expr);
  void check_literal_division(const BinaryExpr& expr);
  void check_negative_base(const BinaryExpr& expr);
  void check_kept_defaults(const std::vector<Param>& params);
  void check_print_operand(const Expr& operand, const SourceSpan& span);
  void warn_once(Diagnostic warning) { spl::warn_once(module_, std::move(warning)); }
  bool is_search(const Expr& expr) const;

  // port_checks.cpp
  bool is_port() const;
  std::optional<uint16_t> port_check(PortCheck::Form form, const SourceSpan& span);
  void accept_truncation(const Expr& expr);
  void accept_truncation(const Expr& callee, const std::vector<Arg>& args);
  void accept_truncation(const BindStmt& stmt);
  void check_division(const BinaryExpr& expr, Register left, Register right, Value divisor);
  void check_removal(const FieldExpr& callee, const std::vector<Arg>& args, size_t path, Register argument);
  void check_division(BinaryOp op, const SourceSpan& span, Register left, Register right, Value divisor);
  void emit_division_check(PortCheck::Form form, const SourceSpan& span, Register left, Register right,
                           Value divisor);
  void accept_absence(const Expr& expr);
  void accept_absence(const BinaryExpr& comparison);
  void note_elements(const Expr& callee, const std::vector<Arg>& args);
  void note_element(const Expr& value);
  void note_shown(const Expr& value);
  void note_shown(const Expr& target, const Expr& value);
  void check_identity(const SourceSpan& span, Register left, Register right);
  void check_sequence(const Pattern& pattern, size_t count, Register value);
  void check_method_value(const FieldExpr& expr, Register object);
  void check_pairs(const Pattern& pattern, const PatternPtr& second, Register iterable);
  void check_visited(const Expr& callee, const std::vector<Arg>& args, Register first);
  void check_visited(Symbol what, const SourceSpan& span, Register value);
  void check_result_change(const FieldExpr& callee, Register value);

  // change_checks.cpp
  void check_change(const Expr& collection, LvaluePath path, const SourceSpan& span);
  void check_replaced(const Expr& place, Register current);
  void check_dropped_result(const Expr& statement);
  void emit_change_check(std::unique_ptr<ChangeCheck> check, LvaluePath path);
  void note_visits(const Expr& iterable, const Pattern& variable);

  // lost_changes.cpp
  const FunctionDecl* method_on_copy() const;
  bool changes_receiver(const Type& type, Symbol method) const;
  void check_self_change(const Expr& changed, Symbol method, const SourceSpan& span);
  void warn_of_lost_change(const FunctionDecl& method, const SourceSpan& span);

  // type_checks.cpp
  void check_arguments(const Expr& callee, const std::vector<Arg>& args);
  void check_width(Symbol variable, Register value);

  // shapes.cpp
  void check_demand(Demand demand, Register value, const std::string& what);
  void check_binding(const BindingPattern& binding, Register value);
  void check_parameter(Local& local, const Param& param);
  Demand element_demand(const TypeExpr* type) const;
  void check_stored(const Expr& collection, Register value);
  void check_stored_argument(const FieldExpr& callee, uint16_t count, Register window);
  void check_result_width(Register value);
  void check_defaults(const std::vector<Param>& params);
  void check_result(const FunctionDecl& decl);

  // cells.cpp
  void open_repeated();
  void close_repeated() { repeated_.pop_back(); }
  uint32_t outermost_loop_of(const Local& local) const;
  void need_cell(const Local& local) { cells_.insert(local.key); }
  void note_capture(Local& local);
  void note_wanted(Symbol name);
  void note_early(Symbol name, const void* declaration);
  void declare_early_variables();
  void note_change(Symbol name);
  Local* captured_local(Symbol name);
  bool is_object_of_class(Symbol name) const;

  void read(Name name, Register dest);
  void write(Name name, Register value, Symbol symbol, const SourceSpan& span);
  void write_field(Symbol field, Register value);
  void set_global(Register value, uint32_t slot);
  void set_lvalue(const LvaluePath& path, Register value);
  void note_shared_change(const LvaluePath& path);
  bool has_self() const;
  Symbol owner_name() const;
  const Type* owner() const;
  void owner_to(Register dest);
  void self_to(Register dest);
  Symbol class_parameter() const;
  bool at_module_level() const { return is_module_ && scopes_.size() == 1; }
  [[noreturn]] void error_at(const SourceSpan& span, const std::string& message,
                             const std::string& hint = "") const;

  LoadedModule& module_;
  FunctionCompiler* parent_;
  CellSet& cells_;
  const std::vector<Symbol>* fields_;          // declared by the method's type; bare names resolve to them
  AssignedFields* assigned_fields_ = nullptr;  // of a method of a class
  Symbol owner_name_ = kNoSymbol;
  const void* declaration_ = nullptr;  // of a function
  const void* tree_ = nullptr;         // of a function or lambda
  std::unordered_set<Symbol> wanted_;  // names that nested functions use and that nothing declares yet
  Proto* proto_;
  std::vector<Local> locals_;
  std::unordered_set<uint32_t> assigned_slots_;  // by the module's own statements before this one
  struct HiddenVariable {                        // one that the variable of an ended loop hid
    const void* key;                             // of the local variable; null: a variable of the module
    uint32_t loop_line;
  };
  std::unordered_map<Symbol, HiddenVariable> hidden_by_loops_;
  std::unordered_map<Symbol, std::vector<const void*>> ended_blocks_;  // declarations of their variables
  VariableUses uses_;                                                  // of a program with PyTorch
  std::unordered_set<const Expr*> absences_;     // subscripts where a missing key is nil
  std::unordered_set<const Expr*> truncations_;  // quotients where an integer is wanted
  std::unordered_set<const Expr*> shown_;        // quotients that are printed
  std::unordered_set<const Expr*> elements_;     // quotients that become elements of tensors
  std::vector<Scope> scopes_;
  std::vector<Loop> loops_;
  std::vector<std::string> visited_;  // the collections of the enclosing loops, of a program with PyTorch
  /// The variables that earlier alternatives of the pattern bind, as ranges in locals_.
  std::vector<std::pair<size_t, size_t>> bound_before_;
  std::vector<uint32_t> repeated_;  // the numbers of the enclosing loops and comprehensions
  std::vector<Captured> captured_;
  std::unordered_map<Symbol, uint32_t> ended_locals_;  // variables of blocks that have ended, and their lines
  std::vector<Capture> captures_;
  uint32_t local_count_ = 0, local_peak_ = 0;
  uint32_t wide_count_ = 0;
  uint32_t loop_count_ = 0;
  std::vector<Register> wide_cells_;
  uint32_t temporary_count_ = 0, temporary_peak_ = 0;
  bool is_module_ = false;
  bool has_own_self_ = false;
  Symbol class_parameter_ = kNoSymbol;  // of a method that receives its class
  bool is_result_ = false;              // the block being compiled ends with the function's result
  Demand result_demand_ = 0;            // of the declared type
  bool may_yield_ = false;
  bool keeps_self_ = false;                         // the method returns, passes on or stores its `self`
  std::unordered_set<const Expr*> unread_changes_;  // as in VariableUses, of a program without PyTorch
  bool stores_back_ = false;        // the value of the next change is assigned to the changed variable
  Symbol own_name_ = kNoSymbol;     // of a local function, which can call itself
  uint32_t with_depth_ = 0;         // the enclosing `with` blocks, whose resources may handle an error
  std::optional<Name> reassigned_;  // the variable to which the value of the next call is assigned
  SourceSpan span_;
};

/// The dotted name of a type; empty if it has none.
std::vector<Symbol> type_path(const TypeExpr& type);

}  // namespace spl
