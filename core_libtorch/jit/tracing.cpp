#include "core_libtorch/jit/tracing.h"

#include <ATen/record_function.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "core_libtorch/error_context.h"
#include "core_libtorch/jit/script_values.h"

namespace simple_torch::core {
namespace {

using c10::IValue;
using torch::jit::Module;
namespace tracer = torch::jit::tracer;

std::pair<std::string, std::string> parent_and_name(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? std::pair(std::string(), path)
                                  : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

Module& module_at(std::map<std::string, Module>& modules, const std::string& path) {
  const auto found = modules.find(path);
  if (found == modules.end()) {
    throw Error(ErrorKind::kInvalidArgument,
                "torch.jit.trace: there is no module at the path '" + path + "'");
  }
  return found->second;
}

// The tree as modules of TorchScript, by path.
std::map<std::string, Module> mirrored(const std::vector<TracedModule>& modules,
                                       const std::vector<TracedTensor>& tensors) {
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  std::map<std::string, Module> made;
  for (const TracedModule& each : modules) {
    Module module(c10::QualifiedName("__torch__." + each.class_name), unit, /*shouldMangle=*/true);
    module.register_attribute("training", c10::BoolType::get(), each.training);
    made.emplace(each.path, module);
  }
  for (const TracedTensor& each : tensors) {
    const auto [parent, name] = parent_and_name(each.path);
    module_at(made, parent).register_parameter(name, each.tensor, !each.is_parameter);
  }
  for (const TracedModule& each : modules) {
    if (!each.path.empty()) {
      const auto [parent, name] = parent_and_name(each.path);
      module_at(made, parent).register_module(name, module_at(made, each.path));
    }
  }
  return made;
}

// Operators that return values of a tensor to the program.
constexpr std::array<std::string_view, 5> kReaders{"aten::item", "aten::_local_scalar_dense", "aten::equal",
                                                   "aten::is_nonzero", "aten::allclose"};

// A trace has operators inside operators; only the outermost are the program's.
thread_local int operator_depth = 0;
thread_local std::string read_by;

std::unique_ptr<at::ObserverContext> on_operator_start(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  if (operator_depth++ == 0 && read_by.empty()) {
    for (const std::string_view reader : kReaders) {
      if (name == reader) {
        read_by = name.substr(name.find("::") + 2);
      }
    }
  }
  return nullptr;
}

void on_operator_end(const at::RecordFunction& /*function*/, at::ObserverContext* /*context*/) {
  --operator_depth;
}

[[noreturn]] void fail_read(const std::string& operation) {
  throw Error(
      ErrorKind::kInvalidArgument,
      "torch.jit.trace: " + operation +
          "() reads values of a tensor while the module is traced; the trace would be right for these "
          "example inputs only");
}

/// Observes the operators of this thread.
class ReaderObserver {
 public:
  ReaderObserver()
      : callback_(at::addThreadLocalCallback(at::RecordFunctionCallback(&on_operator_start, &on_operator_end)
                                                 .scopes({at::RecordScope::FUNCTION}))) {
    operator_depth = 0;
    read_by.clear();
  }
  ReaderObserver(const ReaderObserver&) = delete;
  ReaderObserver& operator=(const ReaderObserver&) = delete;
  ~ReaderObserver() { at::removeCallback(callback_); }

  static void check() {
    if (!read_by.empty()) {
      fail_read(read_by);
    }
  }

 private:
  at::CallbackHandle callback_;
};

// The modules' tensors and inputs have names in the graph; others are constants.
std::string name_of(const at::Tensor& /*tensor*/) { return ""; }

void require_traceable(const IValue& value) {
  if (value.isTensor()) {
    return;
  }
  if (value.isTuple()) {
    for (const IValue& item : value.toTupleRef().elements()) {
      require_traceable(item);
    }
  } else if (value.isList()) {
    for (const IValue& item : value.toListRef()) {
      require_traceable(item);
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      require_traceable(entry.value());
    }
  } else {
    throw Error(ErrorKind::kInvalidArgument,
                "torch.jit.trace: example inputs must be tensors, or arrays, tuples and dicts of them, got " +
                    script_type_name(value));
  }
}

}  // namespace

ScriptModule trace(const std::vector<TracedModule>& modules, const std::vector<TracedTensor>& tensors,
                   const std::vector<IValue>& inputs, const std::vector<std::string>& argument_names,
                   bool strict, const TracedCall& call) {
  torch::jit::Stack typed;
  for (const IValue& input : inputs) {
    require_traceable(input);
    typed.push_back(with_inferred_type(input, "an example input"));
  }
  return with_error_context("torch.jit.trace", kNoOperands, [&] {
    std::map<std::string, Module> mirror = mirrored(modules, tensors);
    Module root = module_at(mirror, "");
    const ReaderObserver observer;
    const auto traced_call = [&](const torch::jit::Stack& traced) {
      torch::jit::Stack outputs{with_inferred_type(call(traced), "the output")};
      ReaderObserver::check();
      if (!is_tracing()) {  // LibTorch pauses before it throws this error, which the program may have caught
        throw Error(ErrorKind::kInvalidArgument,
                    "torch.jit.trace: the module uses a tensor that requires grad and is neither an example "
                    "input nor a "
                    "parameter or buffer of the module");
      }
      return outputs;
    };
    const auto graph = tracer::trace(std::move(typed), traced_call, name_of, strict, /*force_outplace=*/false,
                                     &root, argument_names)
                           .first->graph;
    const c10::QualifiedName name(*root.type()->name(), "forward");
    root.type()->addMethod(root._ivalue()->compilation_unit()->create_function(name, graph));
    return ScriptModule(root);
  });
}

bool is_tracing() { return tracer::isTracing(); }

void reject_while_tracing(const char* operation) {
  if (is_tracing()) [[unlikely]] {
    fail_read(operation);
  }
}

}  // namespace simple_torch::core
