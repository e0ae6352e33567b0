#include "core_libtorch/pickle/plain_file.h"

#include <c10/core/InferenceMode.h>

#include "core_libtorch/error.h"
#include "core_libtorch/file_bytes.h"
#include "core_libtorch/pickle/bytes.h"
#include "core_libtorch/pickle/reader.h"

namespace simple_torch::core::pickle {
namespace {

Makers without_storages() {
  Makers makers;
  makers.storage = [](const auto&...) -> ValuePtr {
    fail_broken("it refers to tensors outside of the file");
  };
  makers.tensor = [](const auto&...) -> at::Tensor {
    fail_broken("it refers to tensors outside of the file");
  };
  return makers;
}

}  // namespace

ValuePtr load_plain(const std::string& path) {
  const c10::InferenceMode usual(false);
  const at::Tensor bytes = read_bytes(path, false);
  try {
    return unpickled({static_cast<const char*>(bytes.const_data_ptr()), static_cast<size_t>(bytes.numel())},
                     without_storages());
  } catch (const c10::Error& error) {
    throw Error(ErrorKind::kIo, "'" + path + "' cannot be read: " + error.what_without_backtrace());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kIo) {
      throw;
    }
    throw Error(ErrorKind::kIo, "'" + path + "' cannot be read: " + error.what());
  }
}

}  // namespace simple_torch::core::pickle
