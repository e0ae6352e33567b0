// Bodies that report the live handles and their memory.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "abi/handles/allocation_trace.h"
#include "core_libtorch/dtypes.h"

namespace simple_torch::abi {
namespace {

/// The total size of storages; each storage counts once.
class Storages {
 public:
  void add(const at::Tensor& tensor) {
    if (tensor.defined() && tensor.has_storage() &&
        seen_.insert(tensor.storage().unsafeGetStorageImpl()).second) {
      bytes_ += static_cast<int64_t>(tensor.storage().nbytes());
    }
  }
  int64_t bytes() const noexcept { return bytes_; }

 private:
  std::set<const c10::StorageImpl*> seen_;
  int64_t bytes_ = 0;
};

/// Calls `visit` with the tensor of each live handle, except for handles that are released meanwhile.
template <class Visit>
void each_live_tensor(Visit&& visit) {
  for (const int64_t handle : handles().live_handles()) {
    if (const auto held = handles().get_if<at::Tensor>(handle)) {
      visit(handle, **held);
    }
  }
}

struct Group {
  int64_t count = 0;
  Storages storages;
};

std::string origin_of(int64_t handle) {
  const auto allocation = allocation_trace::of(handle);
  if (!allocation) {
    return "created before tracing started";
  }
  return "created by " + allocation->function +
         (allocation->location.empty() ? "" : " at " + allocation->location);
}

std::string line_of(const std::string& kind, const std::string& origin, const Group& group) {
  const int64_t bytes = group.storages.bytes();
  return "  " + std::to_string(group.count) + " " + kind + (group.count == 1 ? "" : "s") +
         (bytes == 0 ? "" : " of " + std::to_string(bytes) + " bytes") + ", " + origin;
}

std::string report() {
  std::map<std::pair<std::string, std::string>, Group> groups;
  const std::vector<int64_t> all = handles().live_handles();
  for (const int64_t handle : all) {
    Group& group = groups[{HandleTable::kind_name(handle), origin_of(handle)}];
    ++group.count;
    if (const auto held = handles().get_if<at::Tensor>(handle)) {
      group.storages.add(**held);
    }
  }
  std::vector<std::pair<int64_t, std::string>> lines;
  lines.reserve(groups.size());
  for (const auto& [key, group] : groups) {
    lines.emplace_back(-group.count, line_of(key.first, key.second, group));
  }
  std::sort(lines.begin(), lines.end());
  std::string text = all.empty()       ? "no live handles"
                     : all.size() == 1 ? "1 live handle"
                                       : std::to_string(all.size()) + " live handles";
  for (const auto& [order, line] : lines) {
    text += "\n" + line;
  }
  return text;
}

}  // namespace

namespace body {

int32_t trace_handles(bool enabled, SptLocation location) {
  return guarded([&] {
    if (enabled) {
      allocation_trace::start(location);
    } else {
      allocation_trace::stop();
    }
  });
}

int32_t live_report(char** out) {
  return guarded([&] {
    require(out, "out");
    *out = to_malloc_string(report());
  });
}

int32_t live_bytes(const char* device, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(device, "device");
    const c10::Device wanted = core::device_of_text(device);
    Storages storages;
    each_live_tensor([&](int64_t /*handle*/, const at::Tensor& tensor) {
      if (tensor.device() == wanted) {
        storages.add(tensor);
      }
    });
    *out = storages.bytes();
  });
}

}  // namespace body
}  // namespace simple_torch::abi
