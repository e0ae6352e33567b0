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
#include "core_libtorch/error.h"

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

bool begins_packed(const uint8_t* at, const uint8_t* end) {
  return end - at >= 2 && at[0] == 0x1f && at[1] == 0x8b;
}

/// Unpacks one of the parts that a gzip file is made of.
class Unpacking {
 public:
  explicit Unpacking(const std::string& path) : path_(path) {
    constexpr int kGzip = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzip) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Unpacking() { inflateEnd(&stream_); }
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;

  /// Adds what the part at `at` holds to `content`; gives where it ends.
  const uint8_t* run(const uint8_t* at, const uint8_t* end, std::vector<uint8_t>& content) {
    for (int code = Z_OK; code != Z_STREAM_END;) {
      const size_t before = content.size();
      content.resize(before + kPart);
      const auto given = static_cast<uInt>(std::min<ptrdiff_t>(end - at, kPart));
      stream_.next_in = const_cast<uint8_t*>(at);  // zlib only reads it
      stream_.avail_in = given;
      stream_.next_out = content.data() + before;
      stream_.avail_out = kPart;
      code = inflate(&stream_, Z_NO_FLUSH);
      at += given - stream_.avail_in;
      content.resize(before + kPart - stream_.avail_out);
      require_going(code, at == end);
    }
    return at;
  }

 private:
  static constexpr unsigned kPart = 1U << 20;

  void require_going(int code, bool is_all_read) const {
    if (code == Z_BUF_ERROR || (code == Z_OK && is_all_read && stream_.avail_out > 0)) {
      fail(path_, "this gzip file is truncated");
    }
    if (code != Z_OK && code != Z_STREAM_END) {
      fail(path_, std::string("this gzip file is broken: ") + (stream_.msg ? stream_.msg : zError(code)));
    }
  }

  const std::string& path_;
  z_stream stream_{};
};

// Zeros may fill a gzip file up, as Python's gzip has it; zlib's own gzread would pass over anything.
at::Tensor without_packing(const std::string& path) {
  const at::Tensor packed = as_it_is(path);
  const auto* at = packed.const_data_ptr<uint8_t>();
  const auto* const end = at + packed.numel();
  if (!begins_packed(at, end)) {
    return packed;
  }
  std::vector<uint8_t> content;
  while (begins_packed(at, end)) {
    at = Unpacking(path).run(at, end, content);
  }
  if (std::any_of(at, end, [](uint8_t byte) { return byte != 0; })) {
    fail(path, "this gzip file is broken: something else follows its end");
  }
  at::Tensor bytes = at::empty({static_cast<int64_t>(content.size())}, at::kByte);
  std::copy(content.begin(), content.end(), bytes.mutable_data_ptr<uint8_t>());
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
  AtomicFile file(path);
  file.write(held.const_data_ptr(), static_cast<size_t>(held.numel()));
  file.take_place();
}

}  // namespace simple_torch::core
