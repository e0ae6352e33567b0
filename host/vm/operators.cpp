// Operators outside the fast paths of the interpreter: mixed operands, text, arrays, and hooks of classes.
#include <algorithm>

#include "host/values/arithmetic.h"
#include "host/values/conversions.h"
#include "host/values/operator_hooks.h"
#include "host/values/sized.h"
#include "host/vm/machine_hooks.h"
#include "host/vm/patterns.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

bool is_comparison(BinaryOp op) {
  return op == BinaryOp::kLess || op == BinaryOp::kGreater || op == BinaryOp::kLessEqual ||
         op == BinaryOp::kGreaterEqual || op == BinaryOp::kEqual || op == BinaryOp::kNotEqual;
}

// The result of an operator method; missing without one.
Value by_hooks(Thread& thread, const OperatorHooks& hooks, Value a, Value b) {
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
      // A class with only __eq__ defines != too.
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

std::string repeated_text(const std::string& text, int64_t times) {
  if (!text.empty() && times > (INT64_C(1) << 32) / static_cast<int64_t>(text.size())) {
    fail("text is too long");
  }
  const size_t length = text.size() * static_cast<size_t>(times);
  std::string result;
  result.reserve(length);
  if (length != 0) {
    result += text;
  }
  while (result.size() < length) {  // each step doubles what is there
    result.append(result, 0, std::min(result.size(), length - result.size()));
  }
  return result;
}

Value repeated(Value v, int64_t times) {
  times = times < 0 ? 0 : times;
  if (v.is(Kind::kText)) {
    return make_text(repeated_text(text_of(v), times));
  }
  const Elements& items = *sequence_items(v);
  if (!items.empty() && times > (INT64_C(1) << 31) / static_cast<int64_t>(items.size())) {
    fail("array is too long");
  }
  if (items.size() == 1 && v.is(Kind::kArray)) {
    auto* repeated = new Array();
    repeated->items.fill_with(items[0], static_cast<size_t>(times));
    return Value::object(repeated);
  }
  std::vector<Value> result;
  result.reserve(items.size() * static_cast<size_t>(times));
  for (int64_t i = 0; i < times; ++i) {
    for (const Value item : items) {
      result.push_back(retained(item));
    }
  }
  return v.is(Kind::kTuple) ? make_tuple(std::move(result)) : make_array(std::move(result));
}

bool can_repeat(Value v) { return v.is(Kind::kText) || sequence_items(v) != nullptr; }

std::vector<Value> joined(const Elements& a, const Elements& b) {
  std::vector<Value> items;
  items.reserve(a.size() + b.size());
  for (const Value item : a) {
    items.push_back(retained(item));
  }
  for (const Value item : b) {
    items.push_back(retained(item));
  }
  return items;
}

bool can_compose(Value v) {
  return v.is(Kind::kClosure) || v.is(Kind::kNative) || v.is(Kind::kExtern) || v.is(Kind::kBoundMethod);
}

// args: a tuple of the two functions, then the argument.
Value call_composed(Thread& thread, Value* args, int) {
  const auto& functions = as_object<Tuple>(args[0])->items;
  const Ref middle = Ref::owned(thread.call(functions[0], args + 1, 1));
  const Value argument = middle.get();
  return thread.call(functions[1], &argument, 1);
}

// `f >> g`: a function that returns g(f(x)).
Value composed(Value first, Value second) {
  static Native* const composition = new Native("a composed function", call_composed, 2, 2);
  const Value both = make_tuple({retained(first), retained(second)});
  return Value::object(new BoundMethod(both, retained(Value::object(composition))));
}

}  // namespace

namespace {

bool is_sum_or_product(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSubtract:
    case BinaryOp::kMultiply:
    case BinaryOp::kDivide:
    case BinaryOp::kFloorDivide:
    case BinaryOp::kRemainder:
    case BinaryOp::kPower:
      return true;
    default:
      return false;
  }
}

}  // namespace

Value Thread::arithmetic(BinaryOp op, Value a, Value b) {
  if (a.is_number() && b.is_number() && !is_comparison(op)) {
    if (a.is_int() && b.is_int() && wraps(op, a.as_int, b.as_int)) [[unlikely]] {
      note_wrap();
    }
    if (const Value result = number_arithmetic(op, a, b); !result.is_missing()) {
      return result;
    }
  }
  if ((a.is_sized() || b.is_sized()) && is_any_number(a) && is_any_number(b) && !is_comparison(op) &&
      op != BinaryOp::kMatmul) {
    if (const Value result = sized_arithmetic(op, a, b); !result.is_missing()) {
      return result;
    }
  }
  if (a.is(Kind::kInstance) && as_object<Instance>(a)->record->direct != nullptr) {
    if (const Value result = machine_hooks().direct_operation(op, a, b); !result.is_missing()) {
      return result;
    }
  }
  if (op == BinaryOp::kRemainder && a.is(Kind::kText)) {
    return make_text(percent_format(text_of(a), b));
  }
  const OperatorHooks* hooks = hooks_of(op);
  if (hooks != nullptr && (a.is_object() || b.is_object())) {
    const Value result = by_hooks(*this, *hooks, a, b);
    if (!result.is_missing()) {
      return result;
    }
  }
  if (is_comparison(op)) {
    return compared(*this, op, a, b);
  }
  if (op == BinaryOp::kShiftRight && can_compose(a) && can_compose(b)) {
    return composed(a, b);
  }
  if (op == BinaryOp::kAdd) {
    if (a.is(Kind::kText) || b.is(Kind::kText)) {
      return make_text(display(a) + display(b));
    }
    const auto *left = sequence_items(a), *right = sequence_items(b);
    if (left != nullptr && right != nullptr) {  // sizes are arrays, so that `x.shape + (1,)` is one
      const bool are_tuples = a.is(Kind::kTuple) && b.is(Kind::kTuple);
      return are_tuples ? make_tuple(joined(*left, *right)) : make_array(joined(*left, *right));
    }
  }
  if (op == BinaryOp::kMultiply) {
    if (can_repeat(a) && is_any_integer(b)) {
      return repeated(a, b.as_int);
    }
    if (can_repeat(b) && is_any_integer(a)) {
      return repeated(b, a.as_int);
    }
  }
  if (op == BinaryOp::kBitOr && a.is(Kind::kDict) && b.is(Kind::kDict)) {
    static const Symbol merge = intern("merge");
    return call_method(a, merge, &b, 1);
  }
  const bool bools =
      (a.is_bool() || b.is_bool()) && (a.is_bool() || is_any_number(a)) && (b.is_bool() || is_any_number(b));
  if (bools && is_sum_or_product(op)) {  // true is 1, as in Python
    return arithmetic(op, a.is_bool() ? Value::integer(a.as_bool ? 1 : 0) : a,
                      b.is_bool() ? Value::integer(b.as_bool ? 1 : 0) : b);
  }
  if ((op == BinaryOp::kBitAnd || op == BinaryOp::kBitOr || op == BinaryOp::kBitXor) && a.is_bool() &&
      b.is_bool()) {
    return Value::boolean(op == BinaryOp::kBitAnd  ? a.as_bool && b.as_bool
                          : op == BinaryOp::kBitOr ? a.as_bool || b.as_bool
                                                   : a.as_bool != b.as_bool);
  }
  fail("cannot apply " + std::string(hooks == nullptr ? "this operator" : hooks->sign) + " to " +
           type_name(a) + " and " + type_name(b),
       a.is_nil() || b.is_nil() ? missing_key_hint() : "");
}

// A value of another language as one of the built-in type; other values unchanged.
Ref Thread::as_builtin(Value item, const char* type) {
  Value converted = retained(item);
  if (item.is(Kind::kInstance)) {
    const Ref name = Ref::owned(make_text(type));
    convert_as_declared(converted, name.get());
  }
  return Ref::owned(converted);
}

bool Thread::contains(Value container, Value item) {
  if (container.is_object()) {
    switch (container.as_object->kind) {
      case Kind::kText:
        if (item.is(Kind::kText)) {
          return text_of(container).find(text_of(item)) != std::string::npos;
        }
        return text_of(container).find(
                   expect_text(as_builtin(item, "text").get(), "the left operand of `in` in a text")) !=
               std::string::npos;
      case Kind::kArray:
        for (const Value v : as_object<Array>(container)->items) {
          if (are_one_key(v, item)) {
            return true;
          }
        }
        return false;
      case Kind::kTuple:
        for (const Value v : as_object<Tuple>(container)->items) {
          if (are_one_key(v, item)) {
            return true;
          }
        }
        return false;
      case Kind::kDict:
        return as_object<Dict>(container)->find(item) != nullptr;
      case Kind::kRange: {
        const auto* range = as_object<Range>(container);
        const Ref number = as_builtin(item, "f64");
        if (!is_any_number(number.get())) {
          return false;
        }
        const double at = number_as_double(number.get());
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
        if (iterator_method(container) == nullptr) {
          break;
        }
        bool is_found = false;
        each(container, [&](Value v) {
          is_found = are_one_key(v, item);
          return !is_found;
        });
        return is_found;
      }
      default:
        break;
    }
  }
  fail("`in` is not supported for " + type_name(container));
}

}  // namespace spl
