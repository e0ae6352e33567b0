#include "core_libtorch/safetensors_writer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <set>

#include "core_libtorch/atomic_file.h"
#include "core_libtorch/error.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/safetensors_dtypes.h"

namespace simple_torch::core {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void reject(const std::string& why) { throw Error(ErrorKind::kInvalidArgument, why); }

const SafetensorsDtype* dtype_of(const NamedTensors::value_type& each) {
  const auto* known =
      std::find_if(kSafetensorsDtypes.begin(), kSafetensorsDtypes.end(),
                   [&](const SafetensorsDtype& row) { return row.dtype == each.second.scalar_type(); });
  if (known == kSafetensorsDtypes.end()) {
    reject("save_safetensors: the format has no dtype " +
           std::string(c10::toString(each.second.scalar_type())) + " of tensor " + each.first);
  }
  return known;
}

void check_names(const NamedTensors& tensors) {
  std::set<std::string> names{"__metadata__"};
  for (const auto& [name, tensor] : tensors) {
    if (!names.insert(name).second) {
      reject("save_safetensors: the name '" + name + "' is reserved or occurs twice");
    }
  }
}

void check_layouts(const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (tensor.layout() != at::kStrided) {
      reject("You are trying to save a sparse tensors: `['" + name +
             "']` which this library does not support. You can make it a dense tensor before saving with "
             "`.to_dense()` but be aware this might make a much larger file than needed.");
    }
    if (!tensor.is_contiguous()) {
      reject("You are trying to save a non contiguous tensor: `" + name +
             "` which is not allowed; call contiguous() first");
    }
  }
}

void check_memory(const NamedTensors& tensors) {
  std::vector<const NamedTensors::value_type*> by_address;
  for (const auto& each : tensors) {
    if (each.second.numel() > 0) {
      by_address.push_back(&each);
    }
  }
  const auto begin_of = [](const auto* each) {
    return reinterpret_cast<uintptr_t>(each->second.const_data_ptr());
  };
  std::stable_sort(by_address.begin(), by_address.end(),
                   [&](const auto* a, const auto* b) { return begin_of(a) < begin_of(b); });
  for (size_t i = 1; i < by_address.size(); ++i) {
    const auto* before = by_address[i - 1];
    if (begin_of(before) + before->second.nbytes() > begin_of(by_address[i])) {
      reject(
          "Some tensors share memory, this will lead to duplicate memory on disk and potential differences "
          "when loading them again: " +
          before->first + ", " + by_address[i]->first + "; save a clone() of one, or only one of them");
    }
  }
}

/// In the order of the file: the greatest alignment first, then by name.
NamedTensors sorted(NamedTensors tensors) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return dtype_of(a) == dtype_of(b) ? a.first < b.first : dtype_of(a) > dtype_of(b);
  });
  return tensors;
}

std::string text_of(const Json& header) {
  try {
    return header.dump();
  } catch (const Json::type_error&) {  // the only error of dump()
    reject("save_safetensors: names and metadata must be valid UTF-8");
  }
}

std::string header_of(const NamedTensors& tensors, const Metadata& metadata) {
  Json header = Json::object();
  for (const auto& [name, value] : metadata) {
    header["__metadata__"][name] = value;
  }
  uint64_t begin = 0;
  for (const auto& each : tensors) {
    const auto& [name, tensor] = each;
    const uint64_t end = begin + tensor.nbytes();
    header[name] = {{"dtype", std::string(dtype_of(each)->name)},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = text_of(header);
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace

void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  check_names(tensors);
  check_layouts(tensors);
  check_memory(tensors);
  const NamedTensors in_order = sorted(tensors);
  const std::string header = header_of(in_order, metadata);
  const auto length = static_cast<uint64_t>(header.size());
  AtomicFile file(path);
  file.write(&length, sizeof length);  // little-endian, as the machine
  file.write(header.data(), header.size());
  for (const auto& each : in_order) {
    const at::Tensor here = with_error_context(
        "save_safetensors", kNoOperands, [&] { return each.second.cpu().resolve_conj().resolve_neg(); });
    file.write(here.const_data_ptr(), here.nbytes());
  }
  file.commit();
}

}  // namespace simple_torch::core
