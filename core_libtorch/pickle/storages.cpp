#include "core_libtorch/pickle/storages.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"
#include "core_libtorch/pickle/storage_types.h"

namespace simple_torch::core::pickle {
namespace {

void require_within(size_t items, int64_t offset, const std::vector<int64_t>& sizes,
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

}  // namespace

Storages::Storages(std::string path, std::optional<std::string> map_location, ReadBytes read_bytes)
    : path_(std::move(path)), map_location_(std::move(map_location)), read_bytes_(std::move(read_bytes)) {}

Makers Storages::makers() {
  return {.storage = [this](const auto&... id) { return storage(id...); },
          .tensor = [this](const auto&... of) { return tensor(of...); }};
}

const c10::Storage* Storages::find(const std::string& key) const {
  const auto found = numbers_.find(key);
  return found == numbers_.end() ? nullptr : &storages_[static_cast<size_t>(found->second)];
}

ValuePtr Storages::storage(const std::string& storage_class, const std::string& key,
                           const std::string& location, int64_t numel) {
  ValuePtr made = make_value(Kind::kStorage);
  const std::string name = storage_class.substr(storage_class.find(' ') + 1);
  const auto dtype = dtype_of_storage_class(name);
  if (!dtype && name != "UntypedStorage") {
    throw Error(ErrorKind::kIo, "it contains tensors of unknown storage class " + name);
  }
  made->text = dtype ? dtype_name(*dtype) : "";
  made->number = number(key, location, numel, dtype ? c10::elementSize(*dtype) : 1);
  return made;
}

int64_t Storages::number(const std::string& key, const std::string& location, int64_t numel,
                         size_t item_bytes) {
  const auto [entry, is_new] = numbers_.emplace(key, static_cast<int64_t>(storages_.size()));
  if (is_new) {
    storages_.push_back(on_device(read_bytes_(key, numel, item_bytes), map_location_.value_or(location)));
  }
  // Of a view of the bytes in another dtype a remainder may be left.
  const size_t bytes = storages_[static_cast<size_t>(entry->second)].nbytes();
  if (numel < 0 || static_cast<uint64_t>(numel) != bytes / item_bytes) {
    throw Error(ErrorKind::kIo, "storage " + key + " has " + std::to_string(bytes) + " bytes, but needs " +
                                    std::to_string(numel) + " elements of " + std::to_string(item_bytes) +
                                    " bytes");
  }
  return entry->second;
}

c10::Storage Storages::on_device(c10::Storage here, const std::string& location) const {
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

at::Tensor Storages::tensor(const Value& of, const std::string& named_dtype, int64_t offset,
                            const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                            bool requires_grad) const {
  const c10::Storage& storage = storages_.at(static_cast<size_t>(of.number));
  const std::string& dtype_text = named_dtype.empty() ? of.text : named_dtype;
  if (dtype_text.empty()) {
    throw Error(ErrorKind::kIo, "a tensor has no dtype");
  }
  const c10::ScalarType dtype = dtype_of_name(dtype_text);
  require_within(storage.nbytes() / c10::elementSize(dtype), offset, sizes, strides);
  at::Tensor made = at::empty({0}, at::TensorOptions().dtype(dtype).device(storage.device()));
  made.set_(storage, offset, sizes, strides);
  return requires_grad ? made.requires_grad_() : made;
}

}  // namespace simple_torch::core::pickle
