// Shared by the tests of the two consumers: the loaded libraries, and tables of dtypes and layouts.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "tests/abi/capi_test.h"
#include "tests/dlpack/consumer.h"

namespace consumers {

/// A consumer's library while it is loaded.
class Library {
 public:
  explicit Library(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  Library(const Library&) = delete;
  ~Library() { close(); }

  const Consumer* operator->() const { return entry(); }
  void close() {
    if (handle_ != nullptr) {
      dlclose(std::exchange(handle_, nullptr));
    }
  }

 private:
  const Consumer* entry() const {
    return reinterpret_cast<const Consumer* (*)()>(dlsym(handle_, CONSUMER_ENTRY))();
  }
  void* handle_;
};

struct Dtype {
  const char* torch;
  DLDataType dlpack;
};

/// All dtypes that both torch and DLPack have.
inline constexpr auto kDtypes = std::to_array<Dtype>({
    {"uint8", {kDLUInt, 8, 1}},
    {"uint16", {kDLUInt, 16, 1}},
    {"uint32", {kDLUInt, 32, 1}},
    {"uint64", {kDLUInt, 64, 1}},
    {"int8", {kDLInt, 8, 1}},
    {"int16", {kDLInt, 16, 1}},
    {"int32", {kDLInt, 32, 1}},
    {"int64", {kDLInt, 64, 1}},
    {"float16", {kDLFloat, 16, 1}},
    {"float32", {kDLFloat, 32, 1}},
    {"float64", {kDLFloat, 64, 1}},
    {"bfloat16", {kDLBfloat, 16, 1}},
    {"complex32", {kDLComplex, 32, 1}},
    {"complex64", {kDLComplex, 64, 1}},
    {"complex128", {kDLComplex, 128, 1}},
    {"bool", {kDLBool, 8, 1}},
    {"float8_e4m3fn", {kDLFloat8_e4m3fn, 8, 1}},
    {"float8_e4m3fnuz", {kDLFloat8_e4m3fnuz, 8, 1}},
    {"float8_e5m2", {kDLFloat8_e5m2, 8, 1}},
    {"float8_e5m2fnuz", {kDLFloat8_e5m2fnuz, 8, 1}},
    {"float8_e8m0fnu", {kDLFloat8_e8m0fnu, 8, 1}},
});

struct Layout {
  const char* name;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  bool has_no_gaps = false;  // row-major without gaps: the strides may be NULL
  bool repeats = false;      // several elements at one address, to which LibTorch does not write
};

inline const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {"rows", {2, 3}, {3, 1}, 0, true},
      {"columns", {3, 2}, {1, 3}},
      {"every second", {3}, {2}},
      {"repeated", {2, 3}, {0, 1}, 0, false, true},
      {"behind others", {2, 2}, {2, 1}, 2, true},
      {"channels last", {2, 2, 1, 2}, {4, 1, 4, 2}, 1},
      {"one element far apart", {1, 2}, {99, 1}},
      {"a scalar", {}, {}, 1, true},
      {"empty", {0, 3}, {3, 1}, 0, true},
  };
  return all;
}

using Parts = std::vector<double>;  // real and imaginary part of each element

/// The initial value of slot `slot`.
inline double value_in_slot(const Dtype& dtype, int64_t slot) {
  return dtype.dlpack.code == kDLBool ? static_cast<double>(slot % 2)
                                      : std::ldexp(1.0, static_cast<int>(slot % 6));
}

inline int64_t count_of(const Layout& layout) {
  int64_t count = 1;
  for (const int64_t each : layout.shape) {
    count *= each;
  }
  return count;
}

inline int64_t slots_of(const Layout& layout) {
  int64_t last = layout.offset;
  for (size_t dim = 0; dim < layout.shape.size(); ++dim) {
    last += (layout.shape[dim] - 1) * layout.strides[dim];
  }
  return count_of(layout) == 0 ? 0 : last + 1;
}

inline void add(Parts& parts, const Dtype& dtype, double value) {
  parts.insert(parts.end(), {value, dtype.dlpack.code == kDLComplex ? -value : 0.0});
}

/// By the slot of each index.
inline Parts values_as_made(const Dtype& dtype, const Layout& layout) {
  Parts parts;
  for (int64_t i = 0; i < count_of(layout); ++i) {
    int64_t slot = layout.offset;
    int64_t rest = i;
    for (size_t dim = layout.shape.size(); dim-- > 0; rest /= layout.shape[dim]) {
      slot += rest % layout.shape[dim] * layout.strides[dim];
    }
    add(parts, dtype, value_in_slot(dtype, slot));
  }
  return parts;
}

/// A value that is written to all elements; it differs from all initial values (as bool: not all).
inline double written_value(const Dtype& dtype) { return dtype.dlpack.code == kDLBool ? 1 : 64; }

/// The values after a writer has written its value to all elements.
inline Parts values_as_written(const Dtype& dtype, const Layout& layout) {
  Parts parts;
  for (int64_t i = 0; i < count_of(layout); ++i) {
    add(parts, dtype, written_value(dtype));
  }
  return parts;
}

inline Parts read_by(const Library& consumer, const DLTensor& tensor) {
  Parts parts(64);
  const int64_t count = consumer->read(&tensor, parts.data(), static_cast<int64_t>(parts.size()));
  EXPECT_GE(count, 0) << "the consumer must know the dtype";
  parts.resize(static_cast<size_t>(2 * count));
  return parts;
}

/// Options of an export: version (or none, for the legacy structure), flags, memory, and whether strides
/// are present.
struct ExportOptions {
  bool is_legacy = false;
  uint32_t minor = 3;
  uint64_t flags = 0;
  int32_t memory = CONSUMER_HEAP;
  bool bare_strides = false;

  bool is_read_only() const { return (flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0; }
  bool is_copied() const { return (flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0; }
};

inline std::vector<ExportOptions> export_options(const Layout& layout) {
  std::vector<ExportOptions> all;
  for (const bool bare : {false, true}) {
    if (bare && !layout.has_no_gaps) {
      continue;
    }
    for (const int32_t memory : {CONSUMER_HEAP, CONSUMER_PAGES}) {
      all.push_back({true, 0, 0, memory, bare});
    }
    for (const uint32_t minor : {0U, 1U, 2U, 3U}) {
      for (const uint64_t flags : {0, 1, 2, 3}) {
        all.push_back({false, minor, flags, CONSUMER_HEAP, bare});
        all.push_back({false, minor, flags, CONSUMER_PAGES, bare});
        if ((flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
          all.push_back({false, minor, flags, CONSUMER_LOCKED_PAGES, bare});
        }
      }
    }
  }
  return all;
}

inline std::string description(const Dtype& dtype, const Layout& layout, const ExportOptions& options) {
  return std::string(dtype.torch) + ", " + layout.name + ", " +
         (options.is_legacy ? "legacy" : "1." + std::to_string(options.minor)) + ", flags " +
         std::to_string(options.flags) + ", memory " + std::to_string(options.memory) +
         (options.bare_strides ? ", without strides" : "");
}

inline ConsumerOrder order(const Dtype& dtype, const Layout& layout, const ExportOptions& options,
                           int32_t* deletions) {
  ConsumerOrder out{};
  out.dtype = dtype.dlpack;
  out.ndim = static_cast<int32_t>(layout.shape.size());
  std::copy(layout.shape.begin(), layout.shape.end(), out.shape);
  std::copy(layout.strides.begin(), layout.strides.end(), out.strides);
  out.offset = layout.offset;
  out.flags = options.flags;
  out.minor = options.minor;
  out.bare_strides = options.bare_strides ? 1 : 0;
  out.memory = options.memory;
  out.deletions = deletions;
  return out;
}

/// A structure of either protocol version, which its owner passes on or deletes.
struct Structure {
  DLManagedTensorVersioned* versioned = nullptr;
  DLManagedTensor* legacy = nullptr;

  const DLTensor& tensor() const { return versioned != nullptr ? versioned->dl_tensor : legacy->dl_tensor; }
  const void* first() const { return static_cast<const char*>(tensor().data) + tensor().byte_offset; }
  uint64_t flags() const { return versioned != nullptr ? versioned->flags : 0; }
  explicit operator bool() const { return versioned != nullptr || legacy != nullptr; }
  void end() const {
    if (versioned != nullptr) {
      versioned->deleter(versioned);
    } else {
      legacy->deleter(legacy);
    }
  }
};

inline Structure make(const Library& producer, const ConsumerOrder& ordered, bool is_legacy) {
  return is_legacy ? Structure{nullptr, producer->make_legacy(&ordered)}
                   : Structure{producer->make(&ordered), nullptr};
}

}  // namespace consumers
