// Calls, and the lvalues that mutating methods and assignments change.
#include <algorithm>
#include <utility>

#include "host/compiler/compiler.h"

namespace spl {

std::unordered_set<Symbol>& mutating_names() {
  static std::unordered_set<Symbol> names = [] {
    std::unordered_set<Symbol> made;
    for (const char* name :
         {"push",     "append",    "pop",         "insert",     "remove",      "remove_at", "clear",
          "sort",     "sort_by",   "reverse",     "extend",     "set",         "update",    "fill",
          "swap",     "truncate",  "shuffle",     "setdefault", "__delitem__", "push_back", "push_front",
          "pop_back", "pop_front", "sort_by_key", "sort_desc",  "delete",      "popitem",   "move_to_end"}) {
      made.insert(intern(name));
    }
    return made;
  }();
  return names;
}

std::unordered_set<Symbol>& action_names() {
  static std::unordered_set<Symbol> names;
  return names;
}

// Whether an expression statement `a.b` names a method that changes `a`, so that it is a call without
// parentheses.
bool FunctionCompiler::is_action(const Expr& expr) const {
  if (expr.kind != ExprKind::kField) {
    return false;
  }
  const auto& field = as<FieldExpr>(expr);
  return mutating_names().contains(field.name) || action_names().contains(field.name);
}

namespace {
bool is_variable(const Expr& expr, Symbol name) {
  return expr.kind == ExprKind::kName && as<NameExpr>(expr).name == name;
}
}  // namespace

// Whether `variable = value` passes the variable to the call whose result replaces it: `xs = f(xs)` or
// `p = p.moved(1)`. Nothing reads the variable during the call, unless the call fails and a `with` block
// around it handles the error. A variable that a closure shares is in a cell and is not handed over.
bool FunctionCompiler::is_handed_over(const Expr& value, Symbol variable) const {
  if (value.kind != ExprKind::kCall || with_depth_ > 0) {
    return false;
  }
  const auto& call = as<CallExpr>(value);
  if (call.callee->kind == ExprKind::kField && is_variable(*as<FieldExpr>(*call.callee).object, variable)) {
    return true;
  }
  return std::any_of(call.args.begin(), call.args.end(),
                     [&](const Arg& arg) { return is_variable(*arg.value, variable); });
}

// Emitted when all arguments are in place, so that none of them misses the variable's value.
void FunctionCompiler::release_reassigned(const std::optional<Name>& variable) {
  if (!variable) {
    return;
  }
  if (variable->form == Name::Form::kLocal) {
    emit(Op::kReleaseReassigned, variable->operand);
  } else {
    emit_wide(Op::kReleaseReassignedGlobal, 0, static_cast<int32_t>(variable->operand));
  }
}

bool FunctionCompiler::simple_arguments(const std::vector<Arg>& args) const {
  for (const Arg& arg : args) {
    if (arg.kind != ArgKind::kPositional) {
      return false;
    }
  }
  return true;
}

// Puts the entries of the mapping after ** into a dict.
void FunctionCompiler::dict_argument(const Expr& mapping) {
  const Register dict = temporary();
  emit(Op::kMakeDict, dict, dict);
  const uint32_t mark = temporary_count_;
  emit(Op::kDictMerge, dict, operand(mapping));
  temporary_count_ = mark;
}

uint16_t FunctionCompiler::arguments(const std::vector<Arg>& args, bool moves) {
  for (const Arg& arg : args) {
    if (arg.kind == ArgKind::kDictSpread) {
      dict_argument(*arg.value);
      continue;
    }
    temporary_of(*arg.value);
    if (moves) {
      mark_moved(*arg.value);
    }
  }
  return static_cast<uint16_t>(args.size());
}

uint16_t FunctionCompiler::call_spec(const std::vector<Arg>& args) {
  CallSpec spec;
  for (const Arg& arg : args) {
    spec.forms.push_back(static_cast<CallSpec::Form>(arg.kind));
    spec.names.push_back(arg.name);
  }
  proto_->specs.push_back(std::move(spec));
  return static_cast<uint16_t>(proto_->specs.size() - 1);
}

namespace {
// What the parser makes of `super()`: a call of the keyword with a class's key, its first parent, self and
// the name of the method.
bool is_super(const Expr& expr) {
  static const Symbol name = intern("super");
  return expr.kind == ExprKind::kCall && as<CallExpr>(expr).callee->kind == ExprKind::kName &&
         as<NameExpr>(*as<CallExpr>(expr).callee).name == name && as<CallExpr>(expr).args.size() == 4;
}
}  // namespace

// The first register of a call's window, with the value of `head`. It is the destination itself if the
// registers behind that one are free.
Register FunctionCompiler::window_of(const Expr& head, Register dest) {
  if (dest != static_cast<Register>(kTemporary | (temporary_count_ - 1)) || temporary_count_ == 0) {
    return temporary_of(head);
  }
  expr_to(head, dest);
  return dest;
}

void FunctionCompiler::compile(const CallExpr& expr, Register dest) {
  const std::optional<Name> reassigned = std::exchange(reassigned_, std::nullopt);
  const Expr* callee = expr.callee.get();
  while (callee->kind == ExprKind::kTypeApply) {
    callee = as<TypeApplyExpr>(*callee).object.get();
  }
  if (callee->kind == ExprKind::kField) {
    note_elements(*callee, expr.args);
    method_call(as<FieldExpr>(*callee), expr.args, dest, reassigned);
    return;
  }
  if (is_spec_assertion(expr)) {
    spec_assertion_to(expr, dest);
    return;
  }
  if (is_super(expr)) {
    super_to(expr, dest);
    return;
  }
  check_arguments(*callee, expr.args);
  accept_truncation(*callee, expr.args);
  for (const Arg& arg : expr.args) {
    if (shows_arguments(*callee)) {
      note_shown(*arg.value);
    }
  }
  const Register window = window_of(*callee, dest);
  const uint16_t count = arguments(expr.args, !names_builtin(*callee));
  check_visited(*callee, expr.args, static_cast<Register>(window + 1));
  release_reassigned(reassigned);
  span_ = expr.span;
  if (simple_arguments(expr.args)) {
    emit(Op::kCall, window, count);
  } else {
    emit(Op::kCallSpec, window, count, call_spec(expr.args));
  }
  if (dest != window) {
    emit(Op::kTake, dest, window);
  }
}

void FunctionCompiler::super_to(const CallExpr& expr, Register dest) {
  const uint16_t key = constant(Value::integer(as<IntExpr>(*expr.args[0].value).value));
  const Register parent = temporary_of(*expr.args[1].value);
  const Register self = temporary_of(*expr.args[2].value);
  span_ = expr.span;
  emit(Op::kNextClass, parent, self, cache(intern(as<TextExpr>(*expr.args[3].value).value)));
  emit_extra(key);
  emit(Op::kSuper, dest, parent, key);
}

void FunctionCompiler::method_call(const FieldExpr& callee, const std::vector<Arg>& args, Register dest,
                                   const std::optional<Name>& reassigned) {
  check_print_operand(*callee.object, callee.span);
  if (mutating_names().contains(callee.name) && is_lvalue(*callee.object) && !callee.nil_safe) {
    mutating_call(callee, args, dest);
    return;
  }
  if (is_chained_change(callee)) {
    check_change_of_default(callee);
    chained_change(callee, args, dest);
    return;
  }
  if (callee.nil_safe) {
    accept_absence(*callee.object);
  }
  const Register window = window_of(*callee.object, dest);
  const size_t absent = callee.nil_safe ? jump_if_absent(window) : 0;
  check_result_change(callee, window);
  const uint16_t count = arguments(args);
  release_reassigned(reassigned);
  span_ = callee.span;
  invoke(callee.name, args, window, count);
  proto_->caches.back().is_super = is_super(*callee.object);
  if (dest != window) {
    emit(Op::kTake, dest, window);
  }
  if (callee.nil_safe) {
    const size_t end = emit_jump(Op::kJump);
    patch(absent);
    emit(Op::kLoadNil, dest);
    patch(end);
  }
}

namespace {

bool is_plain_path(const Expr& expr) {
  return expr.kind == ExprKind::kField ? is_plain_path(*as<FieldExpr>(expr).object)
                                       : expr.kind == ExprKind::kName || expr.kind == ExprKind::kSelf ||
                                             expr.kind == ExprKind::kInt || expr.kind == ExprKind::kText;
}

}  // namespace

// `d[k].append(v)`, where a missing key is an error. The path evaluates the operands again.
void FunctionCompiler::check_changed_key(const Expr& object) {
  if (object.kind != ExprKind::kIndex) {
    return;
  }
  const auto& index = as<IndexExpr>(object);
  if (index.checks_key && index.subscripts.size() == 1 && is_plain_path(*index.object) &&
      is_plain_path(*index.subscripts[0])) {
    const Register dict = temporary_of(*index.object), key = temporary_of(*index.subscripts[0]);
    emit(Op::kCheckKey, 0, dict, key);
    emit(Op::kRelease, dict);  // a dict that another place holds is copied before it changes
    emit(Op::kRelease, key);
  }
}

// The method changes the value in the lvalue itself.
void FunctionCompiler::mutating_call(const FieldExpr& callee, const std::vector<Arg>& args, Register dest) {
  check_changed_key(*callee.object);
  LvaluePath path;
  lvalue_path(*callee.object, path);
  check_change(*callee.object, path, callee.span);
  change(callee, args, std::move(path), dest);
}

void FunctionCompiler::invoke(Symbol method, const std::vector<Arg>& args, Register window, uint16_t count) {
  if (simple_arguments(args)) {
    static const Symbol length = intern("len");
    emit(method == length && count == 0 ? Op::kLength : Op::kInvoke, window, count, cache(method));
    return;
  }
  const uint16_t spec = call_spec(args);
  emit(Op::kInvokeSpec, window, count, cache(method));
  emit_extra(spec);
}

void FunctionCompiler::compile(const StructLiteralExpr& expr, Register dest) {
  check_arguments(*expr.type, expr.args);
  const Register callee = temporary_of(*expr.type);
  const uint16_t count = arguments(expr.args);
  span_ = expr.span;
  emit(Op::kCallSpec, callee, count, call_spec(expr.args));
  emit(Op::kTake, dest, callee);
}

// t->m(a): the method's result is assigned to t.
void FunctionCompiler::compile(const UpdateCallExpr& expr, Register dest) {
  const Register window = temporary_of(*expr.target);
  const uint16_t count = arguments(expr.args);
  span_ = expr.span;
  invoke(expr.method, expr.args, window, count);
  const Register result = temporary();
  emit(Op::kMove, result, window);
  assign_to(*expr.target, window);
  emit(Op::kTake, dest, result);
}

const Expr& root_of(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kField:
      return root_of(*as<FieldExpr>(expr).object);
    case ExprKind::kTupleField:
      return root_of(*as<TupleFieldExpr>(expr).object);
    case ExprKind::kIndex:
      return root_of(*as<IndexExpr>(expr).object);
    default:
      return expr;
  }
}

const Expr& object_of(const Expr& part) {
  switch (part.kind) {
    case ExprKind::kField:
      return *as<FieldExpr>(part).object;
    case ExprKind::kTupleField:
      return *as<TupleFieldExpr>(part).object;
    default:
      return *as<IndexExpr>(part).object;
  }
}

bool FunctionCompiler::is_lvalue(const Expr& expr) const {
  switch (expr.kind) {
    case ExprKind::kName:
    case ExprKind::kSelf:
      return true;
    case ExprKind::kField:
      return !as<FieldExpr>(expr).nil_safe && is_lvalue(*as<FieldExpr>(expr).object);
    case ExprKind::kTupleField:
      return is_lvalue(*as<TupleFieldExpr>(expr).object);
    case ExprKind::kIndex: {
      const auto& index = as<IndexExpr>(expr);
      return index.subscripts.size() == 1 && index.subscripts[0]->kind != ExprKind::kSlice &&
             is_lvalue(*index.object);
    }
    default:
      return false;
  }
}

// Reads an undefined name at its own position, so that the error points there.
void FunctionCompiler::check_known(Symbol symbol, const SourceSpan& span) {
  if (module_.knows(symbol)) {
    return;
  }
  const SourceSpan before = std::exchange(span_, span);
  const uint32_t mark = temporary_count_;
  read(resolve(symbol), temporary());
  temporary_count_ = mark;
  span_ = before;
}

// Returns false if the root is not a variable but a value in a temporary. Subscripts stay in temporaries.
bool FunctionCompiler::lvalue_path(const Expr& expr, LvaluePath& path) {
  switch (expr.kind) {
    case ExprKind::kSelf:
      return variable_path(intern("self"), expr.span, path);
    case ExprKind::kName:
      return variable_path(as<NameExpr>(expr).name, expr.span, path);
    case ExprKind::kField: {
      const auto& field = as<FieldExpr>(expr);
      const bool is_variable = lvalue_path(*field.object, path);
      path.steps.push_back({LvaluePath::Step::Form::kField, field.name});
      return is_variable;
    }
    case ExprKind::kTupleField: {
      const auto& field = as<TupleFieldExpr>(expr);
      const bool is_variable = lvalue_path(*field.object, path);
      path.steps.push_back({LvaluePath::Step::Form::kTupleField, static_cast<uint32_t>(field.index)});
      return is_variable;
    }
    case ExprKind::kIndex: {
      const auto& index = as<IndexExpr>(expr);
      const bool is_variable = lvalue_path(*index.object, path);
      const Register subscript = temporary();
      subscript_to(index, subscript);
      path.steps.push_back({LvaluePath::Step::Form::kIndex, subscript});
      return is_variable;
    }
    default:
      path.root = LvaluePath::Root::kValue;
      path.operand = temporary_of(expr);
      return false;
  }
}

bool FunctionCompiler::variable_path(Symbol symbol, const SourceSpan& span, LvaluePath& path) {
  note_change(symbol);
  const Name name = resolve(symbol);
  path.operand = name.operand;
  switch (name.form) {
    case Name::Form::kLocal:
      path.root = LvaluePath::Root::kRegister;
      return true;
    case Name::Form::kLocalCell:
      path.root = LvaluePath::Root::kCell;
      return true;
    case Name::Form::kCapturedCell:
      path.root = LvaluePath::Root::kCapturedCell;
      return true;
    case Name::Form::kGlobal:
      note_read(symbol, span);
      check_known(symbol, span);
      path.root = LvaluePath::Root::kGlobal;
      return true;
    case Name::Form::kField:
      lvalue_path(SelfExpr(), path);
      path.steps.push_back({LvaluePath::Step::Form::kField, symbol});
      return true;
    case Name::Form::kStatic:
      path.root = LvaluePath::Root::kGlobal;
      path.operand = module_.slot(owner_name());
      path.steps.push_back({LvaluePath::Step::Form::kField, symbol});
      return true;
    case Name::Form::kCaptured:
    case Name::Form::kSelfClosure:
      break;
  }
  path.root = LvaluePath::Root::kValue;
  const Register value = temporary();
  read(name, value);
  path.operand = value;
  return false;
}

}  // namespace spl
