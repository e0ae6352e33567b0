// The register bytecode: instructions and the compiled form of one function.
//
// Registers 0…locals-1 are variables, arguments first; the others are temporaries. An instruction that reads
// a temporary consumes it: the register loses its reference. Reading a variable leaves it unchanged. So a
// temporary is released at its last use, not at the end of the statement.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/values/objects.h"

namespace spl {

// Operands: r = register, - = anything else. An instruction marked X is followed by a kExtra word.
// clang-format off
#define SPL_OPCODES(X)                                                                              \
  X(Extra, "---") X(Move, "rr-") X(Take, "rr-") X(LoadConstant, "r--") X(LoadInt, "r--")            \
  X(LoadNil, "r--") X(LoadBool, "r--") X(GetGlobal, "r--") X(SetGlobal, "r--")  X(NoteChange, "---") \
  X(GetCaptured, "r--") X(GetCapturedCell, "r--") X(SetCapturedCell, "r--") X(NewCell, "r--")       \
  X(GetCell, "rr-") X(SetCell, "rr-") X(GetSelfClosure, "r--") X(Add, "rrr") X(Subtract, "rrr")     \
  X(Multiply, "rrr") X(Divide, "rrr") X(Remainder, "rrr") X(Arith, "rrr") X(AddK, "rr-")            \
  X(SubtractK, "rr-") X(MultiplyK, "rr-") X(DivideK, "rr-") X(RemainderK, "rr-") X(Negate, "rr-")   \
  X(Not, "rr-") X(BitNot, "rr-") X(Less, "rrr") X(LessEqual, "rrr") X(Greater, "rrr")               \
  X(GreaterEqual, "rrr") X(Equal, "rrr") X(NotEqual, "rrr") X(Jump, "---") X(JumpIf, "r--")         \
  X(JumpIfNot, "r--") X(Loop, "---") X(JumpIfPassed, "r--") X(Coalesce, "rr-")   \
  X(JumpUnlessLess, "-rr") X(JumpUnlessLessEqual, "-rr") X(JumpUnlessGreater, "-rr")                \
  X(JumpUnlessGreaterEqual, "-rr") X(JumpUnlessEqual, "-rr") X(JumpUnlessNotEqual, "-rr")           \
  X(JumpUnlessLessK, "-r-") X(JumpUnlessLessEqualK, "-r-") X(JumpUnlessGreaterK, "-r-")             \
  X(JumpUnlessGreaterEqualK, "-r-") X(JumpUnlessEqualK, "-r-") X(JumpUnlessNotEqualK, "-r-")        \
  X(ForPrepare, "r--") X(ForRange, "rr-") X(IterPrepare, "rr-") X(IterNext, "rr-")                  \
  X(IterNextPair, "rrr") X(GetField, "rr-") X(SetField, "rr-") X(GetTupleField, "rr-")              \
  X(GetIndex, "rrr") X(SetIndex, "rrr") X(GetLvalue, "r--") X(SetLvalue, "r--") X(ReleaseLvalue, "r-r") X(Call, "r--")          \
  X(CallSpec, "r--") X(Invoke, "r--") X(InvokeSpec, "r--") X(InvokeLvalue, "r--") X(IsLvalue, "rr-") X(Return, "r--")   \
  X(ReturnNil, "---") X(MakeArray, "rr-") X(MakeTuple, "rr-") X(MakeDict, "rr-")                    \
  X(MakeRange, "rrr") X(MakeSlice, "rr-") X(MakeRepeat, "rrr") X(ArrayPush, "rr-")                  \
  X(ArrayExtend, "rr-") X(DictSet, "rrr") X(DictMerge, "rr-") X(MakeClosure, "r--")                 \
  X(Concat, "rr-") X(Format, "rr-") X(TestVariant, "rr-") X(TestName, "rr-") X(TestSequence, "rr-") \
  X(TestRecord, "rr-") X(TestType, "rr-") X(TestClass, "rrr") X(CheckMoved, "r--") X(GetPart, "rr-") X(GetNamedPart, "rr-") X(GetRest, "rr-")                   \
  X(TestPresent, "rr-") X(Unwrap, "rr-") X(Try, "rr-") X(Present, "rr-") X(Cast, "rr-")             \
  X(Await, "rr-") X(Yield, "rr-") X(Contains, "rrr") X(Is, "rrr") X(Assert, "rr-") X(DeferMark, "r--") X(DeferPush, "r--")          \
  X(RunDefers, "r--") X(WithEnter, "rr-") X(Decorate, "rrr") X(Use, "---") X(Link, "---") X(Release, "r--")  \
  X(AsDeclared, "r--") X(Super, "rr-") X(CheckOperands, "-rr") X(CheckValue, "r--") X(CheckChange, "r--") X(ReleaseReassigned, "r--") \
  X(ReleaseReassignedGlobal, "---") X(LoadLiteral, "r--") X(CheckKey, "-rr") X(CheckWidth, "r--") X(NextClass, "rr-") X(GetIndexOrNil, "rrr") \
  X(UpdateK, "r--") X(UpdateFieldK, "r--") X(FieldElement, "rr-") X(FieldElementAt, "rr-") X(Operand, "-r-")   \
  X(Length, "r--") X(Push, "rr-") X(Conform, "r--") X(ConformPassed, "r--")
// clang-format on

enum class Op : uint16_t {
#define SPL_OPCODE(name, operands) k##name,
  SPL_OPCODES(SPL_OPCODE)
#undef SPL_OPCODE
};

/// 8 bytes. `d` overlaps b and c.
struct Instruction {
  Op op = Op::kExtra;
  uint16_t a = 0;
  union {
    __extension__ struct {
      uint16_t b, c;
    };
    int32_t d;
  };
  Instruction() : d(0) {}
};
static_assert(sizeof(Instruction) == 8);

/// Inline cache: the last lookup of a name, for one type.
struct Cache {
  Symbol name = kNoSymbol;
  const void* type = nullptr;  // Record or Enum, or the address of a kind's entry
  uint32_t epoch = 0;
  uint32_t index = 0;
  const void* target = nullptr;   // Closure or Native
  const void* without = nullptr;  // a Record without a member of this name; `type` is null then
  const void* owner = nullptr;    // a Record whose method needs its arguments bound; `type` is null then
  const void* method = nullptr;   // that Method
  bool is_super = false;          // of `super().m(a)`, whose first argument is self
};

/// The layout of the arguments of a call that is not purely positional.
struct CallSpec {
  enum class Form : uint8_t { kPositional, kNamed, kSpread, kDictSpread, kBase };  // kDictSpread: of a dict
  std::vector<Form> forms;
  std::vector<Symbol> names;  // one each
};

/// An lvalue: a root and the steps from it.
struct LvaluePath {
  enum class Root : uint8_t { kRegister, kCell, kCapturedCell, kGlobal, kValue };
  struct Step {
    enum class Form : uint8_t { kField, kIndex, kTupleField } form;
    uint32_t operand;  // symbol, register, number
    // Inline cache of a field: the last record, and the index of the field in it.
    mutable const Record* record = nullptr;
    mutable uint32_t field = 0;
  };
  Root root = Root::kRegister;
  uint32_t operand = 0;
  std::vector<Step> steps;
  int spec = -1;                  // the CallSpec of an InvokeLvalue
  bool keeps = false;             // a later instruction uses the path's temporaries
  bool returns_receiver = false;  // the value of a built-in method is the changed collection
};

struct Capture {
  bool from_local;  // a local of the enclosing function; else one of its own captures
  uint16_t index;
};

struct VariantPatternSpec {
  Symbol type = kNoSymbol;  // Device in Device.CUDA
  Symbol variant = kNoSymbol;
  uint32_t arity = 0;
};

/// The index operand of kGetPart for the payload of Some; of a plain value that is the value itself.
inline constexpr uint32_t kPayloadOfSome = 0xFFFF;

struct SourcePosition {
  uint32_t line, column;
};

/// The value of a type that is not a name of the module: a variable of a function, or a computed parent.
struct LinkedValue {
  const TypeExpr* type;
  uint16_t source;  // a register, which the link reads
};

/// A type's parents, resolved when its declaration runs; or an impl.
struct TypeLink {
  Type* type = nullptr;   // null: found by `target`
  bool is_local = false;  // declared in a function, so that each run of the declaration makes a new type
  std::vector<Symbol> target;
  std::vector<const TypeExpr*> parents;
  std::vector<LinkedValue> values;
  std::unordered_map<const TypeExpr*, Ref> type_values;  // of a bound link
  bool has_own_type = false;  // of a bound link: `type` is a copy, for the functions of this run
  std::vector<std::pair<Symbol, Method>> methods;  // of an impl
};

struct UseDecl;
struct Param;
struct FunctionDecl;

struct Extern;

/// A function or method that stands for a native operator: @[operator(extern, Class)]. The host passes the
/// arguments of a call to the extern function, and wraps the handle that it returns in an instance of the
/// class. The body runs if an argument has no native form, or if the function returns 0 or less.
///
/// __invoke__ and the __getattr__ of a module stand for the operator whose name is called, __getitem__ and
/// __setitem__ for subscripts. With a third argument, `packed`, the arguments are the operator's name, an
/// array and a dict. With one argument, @[operator(extern)], a method of a handle and integers returns the
/// result of the function, unless that is empty or not positive. @[operator(copy, list)] returns the
/// array of the integers that copy(handle, address, capacity) writes, unless that is empty.
struct OperatorCall {
  enum class Form : uint8_t {
    kNamed,
    kPacked,
    kList,
    kReadElements,
    kMakeElements,
    kProperty,
    kAnyName,
    kPrefixed,  // the operator's name begins with the text in the first field of self
    kGetItem,
    kSetItem,
  };
  Form form = Form::kNamed;
  Symbol name = kNoSymbol;          // of the operator
  Symbol native = kNoSymbol;        // of the extern function
  Symbol result = kNoSymbol;        // of the class; for a property also of an array of its values
  mutable void* address = nullptr;  // set at the first call
  mutable Extern* function = nullptr;
  mutable Record* record = nullptr;
  mutable void* next_tensor = nullptr;  // returns the tensors of a list or a pair
  mutable void* number = nullptr;       // returns the bits of a number
  mutable Record* pair = nullptr;       // the class of a pair, values and indices
  mutable Extern* results = nullptr;    // returns other results
  mutable Object* reader = nullptr;     // converts them
  mutable void* error_kind = nullptr;   // returns the kind of the last call's error, 0 without one
  mutable Object* values = nullptr;     // owned: the class or the array of a property's values
  mutable bool is_getter = false;       // a property without arguments whose result is an integer or a bool
};

/// The module that a use declaration refers to, and the name in it that `use a.b.name` means.
struct ResolvedImport {
  LoadedModule* module = nullptr;
  Symbol member = kNoSymbol;
};

/// Code that reads a value of the declaration of a function, and what its closure captures.
struct ShownValue {
  const Proto* code = nullptr;
  std::vector<Capture> captures;
};
/// A default value that another language is shown: see shown_values.cpp.
struct ShownDefault {
  size_t parameter = 0;  // among the declared ones
  ShownValue value;
  ShownValue callees;  // an array of the values at the roots of its calls: all of the other language
};

/// A place where the program may mean what Python does: see compiler/port_checks.cpp.
struct PortCheck {
  enum class Form : uint8_t {
    kQuotient,
    kElement,  // a quotient that becomes an element of a tensor
    kShown,    // a quotient that is printed
    kRemainder,
    kIdentity,
    kMethod,
    kResult,
    kPairs,
    kVisited,
    kRemoval,
    kSequence
  };
  Form form = Form::kQuotient;
  SourceSpan span;
  Symbol name = kNoSymbol;  // of the variable or the method
  Value divisor;            // missing unless it is a constant; the number of elements of a pattern
  mutable std::atomic<bool> was_reported = false;
};

/// A change of a collection that another place may hold, which Python changes, too: see
/// compiler/change_checks.cpp.
struct ChangeCheck {
  struct Place {
    std::string spelling;
    uint32_t visits = 0;  // enclosing loops that hold it
  };
  SourceSpan span;
  size_t path = 0;            // of the changed collection, among the function's
  std::vector<Place> places;  // the root, and what each step leads to
  bool is_parameter = false;  // the root
  bool is_unread = false;     // nothing reads the root after the change
  bool is_dropped = false;    // the root is passed to a function whose result, the changed copy, is not used
  mutable std::atomic<bool> was_reported = false;
};

struct Proto {
  std::string name;
  LoadedModule* module = nullptr;
  const SourceFile* source = nullptr;  // the module's; in a session, of one cell
  std::vector<Instruction> code;
  std::vector<SourcePosition> positions;  // one for each instruction
  std::vector<Value> constants;
  std::vector<Value> literals;  // further constants, of large literals
  mutable std::vector<Cache> caches;
  std::vector<CallSpec> specs;
  std::vector<LvaluePath> paths;
  std::vector<const Proto*> protos;
  std::vector<std::vector<Capture>> capture_lists;  // parallel to protos
  std::vector<VariantPatternSpec> variants;
  std::vector<TypeLink> links;
  std::deque<PortCheck> checks;
  std::vector<std::unique_ptr<ChangeCheck>> changes;
  std::vector<const UseDecl*> uses;
  mutable std::vector<ResolvedImport> resolved_uses;  // parallel to uses; filled when they run
  std::vector<Symbol> parameters;
  uint32_t required = 0;  // leading parameters without a default
  std::vector<bool> has_default;
  int rest = -1;           // which parameter collects positionals
  int named = -1;          // which parameter collects keyword arguments
  int only_named = -1;     // the first parameter that positional arguments do not reach
  bool is_method = false;  // parameter 0 is self
  bool writes_self = false;
  bool is_async = false;      // a call starts it and returns a future
  bool is_generator = false;  // a call returns a generator
  bool makes_scope = false;   // @[makes_scope]: as a decorator, its result without arguments is the scope
  bool returns_bool = false;  // declared `-> bool`
  uint32_t locals = 0, registers = 0;
  uint32_t conversions = 0;  // instructions at the start that convert arguments of foreign classes
  const OperatorCall* operator_call = nullptr;  // @[operator(…)]; immortal, like the function
  // In the module's tree, which lives as long; null for code that no function or lambda declares.
  const std::vector<Param>* declared_parameters = nullptr;
  const FunctionDecl* declaration = nullptr;  // null for a lambda
  std::vector<ShownDefault> shown_defaults;
  std::unordered_map<const TypeExpr*, ShownValue> shown_types;  // that are variables of enclosing functions
  uint32_t line = 0;

  /// A call with as many positional arguments as parameters needs only a frame.
  bool plain() const { return rest < 0 && named < 0 && only_named < 0 && runs_at_once() && !is_operator(); }
  bool is_operator() const {
    return operator_call != nullptr && operator_call->form <= OperatorCall::Form::kProperty;
  }
  bool runs_at_once() const { return !is_async && !is_generator; }
  const Instruction* entry() const { return code.data() + (Record::has_foreign_classes ? 0 : conversions); }
};

/// The bits of the operand of Op::kTestSequence.
enum SequenceForm : int32_t {
  kMayBeLonger = 1,  // `[a, ...]`
  kBinds = 2,        // a mismatch is an error
  kOnlyTuples = 4,
  kOnlyArrays = 8,
};

}  // namespace spl
