// Operators beyond the machine's fast paths: mixed operands, text, arrays, and the hooks of classes.
#include <cmath>

#include "host/builtins/builtins.h"
#include "host/values/sized.h"
#include "host/vm/direct.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

struct Hooks {
  const char* sign;
  Symbol left, right, inplace;
  BinaryOp op;
  Symbol scalar = kNoSymbol;  // tried before the others where the right operand is a number
};

const auto& hook_table() {
  static const Hooks table[] = {
      {"+", intern("__add__"), intern("__radd__"), intern("__iadd__"), BinaryOp::kAdd, intern("add_scalar")},
      {"-", intern("__sub__"), intern("__rsub__"), intern("__isub__"), BinaryOp::kSubtract,
       intern("sub_scalar")},
      {"*", intern("__mul__"), intern("__rmul__"), intern("__imul__"), BinaryOp::kMultiply,
       intern("mul_scalar")},
      {"/", intern("__div__"), intern("__rdiv__"), intern("__idiv__"), BinaryOp::kDivide,
       intern("div_scalar")},
      {"%", intern("__mod__"), intern("__rmod__"), intern("__imod__"), BinaryOp::kRemainder},
      {"**", intern("__pow__"), intern("__rpow__"), intern("__ipow__"), BinaryOp::kPower},
      {"@", intern("__matmul__"), intern("__rmatmul__"), intern("__imatmul__"), BinaryOp::kMatmul},
      {"==", intern("__eq__"), intern("__eq__"), kNoSymbol, BinaryOp::kEqual},
      {"!=", intern("__ne__"), intern("__ne__"), kNoSymbol, BinaryOp::kNotEqual},
      {"<", intern("__lt__"), intern("__gt__"), kNoSymbol, BinaryOp::kLess},
      {">", intern("__gt__"), intern("__lt__"), kNoSymbol, BinaryOp::kGreater},
      {"<=", intern("__le__"), intern("__ge__"), kNoSymbol, BinaryOp::kLessEqual},
      {">=", intern("__ge__"), intern("__le__"), kNoSymbol, BinaryOp::kGreaterEqual},
      {"<<", intern("__lshift__"), kNoSymbol, kNoSymbol, BinaryOp::kShiftLeft},
      {">>", intern("__rshift__"), kNoSymbol, kNoSymbol, BinaryOp::kShiftRight},
      {"&", intern("__and__"), intern("__rand__"), kNoSymbol, BinaryOp::kBitAnd},
      {"|", intern("__or__"), intern("__ror__"), kNoSymbol, BinaryOp::kBitOr},
      {"xor", intern("__xor__"), intern("__rxor__"), kNoSymbol, BinaryOp::kBitXor},
  };
  return table;
}

const Hooks* hooks_of(BinaryOp op) {
  for (const Hooks& hooks : hook_table()) {
    if (hooks.op == op) {
      return &hooks;
    }
  }
  return nullptr;
}

bool is_comparison(BinaryOp op) {
  return op == BinaryOp::kLess || op == BinaryOp::kGreater || op == BinaryOp::kLessEqual ||
         op == BinaryOp::kGreaterEqual || op == BinaryOp::kEqual || op == BinaryOp::kNotEqual;
}

int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    fail("negative exponent of an integer power; use a float");
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) {
      result *= factor;
    }
    factor *= factor;
  }
  return static_cast<int64_t>(result);
}

Value integers(BinaryOp op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
    case BinaryOp::kAdd:
      return Value::integer(static_cast<int64_t>(x + y));
    case BinaryOp::kSubtract:
      return Value::integer(static_cast<int64_t>(x - y));
    case BinaryOp::kMultiply:
      return Value::integer(static_cast<int64_t>(x * y));
    case BinaryOp::kDivide:
      if (b == 0) {
        fail("division by zero");
      }
      return b == -1 ? Value::integer(static_cast<int64_t>(0 - x)) : Value::integer(a / b);
    case BinaryOp::kRemainder:
      if (b == 0) {
        fail("remainder by zero");
      }
      return Value::integer(b == -1 ? 0 : a % b);
    case BinaryOp::kPower:
      return Value::integer(integer_power(a, b));
    case BinaryOp::kShiftLeft:
      if (b < 0) {
        fail("negative shift count");
      }
      return Value::integer(b > 63 ? 0 : static_cast<int64_t>(x << b));
    case BinaryOp::kShiftRight:
      if (b < 0) {
        fail("negative shift count");
      }
      return Value::integer(a >> (b > 63 ? 63 : b));
    case BinaryOp::kBitAnd:
      return Value::integer(a & b);
    case BinaryOp::kBitOr:
      return Value::integer(a | b);
    case BinaryOp::kBitXor:
      return Value::integer(a ^ b);
    default:
      return Value::missing();
  }
}

Value floats(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return Value::number(a + b);
    case BinaryOp::kSubtract:
      return Value::number(a - b);
    case BinaryOp::kMultiply:
      return Value::number(a * b);
    case BinaryOp::kDivide:
      return Value::number(a / b);
    case BinaryOp::kRemainder:
      if (b == 0) {
        fail("remainder by zero");
      }
      return Value::number(std::fmod(a, b));
    case BinaryOp::kPower:
      return Value::number(std::pow(a, b));
    default:
      return Value::missing();
  }
}

// Missing: no method for it.
Value by_hooks(Thread& thread, const Hooks& hooks, Value a, Value b) {
  if (hooks.scalar != kNoSymbol && is_any_number(b)) {
    if (const Method* method = thread.find_method(a, hooks.scalar)) {
      return thread.call_method_of(a, *method, &b, 1);
    }
  }
  if (const Method* method = thread.find_method(a, hooks.left)) {
    return thread.call_method_of(a, *method, &b, 1);
  }
  if (hooks.right != kNoSymbol) {
    if (const Method* method = thread.find_method(b, hooks.right)) {
      return thread.call_method_of(b, *method, &a, 1);
    }
  }
  return Value::missing();
}

Value compared(Thread& thread, BinaryOp op, Value a, Value b) {
  switch (op) {
    case BinaryOp::kEqual:
      return Value::boolean(equals(a, b));
    case BinaryOp::kNotEqual: {
      // A class that says only when it is equal says also when it is not.
      const Value equal = thread.arithmetic(BinaryOp::kEqual, a, b);
      const Ref held = Ref::owned(equal);
      return Value::boolean(!truthy(equal));
    }
    default:
      break;
  }
  if (a.is(Kind::kInstance) || b.is(Kind::kInstance)) {
    fail("cannot order " + type_name(a) + " and " + type_name(b));
  }
  const int order = compare(a, b);
  switch (op) {
    case BinaryOp::kLess:
      return Value::boolean(order < 0);
    case BinaryOp::kGreater:
      return Value::boolean(order > 0);
    case BinaryOp::kLessEqual:
      return Value::boolean(order <= 0);
    default:
      return Value::boolean(order >= 0);
  }
}

Value repeated(Value v, int64_t times) {
  times = times < 0 ? 0 : times;
  if (v.is(Kind::kText)) {
    const std::string& text = text_of(v);
    if (!text.empty() && times > (INT64_C(1) << 32) / static_cast<int64_t>(text.size())) {
      fail("text is too long");
    }
    std::string result;
    result.reserve(text.size() * static_cast<size_t>(times));
    for (int64_t i = 0; i < times; ++i) {
      result += text;
    }
    return make_text(std::move(result));
  }
  const auto& items = as_object<Array>(v)->items;
  if (!items.empty() && times > (INT64_C(1) << 31) / static_cast<int64_t>(items.size())) {
    fail("array is too long");
  }
  std::vector<Value> result;
  result.reserve(items.size() * static_cast<size_t>(times));
  for (int64_t i = 0; i < times; ++i) {
    for (const Value item : items) {
      result.push_back(retained(item));
    }
  }
  return make_array(std::move(result));
}

Value joined(const std::vector<Value>& a, const std::vector<Value>& b) {
  std::vector<Value> items;
  items.reserve(a.size() + b.size());
  for (const Value item : a) {
    items.push_back(retained(item));
  }
  for (const Value item : b) {
    items.push_back(retained(item));
  }
  return make_array(std::move(items));
}

}  // namespace

Symbol inplace_hook(BinaryOp op) {
  const Hooks* hooks = hooks_of(op);
  return hooks == nullptr ? kNoSymbol : hooks->inplace;
}

const BinaryOp* operator_of_hook(Symbol method) {
  for (const Hooks& hooks : hook_table()) {
    if (hooks.left == method) {
      return &hooks.op;
    }
  }
  return nullptr;
}

namespace {

bool is_function(Value v) {
  return v.is(Kind::kClosure) || v.is(Kind::kNative) || v.is(Kind::kExtern) || v.is(Kind::kBoundMethod);
}

// args: the two functions as a tuple, then the argument of the first.
Value call_composed(Thread& thread, Value* args, int) {
  const auto& functions = as_object<Tuple>(args[0])->items;
  const Ref middle = Ref::owned(thread.call(functions[0], args + 1, 1));
  const Value argument = middle.get();
  return thread.call(functions[1], &argument, 1);
}

// `f >> g`: a function of one argument that gives g(f(x)).
Value composed(Value first, Value second) {
  static Native* const composition = new Native("a composed function", call_composed, 2, 2);
  const Value both = make_tuple({retained(first), retained(second)});
  return Value::object(new BoundMethod(both, retained(Value::object(composition))));
}

}  // namespace

Value Thread::arithmetic(BinaryOp op, Value a, Value b) {
  if (a.is_number() && b.is_number() && !is_comparison(op)) {
    const Value result = a.is_int() && b.is_int() ? integers(op, a.as_int, b.as_int)
                                                  : floats(op, a.to_double(), b.to_double());
    if (!result.is_missing()) {
      return result;
    }
  }
  if ((a.is_sized() || b.is_sized()) && is_any_number(a) && is_any_number(b) && !is_comparison(op) &&
      op != BinaryOp::kMatmul) {
    return sized_arithmetic(op, a, b);
  }
  if (a.is(Kind::kInstance) && as_object<Instance>(a)->record->direct != nullptr) {
    if (const Value result = direct_operation(op, a, b); !result.is_missing()) {
      return result;
    }
  }
  const Hooks* hooks = hooks_of(op);
  if (hooks != nullptr && (a.is_object() || b.is_object())) {
    const Value result = by_hooks(*this, *hooks, a, b);
    if (!result.is_missing()) {
      return result;
    }
  }
  if (is_comparison(op)) {
    return compared(*this, op, a, b);
  }
  if (op == BinaryOp::kShiftRight && is_function(a) && is_function(b)) {
    return composed(a, b);
  }
  if (op == BinaryOp::kAdd) {
    if (a.is(Kind::kText) || b.is(Kind::kText)) {
      return make_text(display(a) + display(b));
    }
    if (a.is(Kind::kArray) && b.is(Kind::kArray)) {
      return joined(as_object<Array>(a)->items, as_object<Array>(b)->items);
    }
  }
  if (op == BinaryOp::kMultiply) {
    if ((a.is(Kind::kText) || a.is(Kind::kArray)) && is_any_integer(b)) {
      return repeated(a, b.as_int);
    }
    if ((b.is(Kind::kText) || b.is(Kind::kArray)) && is_any_integer(a)) {
      return repeated(b, a.as_int);
    }
  }
  if ((op == BinaryOp::kBitAnd || op == BinaryOp::kBitOr || op == BinaryOp::kBitXor) && a.is_bool() &&
      b.is_bool()) {
    return Value::boolean(op == BinaryOp::kBitAnd  ? a.as_bool && b.as_bool
                          : op == BinaryOp::kBitOr ? a.as_bool || b.as_bool
                                                   : a.as_bool != b.as_bool);
  }
  fail("cannot apply " + std::string(hooks == nullptr ? "this operator" : hooks->sign) + " to " +
       type_name(a) + " and " + type_name(b));
}

bool Thread::contains(Value container, Value item) {
  if (container.is_object()) {
    switch (container.as_object->kind) {
      case Kind::kText:
        return text_of(container).find(expect_text(item, "the left operand of `in` in a text")) != std::string::npos;
      case Kind::kArray:
        for (const Value v : as_object<Array>(container)->items) {
          if (equals(v, item)) {
            return true;
          }
        }
        return false;
      case Kind::kTuple:
        for (const Value v : as_object<Tuple>(container)->items) {
          if (equals(v, item)) {
            return true;
          }
        }
        return false;
      case Kind::kDict:
        return as_object<Dict>(container)->find(item) != nullptr;
      case Kind::kRange: {
        const auto* range = as_object<Range>(container);
        if (!is_any_number(item)) {
          return false;
        }
        const double at = number_as_double(item);
        if (range->start.is_int() && at < static_cast<double>(range->start.as_int)) {
          return false;
        }
        if (!range->end.is_int()) {
          return true;
        }
        return range->inclusive ? at <= static_cast<double>(range->end.as_int)
                                : at < static_cast<double>(range->end.as_int);
      }
      case Kind::kInstance: {
        static const Symbol hook = intern("__contains__");
        if (const Method* method = find_method(container, hook)) {
          const Ref result = Ref::owned(call_method_of(container, *method, &item, 1));
          return truthy(result.get());
        }
        break;
      }
      default:
        break;
    }
  }
  fail("`in` is not supported for " + type_name(container));
}

}  // namespace spl
