// Calls and the places that mutating methods and assignments work on.
#include "host/compiler/compiler.h"

namespace spl {

std::unordered_set<Symbol>& mutating_names() {
  static std::unordered_set<Symbol> names = [] {
    std::unordered_set<Symbol> made;
    for (const char* name :
         {"push", "append", "pop", "insert", "remove", "remove_at", "clear", "sort", "sort_by", "reverse",
          "extend", "set", "update", "fill", "swap", "truncate", "shuffle"}) {
      made.insert(intern(name));
    }
    return made;
  }();
  return names;
}

bool FunctionCompiler::simple_arguments(const std::vector<Arg>& args) const {
  for (const Arg& arg : args) {
    if (arg.kind != ArgKind::kPositional) {
      return false;
    }
  }
  return true;
}

uint16_t FunctionCompiler::arguments(const std::vector<Arg>& args, bool moves) {
  for (const Arg& arg : args) {
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

void FunctionCompiler::call_to(const CallExpr& expr, Register dest) {
  const Expr* callee = expr.callee.get();
  while (callee->kind == ExprKind::kTypeApply) {
    callee = as<TypeApplyExpr>(*callee).object.get();
  }
  if (callee->kind == ExprKind::kField) {
    method_call(as<FieldExpr>(*callee), expr.args, dest);
    return;
  }
  if (is_expectation(expr)) {
    expectation_to(expr, dest);
    return;
  }
  const Register window = temporary_of(*callee);
  const uint16_t count = arguments(expr.args, !names_builtin(*callee));
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

void FunctionCompiler::method_call(const FieldExpr& callee, const std::vector<Arg>& args, Register dest) {
  const SourceSpan span = callee.span;
  const bool simple = simple_arguments(args);
  if (mutating_names().contains(callee.name) && is_place(*callee.object) && !callee.nil_safe) {
    Path path;
    place_path(*callee.object, path, true);
    const Register window = temporary();
    const uint16_t count = arguments(args);
    span_ = span;
    if (!simple) {
      path.spec = call_spec(args);
    }
    proto_->paths.push_back(std::move(path));
    emit(Op::kInvokePlace, window, count, cache(callee.name));
    emit_extra(static_cast<int32_t>(proto_->paths.size() - 1));
    emit(Op::kTake, dest, window);
    return;
  }
  const Register window = temporary_of(*callee.object);
  size_t nil = 0;
  if (callee.nil_safe) {
    nil = jump_if_nothing(window);
  }
  const uint16_t count = arguments(args);
  span_ = span;
  if (simple) {
    emit(Op::kInvoke, window, count, cache(callee.name));
  } else {
    const uint16_t spec = call_spec(args);
    emit(Op::kInvokeSpec, window, count, cache(callee.name));
    emit_extra(spec);
  }
  emit(Op::kTake, dest, window);
  if (callee.nil_safe) {
    const size_t end = emit_jump(Op::kJump);
    patch(nil);
    emit(Op::kLoadNil, dest);
    patch(end);
  }
}

// t->m(a): the method's result takes the place of t.
void FunctionCompiler::update_call(const UpdateCallExpr& expr, Register dest) {
  const Register window = temporary_of(*expr.target);
  const uint16_t count = arguments(expr.args);
  span_ = expr.span;
  if (simple_arguments(expr.args)) {
    emit(Op::kInvoke, window, count, cache(expr.method));
  } else {
    const uint16_t spec = call_spec(expr.args);
    emit(Op::kInvokeSpec, window, count, cache(expr.method));
    emit_extra(spec);
  }
  const Register kept = temporary();
  emit(Op::kMove, kept, window);
  assign_to(*expr.target, window);
  emit(Op::kTake, dest, kept);
}

bool FunctionCompiler::is_place(const Expr& expr) const {
  switch (expr.kind) {
    case ExprKind::kName:
    case ExprKind::kSelf:
      return true;
    case ExprKind::kField:
      return !as<FieldExpr>(expr).nil_safe && is_place(*as<FieldExpr>(expr).object);
    case ExprKind::kTupleField:
      return is_place(*as<TupleFieldExpr>(expr).object);
    case ExprKind::kIndex: {
      const auto& index = as<IndexExpr>(expr);
      return index.subscripts.size() == 1 && index.subscripts[0]->kind != ExprKind::kSlice &&
             is_place(*index.object);
    }
    default:
      return false;
  }
}

// A name that nothing defines is read where it stands, so that the error points at it.
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

// False: the root is a value of its own, kept in a temporary. Subscripts stay in temporaries.
bool FunctionCompiler::place_path(const Expr& expr, Path& path, bool evaluate) {
  switch (expr.kind) {
    case ExprKind::kSelf:
    case ExprKind::kName: {
      const Symbol symbol = expr.kind == ExprKind::kSelf ? intern("self") : as<NameExpr>(expr).name;
      const Name name = resolve(symbol);
      path.operand = name.operand;
      switch (name.form) {
        case Name::Form::kLocal:
          path.root = Path::Root::kRegister;
          return true;
        case Name::Form::kLocalCell:
          path.root = Path::Root::kCell;
          return true;
        case Name::Form::kCapturedCell:
          path.root = Path::Root::kCapturedCell;
          return true;
        case Name::Form::kGlobal:
          check_known(symbol, expr.span);
          path.root = Path::Root::kGlobal;
          return true;
        case Name::Form::kField:
          place_path(SelfExpr(), path, evaluate);
          path.steps.push_back({Path::Step::Form::kField, symbol});
          return true;
        case Name::Form::kStatic:
          path.root = Path::Root::kGlobal;
          path.operand = module_.slot(owner_name());
          path.steps.push_back({Path::Step::Form::kField, symbol});
          return true;
        default:
          break;
      }
      path.root = Path::Root::kValue;
      const Register held = temporary();
      read(name, held);
      path.operand = held;
      return false;
    }
    case ExprKind::kField: {
      const auto& field = as<FieldExpr>(expr);
      const bool place = place_path(*field.object, path, evaluate);
      path.steps.push_back({Path::Step::Form::kField, field.name});
      return place;
    }
    case ExprKind::kTupleField: {
      const auto& field = as<TupleFieldExpr>(expr);
      const bool place = place_path(*field.object, path, evaluate);
      path.steps.push_back({Path::Step::Form::kTupleField, static_cast<uint32_t>(field.index)});
      return place;
    }
    case ExprKind::kIndex: {
      const auto& index = as<IndexExpr>(expr);
      const bool place = place_path(*index.object, path, evaluate);
      const Register subscript = temporary();
      subscript_to(index, subscript);
      path.steps.push_back({Path::Step::Form::kIndex, subscript});
      return place;
    }
    default: {
      path.root = Path::Root::kValue;
      path.operand = temporary_of(expr);
      return false;
    }
  }
}

}  // namespace spl
