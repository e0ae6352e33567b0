// Reads safetensors files: a JSON header with each tensor's dtype, shape and offsets, then the data.
// Format: https://github.com/huggingface/safetensors, README, "Format".
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace simple_torch::core {

/// An open file. The constructor checks the whole header.
class SafetensorsFile {
 public:
  /// Throws Error(kIo), which names the file and the fault, if it cannot be read or is not a valid
  /// safetensors file.
  explicit SafetensorsFile(const std::string& path);

  size_t size() const noexcept { return entries_.size(); }
  /// In the header's order.
  std::vector<std::string> names() const;
  /// The texts that the writer added, by name.
  const std::vector<std::pair<std::string, std::string>>& metadata() const noexcept { return metadata_; }
  /// On the CPU. A small tensor is a copy; the pages of a large one are the file's until they are written, as
  /// in Python, so that the file must not be shortened in place. Throws Error(kInvalidArgument) for an
  /// unknown name, Error(kIo).
  at::Tensor tensor(const std::string& name);

 private:
  struct Entry {
    std::string name;
    c10::ScalarType dtype;
    std::vector<int64_t> shape;
    uint64_t begin, end;  // in the file
  };
  [[noreturn]] void fail(const std::string& why) const;
  void read_header();
  at::Tensor copied(const Entry& entry);
  at::Tensor mapped(const Entry& entry);
  void require_complete() const;
  Entry entry(const std::string& name, const std::string& dtype, std::vector<int64_t> shape, uint64_t begin,
              uint64_t end) const;

  std::string path_;
  std::ifstream file_;
  std::mutex reading_;                // the file has one position
  std::shared_ptr<std::byte> pages_;  // the whole file, mapped; tensors share it
  uint64_t file_size_ = 0, data_begin_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace simple_torch::core
