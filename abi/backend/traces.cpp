// Bodies of tracing: the program runs its forward in a callback.
#include <string>
#include <utility>
#include <vector>

#include "abi/backend/autograd_callbacks.h"
#include "abi/backend/flat_values.h"
#include "abi/backend/guarded.h"
#include "abi/backend/script_handles.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/jit/tracing.h"

namespace simple_torch::abi {
namespace {

/// The forward that this thread runs.
struct TracedForward {
  const std::vector<c10::IValue>& inputs;
  c10::IValue output;
  bool has_output = false;
};

thread_local TracedForward* current_forward = nullptr;

TracedForward& traced_forward() {
  if (current_forward == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, "this thread does not run the forward of a trace");
  }
  return *current_forward;
}

class ForwardScope {
 public:
  explicit ForwardScope(TracedForward& forward) : outer_(std::exchange(current_forward, &forward)) {}
  ForwardScope(const ForwardScope&) = delete;
  ForwardScope& operator=(const ForwardScope&) = delete;
  ~ForwardScope() { current_forward = outer_; }

 private:
  TracedForward* outer_;
};

c10::IValue output_of(const std::vector<c10::IValue>& inputs, int64_t key, SptAutogradCall forward) {
  TracedForward running{inputs, {}};
  const ForwardScope scope(running);
  checked_result(forward(key, 0), "forward");
  if (!running.has_output) {
    throw Error(ErrorKind::kInvalidArgument, "the traced forward did not set its output");
  }
  return running.output;
}

void require_same_length(size_t names, int64_t values, const char* what) {
  if (static_cast<int64_t>(names) != values) {
    throw Error(ErrorKind::kInvalidArgument,
                std::to_string(names) + " paths for " + std::to_string(values) + " " + what);
  }
}

}  // namespace

namespace body {

int32_t script_trace(const char* const* paths, int64_t paths_len, const char* const* classes,
                     int64_t classes_len, const int64_t* modes, int64_t modes_len,
                     const char* const* tensor_paths, int64_t tensor_paths_len, const int64_t* tensors,
                     int64_t tensors_len, const int64_t* are_parameters, int64_t are_parameters_len,
                     const char* kinds, const SplArray* values, const char* const* argument_names,
                     int64_t argument_names_len, bool strict, int64_t key, SptAutogradCall forward,
                     int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(forward, "forward");
    const auto names = string_list(paths, paths_len, "paths");
    const auto class_names = string_list(classes, classes_len, "classes");
    const auto trained = list_argument(modes, modes_len, "modes");
    require_same_length(names.size(), classes_len, "classes");
    require_same_length(names.size(), modes_len, "modes");
    std::vector<core::TracedModule> modules;
    for (size_t i = 0; i < names.size(); ++i) {
      modules.push_back({names[i], class_names[i], trained[i] != 0});
    }
    const auto tensor_names = string_list(tensor_paths, tensor_paths_len, "tensor_paths");
    const auto held = tensor_list(tensors, tensors_len);
    const auto flags = list_argument(are_parameters, are_parameters_len, "are_parameters");
    require_same_length(tensor_names.size(), tensors_len, "tensors");
    require_same_length(tensor_names.size(), are_parameters_len, "are_parameters");
    std::vector<core::TracedTensor> members;
    for (size_t i = 0; i < tensor_names.size(); ++i) {
      members.push_back({tensor_names[i], flags[i] != 0, held[i]});
    }
    *out = new_script(
        core::trace(modules, members, values_of_flat(kinds, values),
                    string_list(argument_names, argument_names_len, "argument_names"), strict,
                    [&](const std::vector<c10::IValue>& inputs) { return output_of(inputs, key, forward); }));
  });
}

int32_t script_traced_inputs(SplArray** out) {
  return guarded([&] {
    require(out, "out");
    *out = flat_of_values(traced_forward().inputs);
  });
}

int32_t script_traced_output(const char* kinds, const SplArray* values) {
  return guarded([&] {
    TracedForward& running = traced_forward();
    const std::vector<c10::IValue> found = values_of_flat(kinds, values);
    if (found.size() != 1) {
      throw Error(ErrorKind::kInvalidArgument, "expected one value, got " + std::to_string(found.size()));
    }
    running.output = found.front();
    running.has_output = true;
  });
}

int32_t script_is_tracing(bool* out) {
  return guarded([&] {
    require(out, "out");
    *out = core::is_tracing();
  });
}

}  // namespace body
}  // namespace simple_torch::abi
