#include "core_libtorch/file_bytes.h"

#include <ATen/ops/empty.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "core_libtorch/error.h"
#include "core_libtorch/replaced_file.h"

namespace simple_torch::core {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kIo, "'" + path + "' cannot be read: " + why);
}

void refuse_folder(const std::string& path) {
  std::error_code fault;
  const auto status = std::filesystem::status(path, fault);
  if (!std::filesystem::exists(status)) {
    fail(path,
         status.type() == std::filesystem::file_type::not_found ? "there is no such file" : fault.message());
  }
  if (std::filesystem::is_directory(status)) {
    fail(path, "it is a folder");
  }
}

at::Tensor as_it_is(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0) {
    fail(path, std::strerror(errno));
  }
  at::Tensor bytes = at::empty({size}, at::kByte);
  file.seekg(0);
  if (!file.read(static_cast<char*>(bytes.mutable_data_ptr()), size)) {
    fail(path, "it became shorter while it was read");
  }
  return bytes;
}

struct Close {
  void operator()(gzFile file) const { gzclose(file); }
};

at::Tensor without_packing(const std::string& path) {
  const std::unique_ptr<gzFile_s, Close> file(gzopen(path.c_str(), "rb"));
  if (!file) {
    fail(path, std::strerror(errno));
  }
  constexpr unsigned kPart = 1U << 20;
  std::vector<uint8_t> content;
  int count = 0;
  do {
    const size_t before = content.size();
    content.resize(before + kPart);
    count = gzread(file.get(), content.data() + before, kPart);
    content.resize(before + static_cast<size_t>(std::max(count, 0)));
  } while (count > 0);
  int fault = Z_OK;
  const char* const words = gzerror(file.get(), &fault);
  if (fault == Z_BUF_ERROR) {
    fail(path, "this gzip file is truncated");
  }
  if (fault != Z_OK && fault != Z_STREAM_END) {
    fail(path, std::string("this gzip file is broken: ") + words);
  }
  at::Tensor bytes = at::empty({static_cast<int64_t>(content.size())}, at::kByte);
  std::memcpy(bytes.mutable_data_ptr(), content.data(), content.size());
  return bytes;
}

}  // namespace

at::Tensor read_bytes(const std::string& path, bool unpacked) {
  refuse_folder(path);
  return unpacked ? without_packing(path) : as_it_is(path);
}

void write_bytes(const std::string& path, const at::Tensor& bytes) {
  if (!bytes.is_cpu() || bytes.scalar_type() != at::kByte || bytes.dim() != 1) {
    throw Error(ErrorKind::kInvalidArgument, "a file's bytes are a uint8 tensor of one dimension on the CPU");
  }
  const at::Tensor held = bytes.contiguous();
  ReplacedFile file(path);
  file.write(held.const_data_ptr(), static_cast<size_t>(held.numel()));
  file.take_place();
}

}  // namespace simple_torch::core
