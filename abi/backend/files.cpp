// Bodies of the archives and the safetensors files.
#include <memory>
#include <string>

#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/archives.h"
#include "core_libtorch/safetensors.h"

namespace simple_torch::abi {

using SafetensorsPointer = std::unique_ptr<core::SafetensorsFile>;

template <>
struct HandleKindOf<SafetensorsPointer> {
  static constexpr HandleKind value = HandleKind::kSafetensors;
};

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

}  // namespace body
}  // namespace simple_torch::abi
