#include "core_libtorch/jit/archive_check.h"

#include <caffe2/serialize/inline_container.h>
#include <zlib.h>

#include <cstdint>
#include <vector>

#include "core_libtorch/archive_directory.h"
#include "core_libtorch/error.h"
#include "core_libtorch/unreadable_file.h"

namespace simple_torch::core {
namespace {

[[noreturn]] void fail_broken(const std::string& why) { throw Error(ErrorKind::kIo, why); }

uint32_t checksum_of(const void* bytes, size_t size) {
  return static_cast<uint32_t>(crc32_z(0, static_cast<const Bytef*>(bytes), size));
}

void check_records(const std::string& path) {
  const std::vector<ArchiveRecord> records = records_of_archive(path);
  caffe2::serialize::PyTorchStreamReader reader(path);
  if (!reader.hasRecord("constants.pkl")) {
    fail_broken("it is not a file of torch.jit.save; torch.load reads files of torch.save");
  }
  for (const ArchiveRecord& record : records) {
    const size_t slash = record.name.find('/');  // the archive's own name precedes it
    const std::string name = slash == std::string::npos ? record.name : record.name.substr(slash + 1);
    if (record.name.ends_with('/')) {
      continue;  // a folder
    }
    const auto [bytes, size] = reader.getRecord(name);
    if (checksum_of(bytes.get(), size) != record.checksum) {
      fail_broken("the record " + name + " is corrupt: its checksum differs");
    }
  }
}

}  // namespace

void check_script_archive(const std::string& path) {
  try {
    if (const std::string reason = why_unreadable(path); !reason.empty()) {
      fail_broken(reason);
    }
    check_records(path);
  } catch (const Error& error) {
    throw Error(error.kind(), path + " cannot be read: " + error.what());
  } catch (const c10::Error& error) {
    throw Error(ErrorKind::kIo, path + " cannot be read: " + error.what_without_backtrace());
  }
}

}  // namespace simple_torch::core
