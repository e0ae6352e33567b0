#include "core_libtorch/jit/script_module.h"

#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/passes/frozen_graph_optimizations.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/python_print.h>

#include <sstream>
#include <utility>

#include "core_libtorch/atomic_file.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/jit/archive_check.h"
#include "core_libtorch/jit/script_arguments.h"
#include "core_libtorch/jit/script_values.h"

namespace simple_torch::core {
namespace {

using c10::IValue;
using torch::jit::Method;
using torch::jit::Module;

[[noreturn]] void fail_argument(const std::string& message) {
  throw Error(ErrorKind::kInvalidArgument, message);
}

std::string short_name(const Module& module) {
  const auto name = module.type()->name();
  return name ? name->name() : "ScriptModule";
}

std::vector<std::string> method_names(const Module& module) {
  std::vector<std::string> names;
  for (const Method& method : module.get_methods()) {
    names.push_back(method.name());
  }
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "(none)" : text;
}

Method method_of(const Module& module, const std::string& name) {
  if (const auto found = module.find_method(name)) {
    return *found;
  }
  fail_argument("ScriptModule " + short_name(module) + " has no method '" + name +
                "'; it has: " + joined(method_names(module)));
}

// ---- members

int64_t identity_of(const IValue& value) {
  if (value.isTensor()) {
    return reinterpret_cast<int64_t>(value.toTensor().unsafeGetTensorImpl());
  }
  return value.isObject() ? reinterpret_cast<int64_t>(value.toObject().get()) : 0;
}

}  // namespace

ScriptModule::ScriptModule(const Module& module) : module_(std::make_unique<Module>(module)) {}
ScriptModule::ScriptModule(ScriptModule&&) noexcept = default;
ScriptModule::~ScriptModule() = default;

ScriptModule ScriptModule::load(const std::string& path, const std::optional<std::string>& map_location) {
  const c10::InferenceMode usual(false);
  std::optional<c10::Device> device;
  if (map_location) {
    device = device_of_text(*map_location);
  }
  check_script_archive(path);
  try {
    return ScriptModule(torch::jit::load(path, device));
  } catch (const std::exception& error) {
    const auto* const ours = dynamic_cast<const c10::Error*>(&error);
    throw Error(ErrorKind::kIo, path + " cannot be read: " +
                                    (ours != nullptr ? ours->what_without_backtrace() : error.what()));
  }
}

void ScriptModule::save(const std::string& path) const {
  AtomicFile file(path);
  with_error_context("torch.jit.save", kNoOperands, [&] {
    torch::jit::ExportModule(*module_,
                             [&](const void* bytes, size_t count) { return file.write(bytes, count); });
  });
  file.commit();
}

IValue ScriptModule::call(const std::string& method, const std::vector<IValue>& arguments,
                          const std::vector<std::string>& names) const {
  Method function = method_of(*module_, method);
  torch::jit::Stack stack = matched_arguments(function.function().getSchema(), arguments, names);
  return with_error_context(method.c_str(), kNoOperands, [&] {
    function.run(stack);
    return stack.front();
  });
}

std::vector<std::string> ScriptModule::methods() const { return method_names(*module_); }

std::vector<ScriptMember> ScriptModule::members() const {
  std::vector<ScriptMember> found;
  const auto type = module_->type();
  for (size_t i = 0; i < type->numAttributes(); ++i) {
    const IValue value = module_->_ivalue()->getSlot(i);
    const bool is_tensor = value.isTensor();
    const ScriptMember::Kind kind = type->getAttribute(i)->is_module()   ? ScriptMember::Kind::kModule
                                    : is_tensor && type->is_parameter(i) ? ScriptMember::Kind::kParameter
                                    : is_tensor && type->is_buffer(i)    ? ScriptMember::Kind::kBuffer
                                                                         : ScriptMember::Kind::kAttribute;
    const int64_t identity = kind == ScriptMember::Kind::kAttribute ? 0 : identity_of(value);
    found.push_back({kind, type->getAttributeName(i), identity});
  }
  return found;
}

ScriptModule ScriptModule::submodule(const std::string& name) const {
  const auto slot = module_->type()->findAttributeSlot(name);
  if (!slot || !module_->type()->getAttribute(*slot)->is_module()) {
    fail_argument("ScriptModule " + short_name(*module_) + " has no submodule '" + name + "'");
  }
  return ScriptModule(module_->attr(name).toModule());
}

IValue ScriptModule::attribute(const std::string& name) const {
  if (module_->type()->findAttributeSlot(name)) {
    return module_->attr(name);
  }
  if (const auto constant = module_->type()->findConstant(name)) {
    return *constant;
  }
  fail_argument("ScriptModule " + short_name(*module_) + " has no attribute '" + name + "'");
}

void ScriptModule::set_attribute(const std::string& name, const IValue& value) const {
  const auto slot = module_->type()->findAttributeSlot(name);
  if (!slot) {
    fail_argument("ScriptModule " + short_name(*module_) + " has no attribute '" + name + "'");
  }
  const IValue converted =
      to_script_type(value, module_->type()->getAttribute(*slot), "attribute '" + name + "'");
  module_->_ivalue()->setSlot(*slot, converted);
}

std::string ScriptModule::original_name() const { return short_name(*module_); }

void ScriptModule::train(bool mode) const {
  for (const Module& module : module_->modules()) {
    if (const auto slot = module.type()->findAttributeSlot("training")) {
      module._ivalue()->setSlot(*slot, mode);
    }
  }
}

ScriptModule ScriptModule::copy() const {
  return with_error_context("deepcopy", kNoOperands, [&] { return ScriptModule(module_->deepcopy()); });
}

std::string ScriptModule::code(const std::string& method) const {
  std::vector<IValue> constants;
  torch::jit::PrintDepsTable dependencies;
  torch::jit::PythonPrint printer(constants, dependencies);
  printer.printMethod(method_of(*module_, method).function());
  return printer.str();
}

std::string ScriptModule::graph(const std::string& method, bool inlined) const {
  auto graph = method_of(*module_, method).graph();
  if (inlined) {
    graph = graph->copy();
    torch::jit::Inline(*graph);
  }
  return graph->toString();
}

std::string ScriptModule::schema(const std::string& method) const {
  std::ostringstream text;
  text << method_of(*module_, method).function().getSchema();
  return text.str();
}

ScriptModule ScriptModule::freeze(const std::vector<std::string>& preserved, bool optimize_numerics) const {
  if (module_->hasattr("training") && module_->is_training()) {
    fail_argument(
        "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your "
        "module before freezing.");
  }
  return with_error_context("torch.jit.freeze", kNoOperands, [&] {
    Module frozen = torch::jit::freeze_module(*module_, preserved);
    for (const Method& method : frozen.get_methods()) {
      auto graph = method.graph();
      torch::jit::OptimizeFrozenGraph(graph, optimize_numerics);
    }
    return ScriptModule(frozen);
  });
}

ScriptModule ScriptModule::optimized_for_inference(const std::vector<std::string>& other_methods) const {
  return with_error_context("torch.jit.optimize_for_inference", kNoOperands, [&] {
    const bool is_frozen = !module_->hasattr("training");
    Module module = is_frozen ? *module_ : *freeze(other_methods, true).module_;
    return ScriptModule(torch::jit::optimize_for_inference(module, other_methods));
  });
}

}  // namespace simple_torch::core
