// Bodies of downloads and archives.
#include <array>
#include <memory>
#include <string>

#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/downloads/checksum.h"
#include "core_libtorch/downloads/tar.h"
#include "core_libtorch/downloads/transfer.h"

namespace simple_torch::abi {

using TransferPointer = std::unique_ptr<core::downloads::Transfer>;

template <>
struct HandleKindOf<TransferPointer> {
  static constexpr HandleKind value = HandleKind::kDownload;
};

namespace body {

int32_t download_begin(const char* url, const char* path, bool resume, int64_t stall_s, int64_t max_redirects,
                       int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(url, "url");
    require(path, "path");
    *out = handles().insert(std::make_unique<core::downloads::Transfer>(
        url, path, resume, core::downloads::Limits{stall_s, max_redirects}));
  });
}

int32_t download_step(int64_t download, int64_t wait_ms, int64_t** out, int64_t* out_len) {
  return guarded([&] {
    require(out, "out");
    require(out_len, "out_len");
    const core::downloads::Progress now = (*handles().get<TransferPointer>(download))->step(wait_ms);
    const std::array<int64_t, 3> numbers{now.is_done ? 1 : 0, now.bytes, now.total};
    store_values<int64_t>(numbers, out, out_len);
  });
}

int32_t download_end(int64_t download) {
  return guarded([&] { handles().release_if(download, HandleKind::kDownload); });
}

int32_t file_checksum(const char* path, const char* kind, char** out) {
  return guarded([&] {
    require(out, "out");
    require(path, "path");
    require(kind, "kind");
    *out = to_malloc_string(core::downloads::checksum_of_file(path, kind));
  });
}

int32_t tar_unpack(const char* path, const char* folder) {
  return guarded([&] {
    require(path, "path");
    require(folder, "folder");
    core::downloads::unpack_tar(path, folder);
  });
}

}  // namespace body
}  // namespace simple_torch::abi
