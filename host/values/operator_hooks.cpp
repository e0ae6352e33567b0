#include "host/values/operator_hooks.h"

#include <array>

namespace spl {

namespace {

const auto& hook_table() {
  static const OperatorHooks table[] = {
      {"+", intern("__add__"), intern("__radd__"), intern("__iadd__"), BinaryOp::kAdd, intern("add_scalar")},
      {"-", intern("__sub__"), intern("__rsub__"), intern("__isub__"), BinaryOp::kSubtract,
       intern("sub_scalar")},
      {"*", intern("__mul__"), intern("__rmul__"), intern("__imul__"), BinaryOp::kMultiply,
       intern("mul_scalar")},
      {"/", intern("__div__"), intern("__rdiv__"), intern("__idiv__"), BinaryOp::kDivide,
       intern("div_scalar")},
      {"%", intern("__mod__"), intern("__rmod__"), intern("__imod__"), BinaryOp::kRemainder},
      {"//", intern("__floordiv__"), intern("__rfloordiv__"), intern("__ifloordiv__"),
       BinaryOp::kFloorDivide},
      {"**", intern("__pow__"), intern("__rpow__"), intern("__ipow__"), BinaryOp::kPower},
      {"@", intern("__matmul__"), intern("__rmatmul__"), intern("__imatmul__"), BinaryOp::kMatmul},
      {"==", intern("__eq__"), intern("__eq__"), kNoSymbol, BinaryOp::kEqual},
      {"!=", intern("__ne__"), intern("__ne__"), kNoSymbol, BinaryOp::kNotEqual},
      {"<", intern("__lt__"), intern("__gt__"), kNoSymbol, BinaryOp::kLess},
      {">", intern("__gt__"), intern("__lt__"), kNoSymbol, BinaryOp::kGreater},
      {"<=", intern("__le__"), intern("__ge__"), kNoSymbol, BinaryOp::kLessEqual},
      {">=", intern("__ge__"), intern("__le__"), kNoSymbol, BinaryOp::kGreaterEqual},
      {"<<", intern("__lshift__"), intern("__rlshift__"), intern("__ilshift__"), BinaryOp::kShiftLeft},
      {">>", intern("__rshift__"), intern("__rrshift__"), intern("__irshift__"), BinaryOp::kShiftRight},
      {"&", intern("__and__"), intern("__rand__"), intern("__iand__"), BinaryOp::kBitAnd},
      {"|", intern("__or__"), intern("__ror__"), intern("__ior__"), BinaryOp::kBitOr},
      {"xor", intern("__xor__"), intern("__rxor__"), intern("__ixor__"), BinaryOp::kBitXor},
  };
  return table;
}

}  // namespace

const OperatorHooks* hooks_of(BinaryOp op) {
  constexpr size_t kOperators = static_cast<size_t>(BinaryOp::kCoalesce) + 1;
  static const auto by_operator = [] {
    std::array<const OperatorHooks*, kOperators> found{};
    for (const OperatorHooks& hooks : hook_table()) {
      found[static_cast<size_t>(hooks.op)] = &hooks;
    }
    return found;
  }();
  return by_operator[static_cast<size_t>(op)];
}

Symbol inplace_hook(BinaryOp op) {
  const OperatorHooks* hooks = hooks_of(op);
  return hooks == nullptr ? kNoSymbol : hooks->inplace;
}

const BinaryOp* operator_of_hook(Symbol method) {
  for (const OperatorHooks& hooks : hook_table()) {
    if (hooks.left == method) {
      return &hooks.op;
    }
  }
  return nullptr;
}

}  // namespace spl
