// The storages of a file that is being read, and the tensors on them.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core_libtorch/pickle/reader.h"
#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// All throw Error(kIo) for a corrupt file.
class Storages {
 public:
  /// Returns the content of a storage on the CPU.
  using ReadBytes = std::function<c10::Storage(const std::string& key, int64_t numel, size_t item_bytes)>;

  Storages(std::string path, std::optional<std::string> map_location, ReadBytes read_bytes);

  /// The functions of a pickle whose tensors are on these storages.
  Makers makers();

  /// The storage of a key that the pickle named; null otherwise.
  const c10::Storage* find(const std::string& key) const;

 private:
  ValuePtr storage(const std::string& storage_class, const std::string& key, const std::string& location,
                   int64_t numel);
  int64_t number(const std::string& key, const std::string& location, int64_t numel, size_t item_bytes);
  c10::Storage on_device(c10::Storage here, const std::string& location) const;
  at::Tensor tensor(const Value& of, const std::string& named_dtype, int64_t offset,
                    const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                    bool requires_grad) const;

  std::string path_;
  std::optional<std::string> map_location_;
  ReadBytes read_bytes_;
  std::unordered_map<std::string, int64_t> numbers_;
  std::vector<c10::Storage> storages_;
};

}  // namespace simple_torch::core::pickle
