#include "core_libtorch/onnxruntime/ort_library.h"

#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <string_view>

namespace simple_torch::core::onnxruntime {
namespace {

// Version 16 is ONNX Runtime 1.16, the first with every entry that we use.
constexpr uint32_t kTableVersion = 16;

/// OrtApiBase
struct ApiBase {
  void* const* (*table)(uint32_t version);
  const char* (*version)();
};

[[noreturn]] void fail(const std::string& why) {
  throw Error(ErrorKind::kUnavailable, "ONNX Runtime: " + why + "; install it: pip install onnxruntime");
}

std::string library_file(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libonnxruntime.so")) {
      return entry.path().string();
    }
  }
  fail("there is no libonnxruntime.so in '" + folder + "'");
}

class Table {
 public:
  explicit Table(void* const* entries) : entries_(entries) {}

  template <class Function>
  void load(Function& function, size_t index) const {
    function = reinterpret_cast<Function>(entries_[index]);
  }

 private:
  void* const* entries_;
};

void load_errors_and_environment(const Table& table, OrtFunctions& f) {
  table.load(f.get_error_code, 1);
  table.load(f.get_error_message, 2);
  table.load(f.create_env, 3);
  table.load(f.create_cpu_memory_info, 69);
  table.load(f.allocator_free, 76);
  table.load(f.get_default_allocator, 78);
  table.load(f.release_status, 93);
  table.load(f.get_available_providers, 125);
  table.load(f.release_available_providers, 126);
}

void load_session_options(const Table& table, OrtFunctions& f) {
  table.load(f.create_session_options, 10);
  table.load(f.set_optimized_model_path, 11);
  table.load(f.set_execution_mode, 13);
  table.load(f.enable_profiling, 14);
  table.load(f.disable_mem_pattern, 17);
  table.load(f.disable_cpu_mem_arena, 19);
  table.load(f.set_log_id, 20);
  table.load(f.set_log_verbosity, 21);
  table.load(f.set_log_severity, 22);
  table.load(f.set_optimization_level, 23);
  table.load(f.set_intra_op_threads, 24);
  table.load(f.set_inter_op_threads, 25);
  table.load(f.release_session_options, 100);
  table.load(f.override_dimension, 124);
  table.load(f.add_config_entry, 130);
  table.load(f.append_provider, 216);
  table.load(f.set_deterministic, 273);
}

void load_sessions(const Table& table, OrtFunctions& f) {
  table.load(f.create_session, 7);
  table.load(f.create_session_from_array, 8);
  table.load(f.run, 9);
  table.load(f.input_count, 30);
  table.load(f.output_count, 31);
  table.load(f.initializer_count, 32);
  table.load(f.input_type, 33);
  table.load(f.output_type, 34);
  table.load(f.initializer_type, 35);
  table.load(f.input_name, 36);
  table.load(f.output_name, 37);
  table.load(f.initializer_name, 38);
  table.load(f.release_session, 95);
  table.load(f.end_profiling, 110);
}

void load_metadata(const Table& table, OrtFunctions& f) {
  table.load(f.get_metadata, 111);
  table.load(f.metadata_producer, 112);
  table.load(f.metadata_graph_name, 113);
  table.load(f.metadata_domain, 114);
  table.load(f.metadata_description, 115);
  table.load(f.metadata_lookup, 116);
  table.load(f.metadata_version, 117);
  table.load(f.release_metadata, 118);
  table.load(f.metadata_keys, 123);
  table.load(f.metadata_graph_description, 158);
}

void load_types(const Table& table, OrtFunctions& f) {
  table.load(f.as_tensor_info, 55);
  table.load(f.type_kind, 56);
  table.load(f.tensor_element, 60);
  table.load(f.dimension_count, 61);
  table.load(f.dimensions, 62);
  table.load(f.symbolic_dimensions, 63);
  table.load(f.release_type_info, 98);
  table.load(f.release_tensor_info, 99);
  table.load(f.as_map_info, 103);
  table.load(f.as_sequence_info, 104);
  table.load(f.map_key_element, 105);
  table.load(f.map_value_type, 106);
  table.load(f.sequence_item_type, 107);
  table.load(f.as_optional_info, 250);
  table.load(f.optional_item_type, 251);
}

void load_values(const Table& table, OrtFunctions& f) {
  table.load(f.create_tensor, 48);
  table.load(f.create_tensor_with_data, 49);
  table.load(f.tensor_data, 51);
  table.load(f.fill_strings, 52);
  table.load(f.tensor_info, 65);
  table.load(f.value_kind, 67);
  table.load(f.item, 80);
  table.load(f.item_count, 81);
  table.load(f.create_value, 82);
  table.load(f.release_value, 96);
  table.load(f.string_length, 127);
  table.load(f.string_content, 128);
  table.load(f.has_value, 192);
}

// Set when the library is open, for library().
std::atomic<const OrtLibrary*> opened_library{nullptr};

ErrorKind kind_of(OrtCode code, std::string_view message, Stage stage) {
  if (message.find("Failed to allocate memory") != std::string_view::npos ||
      message.find("bad_alloc") != std::string_view::npos) {
    return ErrorKind::kOutOfMemory;
  }
  if (code == OrtCode::kNotImplemented) {
    return ErrorKind::kNotImplemented;
  }
  return stage == Stage::kLoad ? ErrorKind::kIo : ErrorKind::kInvalidArgument;
}

void check_with(const OrtFunctions& f, OrtStatus* status, Stage stage) {
  if (status == nullptr) {
    return;
  }
  const auto code = static_cast<OrtCode>(f.get_error_code(status));
  const std::string message = f.get_error_message(status);
  f.release_status(status);
  throw Error(kind_of(code, message, stage), "ONNX Runtime: " + message);
}

OrtLibrary opened(const std::string& folder) {
  const std::string file = library_file(folder);
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    fail(dlerror());
  }
  const auto base = reinterpret_cast<const ApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
  void* const* const entries = base == nullptr ? nullptr : base()->table(kTableVersion);
  if (entries == nullptr) {
    fail("'" + file + "' is older than version 1." + std::to_string(kTableVersion));
  }
  OrtLibrary made{};
  made.version = base()->version();
  const Table table(entries);
  for (auto* load : {load_errors_and_environment, load_session_options, load_sessions, load_metadata,
                     load_types, load_values}) {
    load(table, made.functions);
  }
  const OrtFunctions& f = made.functions;
  constexpr int32_t kWarning = 2;
  check_with(f, f.create_env(kWarning, "onnxruntime", &made.env), Stage::kRun);
  check_with(f, f.get_default_allocator(&made.allocator), Stage::kRun);
  check_with(f, f.create_cpu_memory_info(kDeviceAllocator, kDefaultMemory, &made.cpu), Stage::kRun);
  return made;
}

}  // namespace

const OrtLibrary& open_library(const std::string& folder) {
  // Never destroyed: tensors of the library may be released while the process ends.
  static const OrtLibrary* const opened_once = new OrtLibrary(opened(folder));
  opened_library.store(opened_once, std::memory_order_release);
  return *opened_once;
}

const OrtLibrary& library() {
  const OrtLibrary* const opened_before = opened_library.load(std::memory_order_acquire);
  if (opened_before == nullptr) [[unlikely]] {
    throw Error(ErrorKind::kUnavailable, "ONNX Runtime: the library is not open; open its folder first");
  }
  return *opened_before;
}

void check(OrtStatus* status, Stage stage) {
  if (status != nullptr) [[unlikely]] {
    check_with(library().functions, status, stage);
  }
}

std::string taken(char* text) {
  const std::string copy = text == nullptr ? "" : text;
  if (text != nullptr) {
    check(library().functions.allocator_free(library().allocator, text));
  }
  return copy;
}

}  // namespace simple_torch::core::onnxruntime
