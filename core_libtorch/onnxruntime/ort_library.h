// Opens ONNX Runtime's library from its Python package at the first use.
#pragma once

#include <memory>
#include <string>

#include "core_libtorch/error.h"
#include "core_libtorch/onnxruntime/ort_types.h"

namespace simple_torch::core::onnxruntime {

/// The functions of the table OrtApi that we call. The table only grows: an entry keeps its index in every
/// version of the library.
struct OrtFunctions {
  int32_t (*get_error_code)(const OrtStatus*);
  const char* (*get_error_message)(const OrtStatus*);
  void (*release_status)(OrtStatus*);

  OrtStatus* (*create_env)(int32_t level, const char* id, OrtEnv**);
  OrtStatus* (*get_available_providers)(char***, int*);
  OrtStatus* (*release_available_providers)(char**, int);
  OrtStatus* (*create_cpu_memory_info)(int32_t allocator, int32_t memory, OrtMemoryInfo**);
  OrtStatus* (*get_default_allocator)(OrtAllocator**);
  OrtStatus* (*allocator_free)(OrtAllocator*, void*);

  OrtStatus* (*create_session_options)(OrtSessionOptions**);
  void (*release_session_options)(OrtSessionOptions*);
  OrtStatus* (*set_optimized_model_path)(OrtSessionOptions*, const char*);
  OrtStatus* (*set_execution_mode)(OrtSessionOptions*, int32_t);
  OrtStatus* (*enable_profiling)(OrtSessionOptions*, const char* prefix);
  OrtStatus* (*disable_mem_pattern)(OrtSessionOptions*);
  OrtStatus* (*disable_cpu_mem_arena)(OrtSessionOptions*);
  OrtStatus* (*set_log_id)(OrtSessionOptions*, const char*);
  OrtStatus* (*set_log_verbosity)(OrtSessionOptions*, int32_t);
  OrtStatus* (*set_log_severity)(OrtSessionOptions*, int32_t);
  OrtStatus* (*set_optimization_level)(OrtSessionOptions*, int32_t);
  OrtStatus* (*set_intra_op_threads)(OrtSessionOptions*, int32_t);
  OrtStatus* (*set_inter_op_threads)(OrtSessionOptions*, int32_t);
  OrtStatus* (*set_deterministic)(OrtSessionOptions*, bool);
  OrtStatus* (*override_dimension)(OrtSessionOptions*, const char* name, int64_t size);
  OrtStatus* (*add_config_entry)(OrtSessionOptions*, const char* key, const char* value);
  OrtStatus* (*append_provider)(OrtSessionOptions*, const char* name, const char* const* keys,
                                const char* const* values, size_t count);

  OrtStatus* (*create_session)(const OrtEnv*, const char* path, const OrtSessionOptions*, OrtSession**);
  OrtStatus* (*create_session_from_array)(const OrtEnv*, const void*, size_t, const OrtSessionOptions*,
                                          OrtSession**);
  void (*release_session)(OrtSession*);
  OrtStatus* (*run)(OrtSession*, const OrtRunOptions*, const char* const* names,
                    const OrtValue* const* values, size_t count, const char* const* output_names,
                    size_t output_count, OrtValue** outputs);
  OrtStatus* (*end_profiling)(OrtSession*, OrtAllocator*, char**);
  OrtStatus* (*input_count)(const OrtSession*, size_t*);
  OrtStatus* (*output_count)(const OrtSession*, size_t*);
  OrtStatus* (*initializer_count)(const OrtSession*, size_t*);
  OrtStatus* (*input_type)(const OrtSession*, size_t, OrtTypeInfo**);
  OrtStatus* (*output_type)(const OrtSession*, size_t, OrtTypeInfo**);
  OrtStatus* (*initializer_type)(const OrtSession*, size_t, OrtTypeInfo**);
  OrtStatus* (*input_name)(const OrtSession*, size_t, OrtAllocator*, char**);
  OrtStatus* (*output_name)(const OrtSession*, size_t, OrtAllocator*, char**);
  OrtStatus* (*initializer_name)(const OrtSession*, size_t, OrtAllocator*, char**);

  OrtStatus* (*get_metadata)(const OrtSession*, OrtModelMetadata**);
  void (*release_metadata)(OrtModelMetadata*);
  OrtStatus* (*metadata_producer)(const OrtModelMetadata*, OrtAllocator*, char**);
  OrtStatus* (*metadata_graph_name)(const OrtModelMetadata*, OrtAllocator*, char**);
  OrtStatus* (*metadata_domain)(const OrtModelMetadata*, OrtAllocator*, char**);
  OrtStatus* (*metadata_description)(const OrtModelMetadata*, OrtAllocator*, char**);
  OrtStatus* (*metadata_graph_description)(const OrtModelMetadata*, OrtAllocator*, char**);
  OrtStatus* (*metadata_version)(const OrtModelMetadata*, int64_t*);
  OrtStatus* (*metadata_keys)(const OrtModelMetadata*, OrtAllocator*, char***, int64_t*);
  OrtStatus* (*metadata_lookup)(const OrtModelMetadata*, OrtAllocator*, const char* key, char**);

  OrtStatus* (*type_kind)(const OrtTypeInfo*, int32_t*);
  OrtStatus* (*as_tensor_info)(const OrtTypeInfo*, const OrtTensorInfo**);
  OrtStatus* (*as_map_info)(const OrtTypeInfo*, const OrtMapInfo**);
  OrtStatus* (*as_sequence_info)(const OrtTypeInfo*, const OrtSequenceInfo**);
  OrtStatus* (*as_optional_info)(const OrtTypeInfo*, const OrtOptionalInfo**);
  OrtStatus* (*map_key_element)(const OrtMapInfo*, int32_t*);
  OrtStatus* (*map_value_type)(const OrtMapInfo*, OrtTypeInfo**);
  OrtStatus* (*sequence_item_type)(const OrtSequenceInfo*, OrtTypeInfo**);
  OrtStatus* (*optional_item_type)(const OrtOptionalInfo*, OrtTypeInfo**);
  void (*release_type_info)(OrtTypeInfo*);
  OrtStatus* (*tensor_element)(const OrtTensorInfo*, int32_t*);
  OrtStatus* (*dimension_count)(const OrtTensorInfo*, size_t*);
  OrtStatus* (*dimensions)(const OrtTensorInfo*, int64_t*, size_t);
  OrtStatus* (*symbolic_dimensions)(const OrtTensorInfo*, const char**, size_t);
  void (*release_tensor_info)(OrtTensorInfo*);

  OrtStatus* (*create_tensor)(OrtAllocator*, const int64_t* sizes, size_t, int32_t element, OrtValue**);
  OrtStatus* (*create_tensor_with_data)(const OrtMemoryInfo*, void*, size_t, const int64_t* sizes, size_t,
                                        int32_t element, OrtValue**);
  OrtStatus* (*create_value)(const OrtValue* const*, size_t, int32_t kind, OrtValue**);
  void (*release_value)(OrtValue*);
  OrtStatus* (*value_kind)(const OrtValue*, int32_t*);
  OrtStatus* (*has_value)(const OrtValue*, int*);
  OrtStatus* (*tensor_info)(const OrtValue*, OrtTensorInfo**);
  OrtStatus* (*tensor_data)(OrtValue*, void**);
  OrtStatus* (*item_count)(const OrtValue*, size_t*);
  OrtStatus* (*item)(const OrtValue*, int, OrtAllocator*, OrtValue**);
  OrtStatus* (*fill_strings)(OrtValue*, const char* const*, size_t);
  OrtStatus* (*string_length)(const OrtValue*, size_t, size_t*);
  OrtStatus* (*string_content)(const OrtValue*, size_t length, size_t index, void*);
};

/// The opened library. It stays open until the process ends.
struct OrtLibrary {
  OrtFunctions functions;
  std::string version;
  OrtEnv* env;
  OrtAllocator* allocator;
  OrtMemoryInfo* cpu;
};

/// `folder` has libonnxruntime.so.VERSION; the first call decides. Throws Error(kUnavailable) if there is
/// no such library, or it is too old.
const OrtLibrary& open_library(const std::string& folder);

/// The library that open_library() opened. Throws Error(kUnavailable) before the first call of it.
const OrtLibrary& library();
inline const OrtFunctions& functions() { return library().functions; }

/// What failed: a fault of a model's file is an Error(kIo), one of a run mostly a fault of its inputs.
enum class Stage { kLoad, kRun };

/// Releases the status. Throws Error unless it is a success.
void check(OrtStatus* status, Stage stage = Stage::kRun);

/// Owns an object of the library.
template <class T, void (*OrtFunctions::*Release)(T*)>
struct Releaser {
  void operator()(T* object) const { (library().functions.*Release)(object); }
};
using ValuePtr = std::unique_ptr<OrtValue, Releaser<OrtValue, &OrtFunctions::release_value>>;
using TypePtr = std::unique_ptr<OrtTypeInfo, Releaser<OrtTypeInfo, &OrtFunctions::release_type_info>>;
using TensorInfoPtr =
    std::unique_ptr<OrtTensorInfo, Releaser<OrtTensorInfo, &OrtFunctions::release_tensor_info>>;

/// The string of the library, which is freed.
std::string taken(char* text);

}  // namespace simple_torch::core::onnxruntime
