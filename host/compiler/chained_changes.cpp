// `xs.push(1).push(2)`: each call changes the variable. The result of a change is a value, as all collections
// are, so that the second call would change a copy. If the result is the collection that the variable holds,
// the second call therefore works on the variable. The receiver's type is known at run time only.
#include <unordered_set>
#include <utility>

#include "host/compiler/compiler.h"

namespace spl {

// Whether the receiver is itself the result of a change of a variable.
bool FunctionCompiler::is_chained_change(const FieldExpr& callee) const {
  if (callee.nil_safe || !mutating_names().contains(callee.name) || callee.object->kind != ExprKind::kCall) {
    return false;
  }
  const Expr& inner = *as<CallExpr>(*callee.object).callee;
  if (inner.kind != ExprKind::kField) {
    return false;
  }
  const auto& field = as<FieldExpr>(inner);
  const bool changes = mutating_names().contains(field.name) && !field.nil_safe;
  return changes && (is_lvalue(*field.object) || is_chained_change(field));
}

void FunctionCompiler::chained_change(const FieldExpr& callee, const std::vector<Arg>& args, Register dest) {
  LvaluePath path;
  const Register result = temporary();
  chain_to(callee, args, path, result);
  release_path(path);
  emit(Op::kTake, dest, result);
}

// Makes the calls of the chain from its start. The temporaries of the variable's path stay in place.
void FunctionCompiler::chain_to(const FieldExpr& callee, const std::vector<Arg>& args, LvaluePath& path,
                                Register dest) {
  if (is_lvalue(*callee.object)) {
    lvalue_path(*callee.object, path);
    check_change(*callee.object, path, callee.span);
    path.keeps = true;
    change(callee, args, path, dest);
    return;
  }
  const auto& inner = as<CallExpr>(*callee.object);
  const Register value = temporary();
  chain_to(as<FieldExpr>(*inner.callee), inner.args, path, value);
  const Register same = temporary();
  proto_->paths.push_back(path);
  emit(Op::kIsLvalue, same, value);
  emit_extra(static_cast<int32_t>(proto_->paths.size() - 1));
  const size_t other = emit_jump(Op::kJumpIfNot, same);
  emit(Op::kRelease, value);
  change(callee, args, path, dest);
  const size_t end = emit_jump(Op::kJump);
  patch(other);
  const Register window = temporary();
  emit(Op::kTake, window, value);
  const uint16_t count = arguments(args);
  span_ = callee.span;
  invoke(callee.name, args, window, count);
  emit(Op::kTake, dest, window);
  patch(end);
}

// The element that push(), insert() and set() store in a parameter.
void FunctionCompiler::check_stored_argument(const FieldExpr& callee, uint16_t count, Register window) {
  static const Symbol push = intern("push"), append = intern("append"), insert = intern("insert"),
                      set = intern("set");
  const bool is_first = callee.name == push || callee.name == append;
  if (is_first ? count == 1 : count == 2 && (callee.name == insert || callee.name == set)) {
    check_stored(*callee.object, static_cast<Register>(window + count));
  }
}

// Calls a method that changes the value in the lvalue itself.
void FunctionCompiler::change(const FieldExpr& callee, const std::vector<Arg>& args, LvaluePath path,
                              Register dest) {
  check_self_change(*callee.object, callee.name, callee.span);
  path.returns_receiver = std::exchange(stores_back_, false);
  const Register window = temporary();
  const uint16_t count = arguments(args);
  span_ = callee.span;
  check_stored_argument(callee, count, window);
  if (!simple_arguments(args)) {
    path.spec = call_spec(args);
  }
  proto_->paths.push_back(path);
  check_removal(callee, args, proto_->paths.size() - 1, static_cast<Register>(window + 1));
  static const Symbol push = intern("push"), append = intern("append");
  const bool is_push = (callee.name == push || callee.name == append) && count == 1 && path.spec < 0;
  if (is_push && path.root == LvaluePath::Root::kRegister && path.steps.empty()) {
    emit(Op::kPush, window, path.operand, cache(callee.name));
  } else {
    emit(Op::kInvokeLvalue, window, count, cache(callee.name));
  }
  emit_extra(static_cast<int32_t>(proto_->paths.size() - 1));
  note_shared_change(path);
  emit(Op::kTake, dest, window);
}

bool returns_receiver(Symbol method) {
  static const std::unordered_set<std::string> names = {"push", "append", "insert", "extend",   "set",
                                                        "fill", "swap",   "update", "truncate", "clear"};
  return names.contains(name_of(method));
}

namespace {

bool is_same_place(const Expr& a, const Expr& b) {
  if (a.kind != b.kind) {
    return false;
  }
  switch (a.kind) {
    case ExprKind::kSelf:
      return true;
    case ExprKind::kName:
      return as<NameExpr>(a).name == as<NameExpr>(b).name;
    case ExprKind::kField:
      return as<FieldExpr>(a).name == as<FieldExpr>(b).name && is_same_place(object_of(a), object_of(b));
    default:
      return false;
  }
}

}  // namespace

// `xs = xs.remove(1)`: upstream's method returns the collection, while ours returns the removed element. The
// assignment to the same variable shows which is meant.
bool FunctionCompiler::stores_back(const Expr& target, const Expr& value) const {
  static const Symbol remove = intern("remove");
  if (is_port() || value.kind != ExprKind::kCall || as<CallExpr>(value).callee->kind != ExprKind::kField) {
    return false;
  }
  const auto& callee = as<FieldExpr>(*as<CallExpr>(value).callee);
  return callee.name == remove && !callee.nil_safe && is_same_place(target, *callee.object);
}

// Whether the expression changes a collection in a variable of another scope, or in a field of an object.
bool FunctionCompiler::is_outer_change(const Expr& expr) {
  if (expr.kind != ExprKind::kCall || as<CallExpr>(expr).callee->kind != ExprKind::kField) {
    return false;
  }
  const auto& callee = as<FieldExpr>(*as<CallExpr>(expr).callee);
  if (callee.nil_safe || !returns_receiver(callee.name) || !is_lvalue(*callee.object)) {
    return false;
  }
  const Expr& root = root_of(*callee.object);
  return root.kind != ExprKind::kName || find_local(as<NameExpr>(root).name) == nullptr;
}

// Makes the change; the value is nil if it is the collection itself.
void FunctionCompiler::effect_value_to(const CallExpr& call, Register dest) {
  const uint32_t mark = temporary_count_;
  const bool is_result = std::exchange(is_result_, false);
  const auto& callee = as<FieldExpr>(*call.callee);
  LvaluePath path;
  lvalue_path(*callee.object, path);
  check_change(*callee.object, path, callee.span);
  path.keeps = true;
  const Register result = temporary();
  change(callee, call.args, path, result);
  const Register same = temporary();
  proto_->paths.push_back(path);
  emit(Op::kIsLvalue, same, result);
  emit_extra(static_cast<int32_t>(proto_->paths.size() - 1));
  const size_t other = emit_jump(Op::kJumpIfNot, same);
  emit(Op::kLoadNil, result);
  patch(other);
  release_path(path);
  emit(Op::kTake, dest, result);
  is_result_ = is_result;
  temporary_count_ = mark;
}

void FunctionCompiler::release_path(const LvaluePath& path) {
  if (path.root == LvaluePath::Root::kValue) {
    emit(Op::kRelease, path.operand);
  }
  for (const auto& step : path.steps) {
    if (step.form == LvaluePath::Step::Form::kIndex) {
      emit(Op::kRelease, step.operand);
    }
  }
}

}  // namespace spl
