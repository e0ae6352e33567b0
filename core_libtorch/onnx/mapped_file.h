// A file's content in memory, read by the kernel page by page.
#pragma once

#include <string>
#include <string_view>

namespace simple_torch::core::onnx {

class MappedFile {
 public:
  /// Throws Error(kIo), which names the file and the reason.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace simple_torch::core::onnx
