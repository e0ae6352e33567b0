// Records the operations of a native module as a TorchScript module. Source: torch.jit.trace.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <string>
#include <vector>

#include "core_libtorch/jit/script_module.h"

namespace simple_torch::core {

/// A module of a native tree, parents before children.
struct TracedModule {
  std::string path;  // "" for the root, "encoder.0" below
  std::string class_name;
  bool training;
};

/// A parameter or a buffer of one of the modules.
struct TracedTensor {
  std::string path;
  bool is_parameter;
  at::Tensor tensor;
};

/// Runs the module on traced inputs; returns one value.
using TracedCall = std::function<c10::IValue(const std::vector<c10::IValue>& inputs)>;

/// The module whose forward() is what `call` did with the inputs. It shares the tensors. Sizes and numbers
/// that `call` computed outside LibTorch are constants in it. With `strict`, lists and dicts as outputs are
/// errors. Throws Error(kInvalidArgument) for inputs that are not tensors or collections of them, and if
/// `call` read the values of a tensor, which the message names.
ScriptModule trace(const std::vector<TracedModule>& modules, const std::vector<TracedTensor>& tensors,
                   const std::vector<c10::IValue>& inputs, const std::vector<std::string>& argument_names,
                   bool strict, const TracedCall& call);

/// Whether this thread records a trace.
bool is_tracing();

/// Throws Error(kInvalidArgument) if this thread records a trace: `operation` reads values of tensors, on
/// which the rest of the program may depend.
void reject_while_tracing(const char* operation);

}  // namespace simple_torch::core
