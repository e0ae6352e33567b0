#include "core_libtorch/pickle/checkpoint.h"

#include <ATen/ops/empty.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <caffe2/serialize/inline_container.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "core_libtorch/archive_directory.h"
#include "core_libtorch/atomic_file.h"
#include "core_libtorch/error.h"
#include "core_libtorch/pickle/legacy_file.h"
#include "core_libtorch/pickle/reader.h"
#include "core_libtorch/pickle/storages.h"
#include "core_libtorch/pickle/writer.h"
#include "core_libtorch/unreadable_file.h"

namespace simple_torch::core::pickle {
namespace {

using caffe2::serialize::PyTorchStreamReader;
using caffe2::serialize::PyTorchStreamWriter;

[[noreturn]] void fail_with_path(const std::string& path, const char* what, const std::string& why) {
  throw Error(ErrorKind::kIo, path + " cannot be " + what + ": " + why);
}

// ---- writing

void write_storage(PyTorchStreamWriter& writer, const c10::Storage& storage, size_t number) {
  const auto bytes = static_cast<int64_t>(storage.nbytes());
  at::Tensor here =
      at::empty({0}, at::TensorOptions().dtype(at::kByte).device(storage.device())).set_(storage, 0, {bytes});
  here = here.cpu();
  writer.writeRecord("data/" + std::to_string(number), here.const_data_ptr(), static_cast<size_t>(bytes));
}

void write_archive(PyTorchStreamWriter& writer, const Pickled& pickled) {
  writer.writeRecord("data.pkl", pickled.bytes.data(), pickled.bytes.size());
  writer.writeRecord("byteorder", "little", std::strlen("little"));
  for (size_t i = 0; i < pickled.storages.size(); ++i) {
    write_storage(writer, pickled.storages[i], i);
  }
  writer.writeEndOfFile();
}

// ---- reading

class Archive {
 public:
  Archive(const std::string& path, const std::optional<std::string>& map_location)
      : path_(path),
        reader_(path),
        storages_(path, map_location, [this](const auto&... id) { return content(id...); }) {}

  ValuePtr read() {
    records_of_archive(path_);
    require_little_endian();
    const auto [bytes, size] = reader_.getRecord("data.pkl");
    return unpickled({static_cast<const char*>(bytes.get()), size}, storages_.makers());
  }

 private:
  void require_little_endian() {
    if (!reader_.hasRecord("byteorder")) {
      return;
    }
    const auto [bytes, size] = reader_.getRecord("byteorder");
    if (std::string_view(static_cast<const char*>(bytes.get()), size) != "little") {
      throw Error(ErrorKind::kIo, "it was written on a big-endian machine, which is not supported");
    }
  }

  c10::Storage content(const std::string& key, int64_t, size_t) {
    auto [bytes, size] = reader_.getRecord("data/" + key, c10::GetCPUAllocator());
    return {c10::Storage::use_byte_size_t(), size, std::move(bytes), c10::GetCPUAllocator(), true};
  }

  std::string path_;
  PyTorchStreamReader reader_;
  Storages storages_;
};

void require_readable(const std::string& path) {
  if (const std::string reason = why_unreadable(path); !reason.empty()) {
    fail_with_path(path, "read", reason);
  }
}

/// Files of PyTorch before 1.6 are not archives.
bool is_zip(const std::string& path) {
  char begin[2] = {};
  if (FILE* file = std::fopen(path.c_str(), "rb")) {
    const bool has_begin = std::fread(begin, 1, 2, file) == 2;
    std::fclose(file);
    return has_begin && begin[0] == 'P' && begin[1] == 'K';
  }
  return false;
}

}  // namespace

void save(const Value& value, const std::string& path) {
  const Pickled parts = pickled(value);
  AtomicFile file(path);
  try {
    PyTorchStreamWriter writer([&](const void* bytes, size_t count) { return file.write(bytes, count); });
    write_archive(writer, parts);
  } catch (const c10::Error& error) {
    fail_with_path(path, "written", error.what_without_backtrace());
  }
  file.commit();
}

ValuePtr load(const std::string& path, const std::optional<std::string>& map_location) {
  const c10::InferenceMode usual(false);
  require_readable(path);
  try {
    return is_zip(path) ? Archive(path, map_location).read() : load_legacy(path, map_location);
  } catch (const c10::Error& error) {
    fail_with_path(path, "read", error.what_without_backtrace());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kIo) {
      throw;
    }
    fail_with_path(path, "read", error.what());
  }
}

bool is_libtorch_archive(const std::string& path) {
  try {
    return is_zip(path) && PyTorchStreamReader(path).hasRecord("constants.pkl");
  } catch (const c10::Error&) {
    return false;
  }
}

}  // namespace simple_torch::core::pickle
