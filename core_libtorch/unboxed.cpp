#include "core_libtorch/unboxed.h"

#include <ATen/core/jit_type.h>

#include <algorithm>

#include "core_libtorch/crash_guards.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/skip_autograd.h"

namespace simple_torch::core {
namespace {

using Unary = at::Tensor(const at::Tensor&);
using Binary = at::Tensor(const at::Tensor&, const at::Tensor&);
using Scaled = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Scalar&);

bool is(const c10::Argument& argument, c10::TypeKind kind) { return argument.type()->kind() == kind; }

bool writes(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool has_crash_guard(const c10::FunctionSchema& schema) {
  return std::any_of(kCrashGuards.begin(), kCrashGuards.end(),
                     [&](const CrashGuard& guard) { return schema.name() == guard.op; });
}

Signature by_schema(const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  const bool is_pure = std::none_of(arguments.begin(), arguments.end(), writes) &&
                       schema.returns().size() == 1 && is(schema.returns()[0], c10::TypeKind::TensorType) &&
                       !has_crash_guard(schema);
  if (!is_pure || arguments.empty() || arguments.size() > 3) {
    return Signature::kOther;
  }
  if (!is(arguments[0], c10::TypeKind::TensorType)) {
    return Signature::kOther;
  }
  if (arguments.size() == 1) {
    return Signature::kTensor;
  }
  if (!is(arguments[1], c10::TypeKind::TensorType)) {
    return Signature::kOther;
  }
  if (arguments.size() == 2) {
    return Signature::kTensors;
  }
  const auto& last = arguments[2];
  const bool is_one = is(last, c10::TypeKind::NumberType) && last.default_value() &&
                      last.default_value()->isInt() && last.default_value()->toInt() == 1;
  return is_one ? Signature::kTensorsAndOne : Signature::kOther;
}

// Kernels without a C++ signature, as Python registers them, can only be called boxed.
template <class Function>
Signature if_typed(const c10::OperatorHandle& op, Signature signature) {
  try {
    op.typed<Function>();
    return signature;
  } catch (const c10::Error&) {
    return Signature::kOther;
  }
}

Signature signature_of(const c10::OperatorHandle& op) {
  const Signature signature = by_schema(op.schema());
  switch (signature) {
    case Signature::kTensor:
      return if_typed<Unary>(op, signature);
    case Signature::kTensors:
      return if_typed<Binary>(op, signature);
    case Signature::kTensorsAndOne:
      return if_typed<Scaled>(op, signature);
    case Signature::kOther:
      break;
  }
  return Signature::kOther;
}

template <class Call>
at::Tensor call_with_context(const UnboxedOperator& unboxed,
                             std::initializer_list<const at::Tensor*> operands, Call&& call) {
  return with_error_context(unboxed.op->operator_name().name.c_str(), operands, [&] {
    if (!unboxed.skips_autograd) {
      return call();
    }
    const SkipAutogradGuard shortcut(operands);
    return call();
  });
}

}  // namespace

// The operator must have a kernel that is not composed of other operators, and its result must be a new
// tensor, not a view. Other namespaces are excluded: they may implement the operator itself in autograd's
// layer.
bool can_skip_autograd(const c10::OperatorHandle& op) {
  const auto& arguments = op.schema().arguments();
  return op.schema().name().starts_with("aten::") &&
         !op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
         std::none_of(arguments.begin(), arguments.end(),
                      [](const c10::Argument& argument) { return argument.alias_info() != nullptr; });
}

UnboxedOperator unboxed_operator(const c10::OperatorHandle& op) {
  return {&op, signature_of(op), can_skip_autograd(op)};
}

at::Tensor call_unboxed(const UnboxedOperator& unboxed, const at::Tensor& a, const at::Tensor* b) {
  static const at::Scalar one = 1;
  const c10::OperatorHandle& op = *unboxed.op;
  switch (unboxed.signature) {
    case Signature::kTensor:
      return call_with_context(unboxed, {&a}, [&] { return op.typed<Unary>().call(a); });
    case Signature::kTensors:
      return call_with_context(unboxed, {&a, b}, [&] { return op.typed<Binary>().call(a, *b); });
    default:
      return call_with_context(unboxed, {&a, b}, [&] { return op.typed<Scaled>().call(a, *b, one); });
  }
}

}  // namespace simple_torch::core
