#include "core_libtorch/pickle/checkpoint.h"

#include <ATen/ops/empty.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "core_libtorch/atomic_file.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"
#include "core_libtorch/pickle/reader.h"
#include "core_libtorch/pickle/storage_types.h"
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
      : path_(path), reader_(path), map_location_(map_location) {}

  ValuePtr read() {
    require_little_endian();
    const auto [bytes, size] = reader_.getRecord("data.pkl");
    const Makers makers{.storage = [this](const auto&... id) { return storage(id...); },
                        .tensor = [this](const auto&... of) { return tensor(of...); }};
    return unpickled({static_cast<const char*>(bytes.get()), size}, makers);
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

  ValuePtr storage(const std::string& storage_class, const std::string& key, const std::string& location,
                   int64_t numel) {
    ValuePtr made = make_value(Kind::kStorage);
    const std::string name = storage_class.substr(storage_class.find(' ') + 1);
    const auto dtype = dtype_of_storage_class(name);
    if (!dtype && name != "UntypedStorage") {
      throw Error(ErrorKind::kIo, "it contains tensors of unknown storage class " + name);
    }
    made->text = dtype ? dtype_name(*dtype) : "";
    made->number = storage_number(key, location, numel, dtype ? c10::elementSize(*dtype) : 1);
    return made;
  }

  int64_t storage_number(const std::string& key, const std::string& location, int64_t numel,
                         size_t item_bytes) {
    const auto [entry, is_new] = storage_numbers_.emplace(key, static_cast<int64_t>(storages_.size()));
    if (!is_new) {
      return entry->second;
    }
    auto [bytes, size] = reader_.getRecord("data/" + key, c10::GetCPUAllocator());
    // A view of the bytes in another dtype may leave a remainder.
    if (numel < 0 || static_cast<uint64_t>(numel) != size / item_bytes) {
      throw Error(ErrorKind::kIo, "storage " + key + " has " + std::to_string(size) + " bytes, but needs " +
                                      std::to_string(numel) + " elements of " + std::to_string(item_bytes) +
                                      " bytes");
    }
    c10::Storage here(c10::Storage::use_byte_size_t(), size, std::move(bytes), c10::GetCPUAllocator(), true);
    storages_.push_back(on_device(std::move(here), map_location_.value_or(location)));
    return entry->second;
  }

  c10::Storage on_device(c10::Storage here, const std::string& location) const {
    try {
      const c10::Device device = device_of_text(location);
      if (device.is_cpu()) {
        return here;
      }
      const auto bytes = static_cast<int64_t>(here.nbytes());
      return at::empty({0}, at::kByte).set_(here, 0, {bytes}).to(device).storage();
    } catch (const Error& error) {
      if (map_location_) {
        throw;
      }
      throw Error(ErrorKind::kUnavailable, path_ + " contains tensors of " + location + ", and " +
                                               error.what() + "; load it with map_location: \"cpu\"");
    }
  }

  at::Tensor tensor(const Value& of, const std::string& named_dtype, int64_t offset,
                    const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                    bool requires_grad) const {
    const c10::Storage& storage = storages_.at(static_cast<size_t>(of.number));
    const c10::ScalarType dtype = dtype_of_name(named_dtype.empty() ? of.text : named_dtype);
    require_within(storage.nbytes() / c10::elementSize(dtype), offset, sizes, strides);
    at::Tensor made = at::empty({0}, at::TensorOptions().dtype(dtype).device(storage.device()));
    made.set_(storage, offset, sizes, strides);
    return requires_grad ? made.requires_grad_() : made;
  }

  static void require_within(size_t items, int64_t offset, const std::vector<int64_t>& sizes,
                             const std::vector<int64_t>& strides) {
    bool fits = offset >= 0 && sizes.size() == strides.size();
    bool is_empty = false;
    int64_t last = offset;
    for (size_t i = 0; fits && i < sizes.size(); ++i) {
      int64_t step = 0;
      fits = sizes[i] >= 0 && strides[i] >= 0 &&
             !__builtin_mul_overflow(std::max<int64_t>(sizes[i] - 1, 0), strides[i], &step) &&
             !__builtin_add_overflow(last, step, &last);
      is_empty = is_empty || sizes[i] == 0;
    }
    if (!fits || (!is_empty && static_cast<uint64_t>(last) >= items)) {
      throw Error(ErrorKind::kIo, "a tensor exceeds its storage");
    }
  }

  const std::string& path_;
  PyTorchStreamReader reader_;
  const std::optional<std::string>& map_location_;
  std::unordered_map<std::string, int64_t> storage_numbers_;
  std::vector<c10::Storage> storages_;
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
  if (!is_zip(path)) {
    fail_with_path(path, "read", "it is not a zip archive, which torch.save writes since PyTorch 1.6");
  }
  try {
    return Archive(path, map_location).read();
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
