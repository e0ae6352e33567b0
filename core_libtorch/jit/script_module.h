// TorchScript modules: files of torch.jit.save, and traces of native modules.
#pragma once

#include <ATen/core/ivalue.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch::jit {
struct Module;
}

namespace simple_torch::core {

/// A direct member of a module.
struct ScriptMember {
  enum class Kind : uint8_t { kParameter, kBuffer, kModule, kAttribute };
  Kind kind;
  std::string name;
  /// Two members with the same number are one tensor or one module; 0 for attributes and empty buffers.
  int64_t identity;
};

/// Shares its tensors and submodules with every other ScriptModule of the same TorchScript object. Functions
/// throw Error; `kInvalidArgument` for a name that the module does not have.
class ScriptModule {
 public:
  explicit ScriptModule(const torch::jit::Module& module);
  ScriptModule(ScriptModule&&) noexcept;
  ~ScriptModule();

  /// Throws Error(kIo) for a file that is not TorchScript or corrupt, Error(kUnavailable) for a device that
  /// does not exist. `map_location` is a device's name.
  static ScriptModule load(const std::string& path, const std::optional<std::string>& map_location);
  /// Replaces the file atomically. Throws Error(kIo).
  void save(const std::string& path) const;

  /// Calls a method. Arguments are converted to the declared types. The last `names.size()` arguments are
  /// named.
  c10::IValue call(const std::string& method, const std::vector<c10::IValue>& arguments,
                   const std::vector<std::string>& names) const;
  std::vector<std::string> methods() const;

  std::vector<ScriptMember> members() const;
  ScriptModule submodule(const std::string& name) const;
  /// A parameter, buffer, attribute or constant.
  c10::IValue attribute(const std::string& name) const;
  void set_attribute(const std::string& name, const c10::IValue& value) const;
  /// The name of the class, without its packages.
  std::string original_name() const;
  void train(bool mode) const;
  ScriptModule copy() const;

  /// The method as Python source.
  std::string code(const std::string& method) const;
  /// The method's graph; with `inlined` calls of other methods are replaced by their bodies.
  std::string graph(const std::string& method, bool inlined) const;
  /// "forward(__torch__.Net self, Tensor x) -> Tensor"
  std::string schema(const std::string& method) const;

  /// torch.jit.freeze
  ScriptModule freeze(const std::vector<std::string>& preserved, bool optimize_numerics) const;
  /// torch.jit.optimize_for_inference
  ScriptModule optimized_for_inference(const std::vector<std::string>& other_methods) const;

 private:
  std::unique_ptr<torch::jit::Module> module_;
};

}  // namespace simple_torch::core
