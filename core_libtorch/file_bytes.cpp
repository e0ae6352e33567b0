#include "core_libtorch/file_bytes.h"

#include <ATen/ops/empty.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <vector>

#include "core_libtorch/atomic_file.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

[[noreturn]] void fail_to_read(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kIo, "'" + path + "' cannot be read: " + why);
}

void require_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    fail_to_read(path,
                 status.type() == std::filesystem::file_type::not_found ? "no such file" : error.message());
  }
  if (std::filesystem::is_directory(status)) {
    fail_to_read(path, "is a directory");
  }
}

at::Tensor read_raw(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0) {
    fail_to_read(path, std::strerror(errno));
  }
  at::Tensor bytes = at::empty({size}, at::kByte);
  file.seekg(0);
  if (!file.read(static_cast<char*>(bytes.mutable_data_ptr()), size)) {
    fail_to_read(path, "the file was truncated during the read");
  }
  return bytes;
}

bool is_gzip(const uint8_t* at, const uint8_t* end) {
  return end - at >= 2 && at[0] == 0x1f && at[1] == 0x8b;
}

/// Decompresses one member of a gzip file.
class GzipMember {
 public:
  explicit GzipMember(const std::string& path) : path_(path) {
    constexpr int kGzip = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzip) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~GzipMember() { inflateEnd(&stream_); }
  GzipMember(const GzipMember&) = delete;
  GzipMember& operator=(const GzipMember&) = delete;

  /// Appends the content of the member at `at` to `content`. Returns the member's end.
  const uint8_t* run(const uint8_t* at, const uint8_t* end, std::vector<uint8_t>& content) {
    for (int code = Z_OK; code != Z_STREAM_END;) {
      const size_t before = content.size();
      content.resize(before + kPart);
      const auto available = static_cast<uInt>(std::min<ptrdiff_t>(end - at, kPart));
      stream_.next_in = const_cast<uint8_t*>(at);  // zlib only reads it
      stream_.avail_in = available;
      stream_.next_out = content.data() + before;
      stream_.avail_out = kPart;
      code = inflate(&stream_, Z_NO_FLUSH);
      at += available - stream_.avail_in;
      content.resize(before + kPart - stream_.avail_out);
      require_valid(code, at == end);
    }
    return at;
  }

 private:
  static constexpr unsigned kPart = 1U << 20;

  void require_valid(int code, bool at_end) const {
    if (code == Z_BUF_ERROR || (code == Z_OK && at_end && stream_.avail_out > 0)) {
      fail_to_read(path_, "this gzip file is truncated");
    }
    if (code != Z_OK && code != Z_STREAM_END) {
      fail_to_read(path_,
                   std::string("this gzip file is corrupt: ") + (stream_.msg ? stream_.msg : zError(code)));
    }
  }

  const std::string& path_;
  z_stream stream_{};
};

// Zero padding after the last member is valid, as in Python's gzip. zlib's gzread would ignore any data
// there.
at::Tensor read_gzip(const std::string& path) {
  at::Tensor compressed = read_raw(path);
  const auto* at = compressed.const_data_ptr<uint8_t>();
  const auto* const end = at + compressed.numel();
  if (!is_gzip(at, end)) {
    return compressed;
  }
  std::vector<uint8_t> content;
  while (is_gzip(at, end)) {
    at = GzipMember(path).run(at, end, content);
  }
  if (std::any_of(at, end, [](uint8_t byte) { return byte != 0; })) {
    fail_to_read(path, "this gzip file is corrupt: it has trailing data");
  }
  at::Tensor bytes = at::empty({static_cast<int64_t>(content.size())}, at::kByte);
  std::copy(content.begin(), content.end(), bytes.mutable_data_ptr<uint8_t>());
  return bytes;
}

}  // namespace

at::Tensor read_bytes(const std::string& path, bool decompress) {
  require_file(path);
  return decompress ? read_gzip(path) : read_raw(path);
}

void write_bytes(const std::string& path, const at::Tensor& bytes) {
  if (!bytes.is_cpu() || bytes.scalar_type() != at::kByte || bytes.dim() != 1) {
    throw Error(ErrorKind::kInvalidArgument,
                "write_file: bytes must be a 1-D uint8 tensor on the CPU, got a " +
                    std::to_string(bytes.dim()) + "-D " + dtype_name(bytes.scalar_type()) + " tensor on " +
                    bytes.device().str());
  }
  const at::Tensor contiguous = bytes.contiguous();
  AtomicFile file(path);
  file.write(contiguous.const_data_ptr(), static_cast<size_t>(contiguous.numel()));
  file.commit();
}

}  // namespace simple_torch::core
