// Bodies of the archives and the safetensors files.
#include <memory>
#include <string>
#include <vector>

#include "abi/backend/guarded.h"
#include "abi/backend/operator_values.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/archives.h"
#include "core_libtorch/safetensors.h"
#include "core_libtorch/safetensors_writer.h"

namespace simple_torch::abi {

using SafetensorsPointer = std::unique_ptr<core::SafetensorsFile>;

template <>
struct HandleKindOf<SafetensorsPointer> {
  static constexpr HandleKind value = HandleKind::kSafetensors;
};

namespace {

void require_pairs(size_t names, size_t values, const char* what) {
  if (names != values) {
    throw Error(ErrorKind::kInvalidArgument, "safetensors_save: " + std::to_string(names) + " " + what +
                                                 " for " + std::to_string(values) + " values");
  }
}

}  // namespace

namespace body {

int32_t tensor_save(int64_t a, const char* path) {
  return guarded([&] {
    require(path, "path");
    core::save_tensor(*tensor_argument(a), path);
  });
}

int32_t tensor_load(const char* path, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(path, "path");
    *out = new_handle(core::load_tensor(path));
  });
}

int32_t safetensors_open(const char* path, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(path, "path");
    *out = handles().insert(std::make_unique<core::SafetensorsFile>(path));
  });
}

int32_t safetensors_close(int64_t file) {
  return guarded([&] { handles().release_if(file, HandleKind::kSafetensors); });
}

int32_t safetensors_num_tensors(int64_t file, int64_t* out) {
  return guarded_result(
      out, [&] { return static_cast<int64_t>((*handles().get<SafetensorsPointer>(file))->size()); });
}

int32_t safetensors_list_names(int64_t file, char** out) {
  return guarded([&] {
    require(out, "out");
    std::string lines;
    for (const std::string& name : (*handles().get<SafetensorsPointer>(file))->names()) {
      lines += (lines.empty() ? "" : "\n") + name;
    }
    *out = to_malloc_string(lines);
  });
}

int32_t safetensors_get_tensor(int64_t file, const char* name, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(name, "name");
    *out = new_handle((*handles().get<SafetensorsPointer>(file))->tensor(name));
  });
}

int32_t safetensors_metadata(int64_t file, SplArray** out) {
  return guarded([&] {
    require(out, "out");
    std::vector<c10::IValue> texts;
    for (const auto& [name, text] : (*handles().get<SafetensorsPointer>(file))->metadata()) {
      texts.emplace_back(name);
      texts.emplace_back(text);
    }
    *out = Results(texts).take_array("");
  });
}

int32_t safetensors_save(const char* path, const char* const* names, int64_t names_len,
                         const int64_t* tensors, int64_t tensors_len, const char* const* metadata_names,
                         int64_t metadata_names_len, const char* const* metadata, int64_t metadata_len) {
  return guarded([&] {
    require(path, "path");
    const auto held = tensor_list(tensors, tensors_len);
    const std::vector<std::string> all_names = string_list(names, names_len, "names");
    const std::vector<std::string> keys = string_list(metadata_names, metadata_names_len, "metadata_names");
    const std::vector<std::string> texts = string_list(metadata, metadata_len, "metadata");
    require_pairs(all_names.size(), held.size(), "names");
    require_pairs(keys.size(), texts.size(), "metadata_names");
    core::NamedTensors named;
    for (size_t i = 0; i < held.size(); ++i) {
      named.emplace_back(all_names[i], held[i]);
    }
    core::Metadata entries;
    for (size_t i = 0; i < keys.size(); ++i) {
      entries.emplace_back(keys[i], texts[i]);
    }
    core::save_safetensors(path, named, entries);
  });
}

}  // namespace body
}  // namespace simple_torch::abi
