#include "core_libtorch/archives.h"

#include <torch/serialize.h>

#include <vector>

#include "core_libtorch/atomic_file.h"
#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

// Converts LibTorch's errors to Error(kIo) with the path.
template <class Body>
auto with_file(const std::string& path, const char* what, Body&& body) {
  try {
    return body();
  } catch (const c10::Error& error) {
    throw Error(ErrorKind::kIo, path + " cannot be " + what + ": " + error.what_without_backtrace());
  }
}

}  // namespace

void save_tensor(const at::Tensor& tensor, const std::string& path) {
  AtomicFile file(path);
  with_file(path, "written", [&] {
    torch::save(std::vector<at::Tensor>{tensor.detach()},
                [&](const void* bytes, size_t count) { return file.write(bytes, count); });
  });
  file.commit();
}

at::Tensor load_tensor(const std::string& path) {
  std::vector<at::Tensor> tensors;
  with_file(path, "read", [&] { torch::load(tensors, path); });
  if (tensors.empty()) {
    throw Error(ErrorKind::kIo,
                path + " cannot be read: it holds no tensor of save(); torch.jit.load() reads TorchScript");
  }
  return tensors.front();
}

}  // namespace simple_torch::core
