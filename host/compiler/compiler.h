// From the tree of a module to bytecode.
//
// Functions and types of a module exist from the moment it is compiled (use before definition is fine); its
// other statements become the body that runs once.
#pragma once

#include <unordered_set>

#include "host/compiler/bytecode.h"
#include "host/modules/module.h"
#include "host/syntax/ast.h"

namespace spl {

/// What makes a module refused after it was parsed.
struct CompileError {
  SourceSpan span;
  std::string message;
  std::string hint{};  // may be empty
};

/// Defines the module's functions and types, and gives its body. Throws CompileError.
const Proto* compile_module(LoadedModule& module);

/// Names of methods that change a value of the language (push, sort, …) or a struct: calls of these work on a
/// place. Grows as `me` methods of structs are seen.
std::unordered_set<Symbol>& mutating_names();

/// `&T`: the one owner of its value.
bool is_unique_type(const TypeExpr* type);
/// `new(&) e`
bool makes_unique(const Expr& expr);

/// Whether some enum has a variant of this name.
bool is_variant_name(Symbol name);
void offer_variant_names(class SpellingSuggester& nearest);
/// Warns of patterns whose variant or type nobody has declared.
void warn_unknown_variants(LoadedModule& module);
/// Whether the name alone may test, in a pattern, instead of binding.
bool names_variant(Symbol name);
/// Lets matches on an enum be checked.
void note_variants(Enum& type);

using Register = uint16_t;
inline constexpr Register kTemporary = 0x8000;  // marks temporaries until their final number is known
inline constexpr Register kWide = 0x4000;  // … and variables of the whole function that inner blocks made

/// Facts that a second pass over a function needs: variables that a scope block changes live in cells.
using CellSet = std::unordered_set<const void*>;

/// The type that a number's suffix names: kInt for integers without a width of their own, kFloat for 2f64.
Tag suffix_type(Symbol suffix);

class FunctionCompiler {
 public:
  FunctionCompiler(LoadedModule& module, FunctionCompiler* parent, CellSet& cells,
                   const std::vector<Symbol>* fields);

  /// A method of a class: what it assigns through self is added to the class's fields.
  void grow_fields(std::vector<Symbol>* fields) { grown_fields_ = fields; }
  /// A method: the name of its type, whose constants are seen bare.
  void belong_to(Symbol type) { owner_name_ = type; }

  const Proto* function(const FunctionDecl& decl, bool is_method);
  const Proto* lambda(const LambdaExpr& lambda);
  const Proto* deferred(const Block& block);
  const Proto* module_body(const std::vector<StmtPtr>& statements);
  const Proto* initializer(const Expr& value, std::string name);

  /// In parent's order, what the closure takes along.
  const std::vector<Capture>& captures() const { return captures_; }

 private:
  struct Local {
    Symbol name;
    Register reg;
    const void* key;  // the declaration, for CellSet
    bool is_cell;
    bool is_variable;
    bool is_fixed = false;   // bound by val or const
    bool is_unique = false;  // holds a &T, which moves
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
  void block(const Block& block);                    // no value
  void block_to(const Block& block, Register dest);  // the last expression's value
  void body_value(const Block& block);               // … returned
  void bind(const BindStmt& stmt);
  void assign_stmt(const AssignStmt& stmt);
  void compound_assign(const AssignStmt& stmt);
  void assign_to(const Expr& target, Register value);
  void for_stmt(const ForStmt& stmt);
  void while_stmt(const WhileStmt& stmt);
  void loop_stmt(const LoopStmt& stmt);
  void with_stmt(const WithStmt& stmt);
  void leave_loop(Symbol label, bool is_break, const SourceSpan& span);
  void return_register(Register value);
  void run_defers_above(size_t scope);
  /// A name that val or const bound keeps its value.
  void refuse_fixed(Symbol symbol, const SourceSpan& span);
  void fix_pattern(const Pattern& pattern);

  /// The loop's own scope is open by then.
  void open_loop(Symbol label);
  void close_loop(size_t continue_target);
  void local_function(const FunctionDecl& decl);
  void local_type(const Stmt& stmt);
  void name_means_latest(Symbol type);

  // expressions.cpp
  void expr_to(const Expr& expr, Register dest);
  Register operand(const Expr& expr);       // a variable's own register, or a temporary
  Register temporary_of(const Expr& expr);  // always a fresh temporary
  void effect(const Expr& expr);
  void binary_to(const BinaryExpr& expr, Register dest);
  void logic_to(const BinaryExpr& expr, Register dest);
  void compare_to(const CompareExpr& expr, Register dest);
  void interpolation_to(const InterpolationExpr& expr, Register dest);
  void array_to(const ArrayExpr& expr, Register dest);
  void dict_to(const DictExpr& expr, Register dest);
  void comprehension_to(const ComprehensionExpr& expr, Register dest);
  void comprehension_clause(const ComprehensionExpr& expr, size_t clause, Register dest);
  void if_to(const IfExpr& expr, Register dest, bool wanted);
  void match_to(const MatchExpr& expr, Register dest, bool wanted);
  void closure_to(const Proto* proto, const std::vector<Capture>& captures, Register dest);
  void name_to(Symbol name, const SourceSpan& span, Register dest);
  void subscript_to(const IndexExpr& expr, Register dest);
  void slice_to(const SliceExpr& expr, Register dest);
  void range_to(const RangeExpr& expr, Register dest);
  std::vector<size_t> jump_if_false(const Expr& expr);
  size_t jump_if_nothing(Register value);
  std::vector<size_t> condition(const Condition& condition);  // jumps taken when it fails

  // calls.cpp
  void call_to(const CallExpr& expr, Register dest);
  bool is_expectation(const CallExpr& call);
  void expectation_to(const CallExpr& call, Register dest);
  void update_call(const UpdateCallExpr& expr, Register dest);
  bool simple_arguments(const std::vector<Arg>& args) const;
  /// Into fresh temporaries; what holds a &T gives it away if the call `moves` its arguments.
  uint16_t arguments(const std::vector<Arg>& args, bool moves = true);
  uint16_t call_spec(const std::vector<Arg>& args);
  void method_call(const FieldExpr& callee, const std::vector<Arg>& args, Register dest);
  bool place_path(const Expr& expr, Path& path, bool evaluate);
  void check_known(Symbol symbol, const SourceSpan& span);
  void release_lvalue(BinaryOp op, Register current, size_t path, Register value);
  bool is_place(const Expr& expr) const;

  // ownership.cpp
  bool is_unique(const Expr& expr) const;
  bool names_builtin(const Expr& callee) const;
  void mark_moved(const Expr& expr);
  void check_moved(const Local& local);

  // patterns.cpp
  void bind_pattern(const Pattern& pattern, Register value, bool is_variable);  // irrefutable
  void test_pattern(const Pattern& pattern, Register value, std::vector<size_t>& failures);
  void test_type(const TypeExpr& type, Register value, std::vector<size_t>& failures);

  // variant_checks.cpp
  void note_variant(const VariantPattern& pattern);
  const Enum* qualified_enum(const VariantPattern& pattern);
  void check_variant(const VariantPattern& pattern);

  // exhaustive.cpp
  void check_arms(const MatchExpr& match);

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
  uint16_t text_constant(const std::string& text) { return constant(make_text(text)); }
  uint16_t cache(Symbol name);
  Register temporary();
  Register temporaries(uint32_t count);
  Register declare(Symbol name, const void* key, bool is_variable);
  void declared(Register reg);  // its value is there: makes the cell
  Register hidden();
  void declare_wide(Symbol name, const void* key);
  void open_scope();
  void close_scope();
  Name resolve(Symbol name);
  void suggest_local(Symbol unknown);
  void note_field(Symbol name);
  int capture(Symbol name, bool from_scope_block);
  Local* find_local(Symbol name);
  void read(Name name, Register dest);
  void write(Name name, Register value, Symbol symbol, const SourceSpan& span);
  bool has_self() const;
  Symbol owner_name() const;
  const Type* owner() const;
  void owner_to(Register dest);
  void self_to(Register dest);
  bool at_module_level() const { return is_module_ && scopes_.size() == 1; }
  [[noreturn]] void refuse(const SourceSpan& span, const std::string& message,
                           const std::string& hint = "") const;

  LoadedModule& module_;
  FunctionCompiler* parent_;
  CellSet& cells_;
  const std::vector<Symbol>* fields_;            // of the type round this method; bare names find them
  std::vector<Symbol>* grown_fields_ = nullptr;  // the same, where assignments add to them
  Symbol owner_name_ = kNoSymbol;
  Proto* proto_;
  std::vector<Local> locals_;
  std::vector<Scope> scopes_;
  std::vector<Loop> loops_;
  std::vector<Captured> captured_;
  std::vector<Capture> captures_;
  uint32_t local_count_ = 0, local_peak_ = 0;
  uint32_t wide_count_ = 0;
  std::vector<Register> wide_cells_;
  uint32_t temporary_count_ = 0, temporary_peak_ = 0;
  bool is_module_ = false;
  bool is_scope_block_ = false;
  bool has_own_self_ = false;
  bool may_yield_ = false;
  Symbol own_name_ = kNoSymbol;  // a local function sees itself
  SourceSpan span_;
};

/// A type as a call or a pattern names it.
std::vector<Symbol> type_path(const TypeExpr& type);

}  // namespace spl
