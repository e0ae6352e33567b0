// Format: _legacy_save of torch/serialization.py. Pickles of a magic number, a version, a description of the
// machine, the value, and the storages' keys; then the elements of each storage after their number.
#include "core_libtorch/pickle/legacy_file.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core_libtorch/error.h"
#include "core_libtorch/file_bytes.h"
#include "core_libtorch/pickle/bytes.h"
#include "core_libtorch/pickle/reader.h"
#include "core_libtorch/pickle/storages.h"

namespace simple_torch::core::pickle {
namespace {

// 0x1950a86a20f9469cfc6c, an integer of 10 bytes.
constexpr std::string_view kMagic = "\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.";
constexpr int64_t kVersion = 1001;

class LegacyFile {
 public:
  LegacyFile(const std::string& path, const std::optional<std::string>& map_location)
      : content_(read_bytes(path, false)),
        bytes_({static_cast<const char*>(content_.const_data_ptr()), static_cast<size_t>(content_.numel())}),
        storages_(path, map_location, [this](const auto&... id) { return uninitialized(id...); }) {}

  ValuePtr read() {
    const Makers makers = storages_.makers();
    skip_magic();
    require_version(*next_unpickled(bytes_, makers));
    require_little_endian(*next_unpickled(bytes_, makers));
    ValuePtr value = next_unpickled(bytes_, makers);
    const ValuePtr keys = next_unpickled(bytes_, makers);
    for (const ValuePtr& key : keys->items) {
      read_storage(key->text);
    }
    if (keys->items.size() != numels_.size()) {
      fail_broken("the content of a storage is missing");
    }
    return value;
  }

 private:
  void skip_magic() {
    const bool is_pickle = bytes_.left() > 1 && bytes_.take(1) == "\x80";
    if (is_pickle) {
      bytes_.take(1);
      bytes_.skip_frame();
    }
    if (!is_pickle || bytes_.left() < kMagic.size() || bytes_.take(kMagic.size()) != kMagic) {
      fail("Invalid magic number; corrupt file?");
    }
  }

  static void require_version(const Value& version) {
    if (version.kind != Kind::kInt || version.number != kVersion) {
      fail("Invalid protocol version: " + std::to_string(version.number));
    }
  }

  static void require_little_endian(const Value& machine) {
    for (size_t i = 0; machine.is_dict() && i + 1 < machine.items.size(); i += 2) {
      if (machine.items[i]->text == "little_endian" && machine.items[i + 1]->number == 0) {
        fail("it was written on a big-endian machine, which is not supported");
      }
    }
  }

  /// The content follows the pickles. A corrupt size must not allocate more than the file can fill.
  c10::Storage uninitialized(const std::string& key, int64_t numel, size_t item_bytes) {
    int64_t bytes = 0;
    const bool fits = numel >= 0 && !__builtin_mul_overflow(numel, static_cast<int64_t>(item_bytes), &bytes);
    if (!fits || static_cast<uint64_t>(bytes) > bytes_.left()) {
      fail_broken("a storage exceeds the file");
    }
    numels_[key] = numel;
    return at::empty({bytes}, at::kByte).storage();
  }

  void read_storage(const std::string& key) {
    const c10::Storage* storage = storages_.find(key);
    if (storage == nullptr) {
      fail_broken("it has the content of an unknown storage");
    }
    if (bytes_.number<int64_t>() != numels_[key]) {
      fail_broken("a storage has another size");
    }
    const std::string_view content = bytes_.take(storage->nbytes());
    const auto options = at::TensorOptions().dtype(at::kByte).device(storage->device());
    const auto count = static_cast<int64_t>(content.size());
    const at::Tensor source = at::empty({count}, at::kByte);
    std::copy(content.begin(), content.end(), static_cast<char*>(source.mutable_data_ptr()));
    at::empty({0}, options).set_(*storage, 0, {count}).copy_(source);
  }

  at::Tensor content_;
  Bytes bytes_;
  Storages storages_;
  std::unordered_map<std::string, int64_t> numels_;
};

}  // namespace

ValuePtr load_legacy(const std::string& path, const std::optional<std::string>& map_location) {
  return LegacyFile(path, map_location).read();
}

}  // namespace simple_torch::core::pickle
