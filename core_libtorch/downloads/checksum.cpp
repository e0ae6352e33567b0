#include "core_libtorch/downloads/checksum.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "core_libtorch/downloads/md5.h"
#include "core_libtorch/downloads/sha256.h"
#include "core_libtorch/error.h"

namespace simple_torch::core::downloads {
namespace {

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};

[[noreturn]] void fail(const std::string& path) {
  throw Error(ErrorKind::kIo, "'" + path + "' cannot be read: " + std::strerror(errno));
}

template <class Digest>
std::string digest_of(const std::string& path) {
  const std::unique_ptr<FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    fail(path);
  }
  Digest digest;
  Blocks<Digest> blocks(digest);
  std::vector<uint8_t> part(size_t{1} << 20U);
  size_t count = 0;
  while ((count = std::fread(part.data(), 1, part.size(), file.get())) > 0) {
    blocks.add(part.data(), count);
  }
  if (std::ferror(file.get()) != 0) {
    fail(path);
  }
  blocks.finish();
  return digest.hex();
}

}  // namespace

std::string checksum_of_file(const std::string& path, const std::string& kind) {
  if (kind == "md5") {
    return digest_of<Md5>(path);
  }
  if (kind == "sha256") {
    return digest_of<Sha256>(path);
  }
  throw Error(ErrorKind::kInvalidArgument, "checksum: kind must be 'md5' or 'sha256', got '" + kind + "'");
}

}  // namespace simple_torch::core::downloads
