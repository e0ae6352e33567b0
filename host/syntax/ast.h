// The syntax tree of a module: one struct per node kind, tagged for switch dispatch, owning its children.
//
// Both dialects produce the same nodes: all spellings of calls, lambdas, `a ?? b` and so on have one form.
// `if` and `match` are expressions; as statements they are wrapped in an ExprStmt.
// Use visit() (visit.h), or `as<IfExpr>(expr)` after a switch on `expr.kind`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/syntax/source.h"

namespace spl {

struct Expr;
struct Stmt;
struct Pattern;
struct TypeExpr;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;
using PatternPtr = std::unique_ptr<Pattern>;
using TypePtr = std::unique_ptr<TypeExpr>;

struct Block {
  SourceSpan span;
  std::vector<StmtPtr> statements;
};

// ---- Types: without effect at run time, except in FFI signatures and patterns ---------------------------

enum class TypeKind : uint8_t {
  kName,      // path, args: `torch.Tensor<f32>`; a unit `#Duration` has modifiers "#"
  kArray,     // args[0], size or null: `[T]`, `[T; 3]`
  kDict,      // args[0], args[1]: `{K: V}`; one argument is a set `{T}`
  kTuple,     // args: `(A, B)`, `()`
  kFunction,  // args -> result (null: nothing): `fn(A) -> B`, `(A) -> B`
  kUnion,     // args: `A | B`
  kInteger,   // value: `Tensor<f32, 3>`
  kUnknown,   // `?` as a type argument
  kNamed,     // path[0] = args[0]: `Shape = Dynamic`
  kShape,     // args: `[Batch, 3, 224]` as a type argument
  kComputed,  // value_of: the expression of a parent, `namedtuple("P", "x y")`
};

struct TypeExpr {
  TypeKind kind = TypeKind::kName;
  bool optional = false;  // `T?`
  SourceSpan span;
  std::vector<Symbol> path;
  std::vector<TypePtr> args;
  TypePtr result;
  ExprPtr size;
  ExprPtr value_of;
  Symbol keyword = kNoSymbol;  // of `frozen: true` among parents, which the other language receives
  int64_t value = 0;
  std::string modifiers;  // in source order, joined by spaces: "&", "*", "mut", "*mut" is "* mut"
};

struct GenericParam {
  Symbol name = kNoSymbol;
  bool is_const = false;
  TypePtr bound;         // `M: Module`, or the type of a const parameter
  TypePtr default_type;  // `Shape = Dynamic`
  SourceSpan span;
};

// ---- Expressions ----------------------------------------------------------------------------------------

enum class ExprKind : uint8_t {
  kInt,
  kFloat,
  kBool,
  kNil,
  kText,
  kInterpolation,
  kName,
  kSelf,
  kField,
  kTupleField,
  kCall,
  kUpdateCall,
  kIndex,
  kSlice,
  kUnary,
  kBinary,
  kCompare,
  kRange,
  kTry,
  kPresent,
  kCast,
  kLambda,
  kArray,
  kArrayRepeat,
  kTuple,
  kDict,
  kComprehension,
  kStructLiteral,
  kIf,
  kMatch,
  kNew,
  kTypeApply,
};

struct Expr {
  ExprKind kind;
  SourceSpan span;  // of a binary operator: the operator; of a call: the last name of its callee

  explicit Expr(ExprKind k) : kind(k) {}
  Expr(const Expr&) = delete;
  Expr& operator=(const Expr&) = delete;
  virtual ~Expr() = default;
};

template <ExprKind K>
struct ExprOf : Expr {
  static constexpr ExprKind kKind = K;
  ExprOf() : Expr(K) {}
};

struct IntExpr : ExprOf<ExprKind::kInt> {
  int64_t value = 0;          // `u64` literals above the i64 range keep their bits
  Symbol suffix = kNoSymbol;  // i8…u64, f32, f64
};
struct FloatExpr : ExprOf<ExprKind::kFloat> {
  double value = 0;
  Symbol suffix = kNoSymbol;
};
struct BoolExpr : ExprOf<ExprKind::kBool> {
  bool value = false;
};
struct NilExpr : ExprOf<ExprKind::kNil> {};
struct TextExpr : ExprOf<ExprKind::kText> {
  std::string value;
};

/// `"loss {loss:.4f} done"`: literal text, then an expression (null in the last part).
struct InterpolationPart {
  std::string text;
  ExprPtr value;
  std::string format;  // the format specification after the colon; empty: display form
};
struct InterpolationExpr : ExprOf<ExprKind::kInterpolation> {
  std::vector<InterpolationPart> parts;
};

struct NameExpr : ExprOf<ExprKind::kName> {
  Symbol name = kNoSymbol;
};
struct SelfExpr : ExprOf<ExprKind::kSelf> {
  bool may_be_class = false;  // of super(): in a method of a class, the class
};

/// `object.name`, `object?.name`. The nil-safe form evaluates to nil for a nil object and skips the call.
struct FieldExpr : ExprOf<ExprKind::kField> {
  ExprPtr object;
  Symbol name = kNoSymbol;
  bool nil_safe = false;
};
struct TupleFieldExpr : ExprOf<ExprKind::kTupleField> {  // pair.0
  ExprPtr object;
  int64_t index = 0;
};

enum class ArgKind : uint8_t {
  kPositional,
  kNamed,       // name: value, name = value
  kSpread,      // xs...
  kDictSpread,  // **named
  kBase,        // ..base, in constructions
};
struct Arg {
  ArgKind kind = ArgKind::kPositional;
  Symbol name = kNoSymbol;
  ExprPtr value;
};

/// Any call: `f(a)`, `f a`, `x |> f(a)` (x is args[0]), `f a:` + block (the last argument, a Lambda with
/// scope_block set). The callee of a method call is a FieldExpr.
struct CallExpr : ExprOf<ExprKind::kCall> {
  ExprPtr callee;
  std::vector<Arg> args;
};
/// `t->m(a)`: t = t.m(a). Evaluates to the new t.
struct UpdateCallExpr : ExprOf<ExprKind::kUpdateCall> {
  ExprPtr target;
  Symbol method = kNoSymbol;
  std::vector<Arg> args;
};

/// `a[i]`, `a[i:j:k]`, `t[:, -1, :]`. With `tuple` set the index is a tuple even if it has one element.
struct IndexExpr : ExprOf<ExprKind::kIndex> {
  ExprPtr object;
  std::vector<ExprPtr> subscripts;  // SliceExpr for i:j:k
  bool tuple = false;
  bool checks_key = false;  // a missing key of a dict is an error, which an `except` catches
};
struct SliceExpr : ExprOf<ExprKind::kSlice> {  // only among subscripts; each part may be null
  ExprPtr start, stop, step;
};

enum class UnaryOp : uint8_t { kNegate, kNot, kBitNot, kReference, kDereference, kAwait, kMove, kYield };
struct UnaryExpr : ExprOf<ExprKind::kUnary> {
  UnaryOp op = UnaryOp::kNegate;
  ExprPtr operand;
};

enum class BinaryOp : uint8_t {
  kPower,
  kMultiply,
  kDivide,
  kRemainder,
  kFloorDivide,
  kMatmul,
  kAdd,
  kSubtract,
  kShiftLeft,
  kShiftRight,
  kBitAnd,
  kBitXor,
  kBitOr,
  kLess,
  kGreater,
  kLessEqual,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kIs,
  kIsNot,
  kIn,
  kNotIn,
  kAnd,
  kOr,        // short-circuit
  kCoalesce,  // a ?? b, short-circuit
};
struct BinaryExpr : ExprOf<ExprKind::kBinary> {
  BinaryOp op = BinaryOp::kAdd;
  ExprPtr left, right;
  bool left_compares = false, right_compares = false;  // an operand is a comparison without parentheses
};
/// `0 < x <= 9`: each operand once, left to right, until one comparison fails. At least two links.
struct CompareLink {
  BinaryOp op = BinaryOp::kLess;
  ExprPtr right;
};
struct CompareExpr : ExprOf<ExprKind::kCompare> {
  ExprPtr first;
  std::vector<CompareLink> links;
};
struct RangeExpr : ExprOf<ExprKind::kRange> {  // either end may be null
  ExprPtr start, end;
  bool inclusive = false;
};
struct TryExpr : ExprOf<ExprKind::kTry> {  // e?
  ExprPtr operand;
};
struct PresentExpr : ExprOf<ExprKind::kPresent> {  // e.?
  ExprPtr operand;
};
struct CastExpr : ExprOf<ExprKind::kCast> {  // e as i32
  ExprPtr operand;
  TypePtr type;
};

enum class ParamKind : uint8_t {
  kNormal,
  kRest,   // args...: the other positionals, an array
  kNamed,  // **named: the other keyword arguments, a dict
};
struct Param {
  ParamKind kind = ParamKind::kNormal;
  Symbol name = kNoSymbol;  // "_" where the pattern below destructures
  TypePtr type;
  ExprPtr default_value;
  PatternPtr pattern;       // |(a, b)| …: destructures a pair; null for a plain name
  bool only_named = false;  // after `*`: positional arguments do not reach it
  SourceSpan span;
};

/// A lambda in any spelling, or the colon block of a command. A scope block has no parameters and may assign
/// variables of the enclosing function; `return` in it leaves the block.
struct LambdaExpr : ExprOf<ExprKind::kLambda> {
  std::vector<Param> params;
  TypePtr return_type;
  Block body;
  bool scope_block = false;
};

struct Element {
  ExprPtr value;
  bool spread = false;  // *xs, ...xs
};
struct ArrayExpr : ExprOf<ExprKind::kArray> {
  std::vector<Element> elements;
};
struct ArrayRepeatExpr : ExprOf<ExprKind::kArrayRepeat> {  // [value; count]
  ExprPtr value, count;
};
struct TupleExpr : ExprOf<ExprKind::kTuple> {
  std::vector<ExprPtr> elements;
  std::vector<Symbol> names;  // (x: 1, y: 2); else empty
};
struct DictEntry {
  ExprPtr key;  // any expression: {name: 1} evaluates `name`; null: value is a dict to spread (**d)
  ExprPtr value;
};
struct DictExpr : ExprOf<ExprKind::kDict> {
  std::vector<DictEntry> entries;
};
struct ComprehensionClause {
  PatternPtr pattern;
  PatternPtr second;  // `for i, x in xs`: see ForStmt
  ExprPtr iterable;
  std::vector<ExprPtr> conditions;
};
/// `[e for p in xs if c]`, `[for p in xs if c: e]`, `{k: v for p in xs}`; `key` is null for an array.
struct ComprehensionExpr : ExprOf<ExprKind::kComprehension> {
  ExprPtr key, value;
  std::vector<ComprehensionClause> clauses;
};
/// `Point { x: 1, y }`: args are kNamed (y is short for y: y) or kBase.
struct StructLiteralExpr : ExprOf<ExprKind::kStructLiteral> {
  ExprPtr type;
  std::vector<Arg> args;
};

enum class ConditionKind : uint8_t {
  kTest,     // value is truthy
  kPresent,  // if val x = e: e is present (Some, Ok or not nil); binds the payload to `pattern`
  kMatch,    // if let P = e: e matches `pattern`
};
struct Condition {
  ConditionKind kind = ConditionKind::kTest;
  ExprPtr value;
  PatternPtr pattern;
};
struct IfClause {
  Condition condition;
  Block body;
  SourceSpan span;
};
struct IfExpr : ExprOf<ExprKind::kIf> {
  std::vector<IfClause> clauses;  // if, elif…
  std::optional<Block> otherwise;
};
struct MatchArm {
  PatternPtr pattern;  // an OrPattern for several
  ExprPtr guard;
  Block body;
  SourceSpan span;
};
struct MatchExpr : ExprOf<ExprKind::kMatch> {
  ExprPtr subject;
  std::vector<MatchArm> arms;
};
struct NewExpr : ExprOf<ExprKind::kNew> {  // new(&) e
  std::string sigil;
  ExprPtr operand;
};
/// `f<T>` before a call or a member: generic arguments, of no effect at run time.
struct TypeApplyExpr : ExprOf<ExprKind::kTypeApply> {
  ExprPtr object;
  std::vector<TypePtr> types;
};

// ---- Patterns -------------------------------------------------------------------------------------------

enum class PatternKind : uint8_t { kWildcard, kLiteral, kBinding, kVariant, kStruct, kTuple, kArray, kOr };

struct Pattern {
  PatternKind kind;
  SourceSpan span;
  Symbol alias = kNoSymbol;  // `P as name`, in a match

  explicit Pattern(PatternKind k) : kind(k) {}
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  virtual ~Pattern() = default;
};
template <PatternKind K>
struct PatternOf : Pattern {
  static constexpr PatternKind kKind = K;
  PatternOf() : Pattern(K) {}
};

struct WildcardPattern : PatternOf<PatternKind::kWildcard> {};
struct LiteralPattern : PatternOf<PatternKind::kLiteral> {
  ExprPtr value;  // Int, Float, Bool, Nil, Text, Range of such; negative numbers are folded
};
/// A bare name: tests the variant of that name if the subject's enum has one (or is None), else binds.
struct BindingPattern : PatternOf<PatternKind::kBinding> {
  Symbol name = kNoSymbol;
  TypePtr type;
  bool is_mutable = false;
};
struct FieldPattern {
  Symbol name = kNoSymbol;  // none: by position
  PatternPtr pattern;
  bool is_argument = false;  // Python's `name=pattern`
};
struct VariantPattern : PatternOf<PatternKind::kVariant> {
  std::vector<Symbol> path;  // Some, or Device.CUDA
  std::vector<FieldPattern> fields;
  bool is_class = false;  // Python's `int()` or `Point(x=0)`, unless it names a variant
};
struct StructPattern : PatternOf<PatternKind::kStruct> {
  std::vector<Symbol> path;  // empty: any record
  std::vector<FieldPattern> fields;
  bool is_mapping = false;  // Python's `{"key": pattern}`: the names are keys of a dict
};
struct TuplePattern : PatternOf<PatternKind::kTuple> {
  std::vector<PatternPtr> elements;
  std::optional<size_t> starred;  // which of them, `*rest`, is an array of what the others leave
};
struct ArrayPattern : PatternOf<PatternKind::kArray> {
  std::vector<PatternPtr> elements;
  bool has_rest = false;
  Symbol rest = kNoSymbol;  // ...name binds the remaining elements
};
struct OrPattern : PatternOf<PatternKind::kOr> {
  std::vector<PatternPtr> alternatives;
  bool has_commas = false;  // Python's `x, y` is a sequence: see FunctionCompiler::is_sequence()
};

// ---- Statements and declarations ------------------------------------------------------------------------

enum class StmtKind : uint8_t {
  kExpr,
  kBind,
  kAssign,
  kReturn,
  kBreak,
  kContinue,
  kPass,
  kDefer,
  kAssert,
  kFor,
  kWhile,
  kLoop,
  kWith,
  kUnsafe,
  kFunction,
  kRecord,
  kEnum,
  kTrait,
  kImpl,
  kUse,
  kExport,
  kTypeAlias,
};

struct Stmt {
  StmtKind kind;
  SourceSpan span;

  explicit Stmt(StmtKind k) : kind(k) {}
  Stmt(const Stmt&) = delete;
  Stmt& operator=(const Stmt&) = delete;
  virtual ~Stmt() = default;
};
template <StmtKind K>
struct StmtOf : Stmt {
  static constexpr StmtKind kKind = K;
  StmtOf() : Stmt(K) {}
};

struct ExprStmt : StmtOf<StmtKind::kExpr> {
  ExprPtr value;
};

/// `@[name(args)]`, `#[name(args)]`, and `@name(args)` of a name that the language knows. Any other `@e` is a
/// decorator: the value of `e` is applied to the declaration.
struct Attribute {
  Symbol name = kNoSymbol;  // also of an informative decorator
  std::vector<Arg> args;
  ExprPtr decorator;            // null: not a decorator
  bool is_informative = false;  // `@inline` and its kin: a decorator only where the program defines the name
  SourceSpan span;
};

enum class BindKind : uint8_t { kVal, kVar, kLet, kConst };
struct BindStmt : StmtOf<StmtKind::kBind> {
  BindKind bind = BindKind::kVal;
  PatternPtr pattern;  // BindingPattern, TuplePattern, …
  TypePtr type;
  ExprPtr value;  // null only for `var x: T`
  bool exported = false;
};

/// `a = e`, `a += e`, `a, b = e`. Targets are Name, Field, TupleField, Index or (nested) Tuple expressions.
/// A bare unknown name on the left declares a local.
struct AssignStmt : StmtOf<StmtKind::kAssign> {
  std::vector<ExprPtr> targets;
  std::vector<ExprPtr> chained;  // b of `a = b = e`; several targets are a tuple
  std::optional<BinaryOp> op;    // of a compound assignment, which has one target
  ExprPtr value;
};
struct ReturnStmt : StmtOf<StmtKind::kReturn> {
  ExprPtr value;  // may be null
};
struct BreakStmt : StmtOf<StmtKind::kBreak> {
  Symbol label = kNoSymbol;
};
struct ContinueStmt : StmtOf<StmtKind::kContinue> {
  Symbol label = kNoSymbol;
};
struct PassStmt : StmtOf<StmtKind::kPass> {};
struct DeferStmt : StmtOf<StmtKind::kDefer> {
  Block body;
};
struct AssertStmt : StmtOf<StmtKind::kAssert> {
  ExprPtr condition;
  ExprPtr message;   // may be null
  std::string text;  // the source of the condition
};
/// `for p in xs`, `for i, x in xs`. With `second`, an element that is a pair is destructured; any other
/// element is paired with its index.
struct ForStmt : StmtOf<StmtKind::kFor> {
  Symbol label = kNoSymbol;
  PatternPtr pattern;
  PatternPtr second;
  ExprPtr iterable;
  Block body;
  std::optional<Block> otherwise;  // `else`: runs unless `break` leaves the loop
};
struct WhileStmt : StmtOf<StmtKind::kWhile> {
  Symbol label = kNoSymbol;
  Condition condition;
  Block body;
  std::optional<Block> otherwise;
};
struct LoopStmt : StmtOf<StmtKind::kLoop> {
  Symbol label = kNoSymbol;
  Block body;
};
struct WithItem {
  ExprPtr resource;
  Symbol name = kNoSymbol;  // `as name`
};
struct WithStmt : StmtOf<StmtKind::kWith> {
  std::vector<WithItem> items;
  Block body;
};
struct UnsafeStmt : StmtOf<StmtKind::kUnsafe> {  // a plain block in this host
  std::vector<Arg> args;
  Block body;
};

/// The parts that all declarations share.
struct DeclInfo {
  Symbol name = kNoSymbol;
  std::vector<GenericParam> generics;
  std::vector<Attribute> attributes;
  bool exported = false;  // pub, export fn
  std::string doc;        // docstring or doc comment, without its quotes
};

struct FunctionDecl : StmtOf<StmtKind::kFunction> {
  DeclInfo info;
  std::vector<Param> params;  // without `self`
  TypePtr return_type;
  std::optional<Block> body;  // none: extern, or a trait's requirement
  bool is_static = false;     // static fn, @[static]
  bool is_async = false;
  bool is_mutating = false;  // me
  bool is_extern = false;    // extern fn, @[extern_c]
  bool takes_self = false;   // an explicit self was written
  bool uses_self = false;    // the body contains self
};
using FunctionPtr = std::unique_ptr<FunctionDecl>;

struct FieldDecl {
  Symbol name = kNoSymbol;
  TypePtr type;
  ExprPtr default_value;
  bool exported = false;
  bool is_mutable = false;
  uint8_t bits = 0;  // of a bit field; else 0
  SourceSpan span;
};
struct RecordDecl : StmtOf<StmtKind::kRecord> {
  DeclInfo info;
  bool is_class = false;         // class: reference; struct: value
  bool is_actor = false;         // actor: a class whose methods handle messages
  std::vector<TypePtr> parents;  // (A), extends A, with A, B
  std::vector<FieldDecl> fields;
  std::vector<FunctionPtr> methods;
  std::vector<std::pair<Symbol, Symbol>>
      method_aliases;               // `__radd__ = __add__` in a program that imports torch
  std::vector<StmtPtr> constants;   // BindStmt: `const N = 3` and `static val N = 3`, values of the type
  std::vector<Symbol> inner_types;  // declared inside; they precede this record in the tree
};
/// A number that no other class statement of the process has.
inline int64_t key_of_class(const RecordDecl& decl) {
  return static_cast<int64_t>(decl.span.file) << 32 | decl.span.start;
}
struct VariantDecl {
  Symbol name = kNoSymbol;
  std::vector<Symbol> field_names;  // kNoSymbol for a field without a name
  std::vector<TypePtr> field_types;
  ExprPtr value;  // = 3
  SourceSpan span;
};
struct EnumDecl : StmtOf<StmtKind::kEnum> {
  DeclInfo info;
  bool is_of_python = false;  // class Color(Enum)
  std::vector<VariantDecl> variants;
  std::vector<FunctionPtr> methods;
};
struct TraitDecl : StmtOf<StmtKind::kTrait> {
  DeclInfo info;
  std::vector<TypePtr> parents;
  std::vector<FunctionPtr> methods;
};
struct ImplDecl : StmtOf<StmtKind::kImpl> {
  std::vector<GenericParam> generics;
  TypePtr trait;  // null for `impl T`
  TypePtr target;
  std::vector<FunctionPtr> methods;
};

struct ImportName {
  Symbol name = kNoSymbol;
  Symbol alias = kNoSymbol;  // equals name without `as`
  SourceSpan span;
};
/// `use a.b.{c as d}`, `use a.*`, `import a.b as t`, `from a import c`. Every form also binds the module as a
/// namespace: to `alias`, or else to the last part of its path.
struct UseDecl : StmtOf<StmtKind::kUse> {
  uint32_t parents = 0;  // leading dots: 1 is this file's folder, 2 its parent folder…
  std::vector<Symbol> path;
  Symbol alias = kNoSymbol;
  std::vector<ImportName> names;
  bool everything = false;  // .*
  bool reexport = false;    // export use
};
struct ExportDecl : StmtOf<StmtKind::kExport> {
  std::vector<ImportName> names;
};
struct TypeAliasDecl : StmtOf<StmtKind::kTypeAlias> {  // type A = T, alias A = B
  DeclInfo info;
  TypePtr type;
};

struct Module {
  uint32_t file = 0;
  std::string doc;  // the module's docstring
  std::vector<StmtPtr> statements;
  std::vector<Symbol> globals;          // variables of the module that functions name with `global`
  std::vector<Symbol> inner_variables;  // those that expressions outside functions assign: `(n := e)`
};

/// Casts a node to its own struct. The caller has checked `kind`.
template <class T, class Node>
T& as(Node& node) {
  return static_cast<T&>(node);
}
template <class T, class Node>
const T& as(const Node& node) {
  return static_cast<const T&>(node);
}

}  // namespace spl
