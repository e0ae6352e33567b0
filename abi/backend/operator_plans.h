// The plan of an operator's call: the overload and how each argument is made, for values of known types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/backend/operator_values.h"
#include "abi/backend/typed_calls.h"
#include "core_libtorch/operators.h"
#include "simple_torch/spl_runtime.h"

namespace simple_torch::abi {

/// How an argument of the operator is made at each call.
enum class Conversion : uint8_t {
  kConstant,  // the default, nil, or a string
  kTensor,
  kBool,
  kInt,
  kFloat,
  kIntAsFloat,
  kWrappedNumber,
  kRepeatedInt,  // 3 for int[2]
  kInts,
  kSizes,  // integers one by one
  kFloats,
  kTensors,
  kDType,
  kGenerator,
};

/// What an operator returns.
enum class Returns : uint8_t {
  kTensor,
  kTensors,           // a list
  kValuesAndIndices,  // two tensors of these names
  kTensorTuple,       // several tensors, not all with names
  kNothing,
  kOther,
};

struct PlannedArgument {
  Conversion conversion = Conversion::kConstant;
  size_t value = 0;  // the index of the value
  size_t count = 0;  // for kRepeatedInt
  c10::IValue constant;
};

/// A call of one overload with values of known types.
struct Plan {
  const c10::OperatorHandle* op = nullptr;
  std::vector<PlannedArgument> arguments;
  std::optional<size_t> requires_grad;
  bool skips_autograd = false;  // if no tensor among the arguments needs it
  bool is_random = false, is_factory = false, is_in_place = false;
  Returns returns = Returns::kOther;
  std::string names;  // of the results
  TypedCall typed;    // empty for a boxed call
  void (*crash_guard)(const std::vector<c10::IValue>& arguments) = nullptr;
};

/// The arguments of one call.
struct DirectCall {
  const char* kinds;
  c10::ArrayRef<SplValue> values;
  c10::ArrayRef<SplValue> names;
  size_t positional() const { return values.size() - names.size(); }
};

/// The plan of a call, made once for each combination of types and never freed. NULL if the overload depends
/// on more than the types, or if none accepts them: spt_op has to choose.
const Plan* plan_of(const char* name, const DirectCall& call);

}  // namespace simple_torch::abi
