#include "core_libtorch/onnx/model_file.h"

#include "core_libtorch/error.h"

namespace simple_torch::core::onnx {
namespace {

// Field numbers of ModelProto and GraphProto.
constexpr uint32_t kIrVersion = 1;
constexpr uint32_t kGraph = 7;
constexpr uint32_t kInitializer = 5;
constexpr uint32_t kSparseInitializer = 15;

std::string folder_of(const std::string& path) {
  const size_t end = path.rfind('/');
  return end == std::string::npos ? "" : path.substr(0, end + 1);
}

std::vector<NamedTensor> initializers_of(std::string_view graph, ExternalFiles& files) {
  std::vector<NamedTensor> tensors;
  Field field;
  for (Fields fields(graph); fields.next(field);) {
    if (field.wire == Wire::kBytes && field.number == kInitializer) {
      tensors.push_back(read_tensor(field.bytes, files));
    } else if (field.wire == Wire::kBytes && field.number == kSparseInitializer) {
      tensors.push_back(read_sparse_tensor(field.bytes, files));
    }
  }
  return tensors;
}

std::vector<NamedTensor> read(std::string_view model, ExternalFiles& files) {
  std::vector<NamedTensor> tensors;
  bool has_version = false;
  bool has_graph = false;
  Field field;
  for (Fields fields(model); fields.next(field);) {
    has_version |= field.number == kIrVersion && field.wire == Wire::kVarint;
    if (field.number == kGraph && field.wire == Wire::kBytes) {
      has_graph = true;
      tensors = initializers_of(field.bytes, files);
    }
  }
  if (!has_version || !has_graph) {
    throw Error(ErrorKind::kIo, "it is no model of ONNX: it has no version or no graph");
  }
  return tensors;
}

}  // namespace

std::vector<NamedTensor> read_initializers(const std::string& path) {
  const MappedFile file(path);
  ExternalFiles files(folder_of(path));
  try {
    return read(file.bytes(), files);
  } catch (const Error& error) {
    throw Error(error.kind(), "cannot read '" + path + "': " + error.what());
  }
}

}  // namespace simple_torch::core::onnx
