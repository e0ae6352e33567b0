#include "core_libtorch/onnxruntime/session_options.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace simple_torch::core::onnxruntime {
namespace {

constexpr std::string_view kConfig = "config ";
constexpr std::string_view kDimension = "dimension ";
constexpr std::string_view kProviderOption = "provider_option ";
constexpr std::string_view kProviderSuffix = "ExecutionProvider";

[[noreturn]] void reject(const std::string& name, const std::string& why) {
  throw Error(ErrorKind::kInvalidArgument, "SessionOptions: " + name + " " + why);
}

int64_t number(const std::string& name, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    reject(name, "must be an integer, got " + text);
  }
  return value;
}

int32_t small_number(const std::string& name, const std::string& text) {
  const int64_t value = number(name, text);
  if (value < 0 || value > INT32_MAX) {
    reject(name, "must be non-negative, got " + text);
  }
  return static_cast<int32_t>(value);
}

using NumberSetter = OrtStatus* (*OrtFunctions::*)(OrtSessionOptions*, int32_t);
using TextSetter = OrtStatus* (*OrtFunctions::*)(OrtSessionOptions*, const char*);
using Switch = OrtStatus* (*OrtFunctions::*)(OrtSessionOptions*);

constexpr std::pair<std::string_view, NumberSetter> kNumbers[] = {
    {"execution_mode", &OrtFunctions::set_execution_mode},
    {"graph_optimization_level", &OrtFunctions::set_optimization_level},
    {"inter_op_num_threads", &OrtFunctions::set_inter_op_threads},
    {"intra_op_num_threads", &OrtFunctions::set_intra_op_threads},
    {"log_severity_level", &OrtFunctions::set_log_severity},
    {"log_verbosity_level", &OrtFunctions::set_log_verbosity},
};
constexpr std::pair<std::string_view, TextSetter> kTexts[] = {
    {"logid", &OrtFunctions::set_log_id},
    {"optimized_model_filepath", &OrtFunctions::set_optimized_model_path},
    {"profile_file_prefix", &OrtFunctions::enable_profiling},
};
// Options that are on unless they are switched off.
constexpr std::pair<std::string_view, Switch> kOffSwitches[] = {
    {"enable_cpu_mem_arena", &OrtFunctions::disable_cpu_mem_arena},
    {"enable_mem_pattern", &OrtFunctions::disable_mem_pattern},
};

template <class Row, size_t Count>
const Row* find(const Row (&rows)[Count], std::string_view name) {
  const auto* found = std::find_if(rows, rows + Count, [&](const Row& row) { return row.first == name; });
  return found == rows + Count ? nullptr : found;
}

void set_option(OrtSessionOptions* options, const std::string& name, const std::string& value) {
  if (const auto* row = find(kNumbers, name)) {
    check((functions().*row->second)(options, small_number(name, value)));
  } else if (const auto* row = find(kTexts, name)) {
    check((functions().*row->second)(options, value.c_str()));
  } else if (const auto* row = find(kOffSwitches, name)) {
    if (value == "false") {
      check((functions().*row->second)(options));
    }
  } else if (name == "use_deterministic_compute") {
    check(functions().set_deterministic(options, value == "true"));
  } else if (name.starts_with(kConfig)) {
    check(functions().add_config_entry(options, name.c_str() + kConfig.size(), value.c_str()));
  } else if (name.starts_with(kDimension)) {
    check(functions().override_dimension(options, name.c_str() + kDimension.size(), number(name, value)));
  } else {
    reject(name, "is not an option");
  }
}

/// A provider with its options.
struct Provider {
  std::string name;
  std::vector<const char*> keys, values;
};

void require_available(const std::string& name) {
  const std::vector<std::string> available = available_providers();
  if (std::find(available.begin(), available.end(), name) != available.end()) {
    return;
  }
  std::string names;
  for (const std::string& each : available) {
    names += (names.empty() ? "" : ", ") + each;
  }
  throw Error(ErrorKind::kUnavailable,
              "InferenceSession: this ONNX Runtime has no provider '" + name + "'; available: " + names);
}

// The library always has the CPU. It names other providers without the suffix, and Azure in capitals.
void append_provider(OrtSessionOptions* options, const Provider& provider) {
  require_available(provider.name);
  std::string name = provider.name.substr(0, provider.name.find(kProviderSuffix));
  if (name == "CPU") {
    return;
  }
  name = name == "Azure" ? "AZURE" : name;
  check(functions().append_provider(options, name.c_str(), provider.keys.data(), provider.values.data(),
                                    provider.keys.size()));
}

}  // namespace

OptionsPtr make_options(const Options& options) {
  OrtSessionOptions* made = nullptr;
  check(functions().create_session_options(&made));
  OptionsPtr owned(made);
  std::vector<Provider> providers;
  for (const auto& [name, value] : options) {
    if (name == "provider") {
      providers.push_back({value, {}, {}});
    } else if (name.starts_with(kProviderOption) && !providers.empty()) {
      providers.back().keys.push_back(name.c_str() + kProviderOption.size());
      providers.back().values.push_back(value.c_str());
    } else {
      set_option(made, name, value);
    }
  }
  for (const Provider& provider : providers) {
    append_provider(made, provider);
  }
  return owned;
}

}  // namespace simple_torch::core::onnxruntime
