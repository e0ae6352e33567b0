// A million DLPack structures with the fields of a faulty or hostile producer. Each is imported or rejected
// as an independent oracle predicts; none crashes, and each deleter runs exactly once.
#include <ATen/dlpack.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>

#include "tests/abi/capi_test.h"

namespace {

__extension__ typedef __int128 Wide;  // NOLINT(modernize-use-using): the extension is marked as one

constexpr int kStructures = 1'000'000;
constexpr Wide kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kArenaBytes = 1 << 16;

/// The dtypes that both torch and DLPack have: code, bits.
constexpr auto kKnown = std::to_array<std::pair<uint8_t, uint8_t>>({{kDLUInt, 8},
                                                                    {kDLUInt, 16},
                                                                    {kDLUInt, 32},
                                                                    {kDLUInt, 64},
                                                                    {kDLInt, 8},
                                                                    {kDLInt, 16},
                                                                    {kDLInt, 32},
                                                                    {kDLInt, 64},
                                                                    {kDLFloat, 16},
                                                                    {kDLFloat, 32},
                                                                    {kDLFloat, 64},
                                                                    {kDLBfloat, 16},
                                                                    {kDLComplex, 32},
                                                                    {kDLComplex, 64},
                                                                    {kDLComplex, 128},
                                                                    {kDLBool, 8},
                                                                    {kDLFloat8_e4m3fn, 8},
                                                                    {kDLFloat8_e4m3fnuz, 8},
                                                                    {kDLFloat8_e5m2, 8},
                                                                    {kDLFloat8_e5m2fnuz, 8},
                                                                    {kDLFloat8_e8m0fnu, 8},
                                                                    {kDLFloat4_e2m1fn, 4}});

/// Torch's float4 has two values per element, all others one.
constexpr uint16_t lanes_of(uint8_t code) { return code == kDLFloat4_e2m1fn ? 2 : 1; }

class Producer {
 public:
  explicit Producer(uint32_t seed) : random_(seed) {}

  /// Fills all fields. Most fields are valid, so that the later checks are reached too.
  void invent() {
    versioned_ = {};
    legacy_ = {};
    deleted = 0;
    const int32_t ndim = one_of<int32_t>({0, 1, 2, 3, 3, 5}, {-1, 64, 65, 1000, INT32_MIN, INT32_MAX});
    const int32_t filled = std::clamp(ndim, 0, 64);
    for (int32_t i = 0; i < filled; ++i) {
      shape_[static_cast<size_t>(i)] = one_of<int64_t>(
          {0, 1, 1, 2, 3, 4}, {-1, 1000, INT64_C(1) << 31, INT64_C(1) << 62, INT64_MAX, INT64_MIN});
      strides_[static_cast<size_t>(i)] =
          one_of<int64_t>({0, 1, 2, 6, 24}, {-1, -8, 1000, INT64_C(1) << 40, INT64_MAX, INT64_MIN});
    }
    DLTensor& tensor = versioned_.dl_tensor;
    tensor.ndim = ndim;
    tensor.shape = rarely() ? nullptr : shape_.data();
    tensor.strides = chance(5) ? nullptr : strides_.data();
    tensor.dtype = dtype();
    tensor.device = {
        one_of<DLDeviceType>({kDLCPU, kDLCUDAHost}, {kDLMetal, kDLCUDA, DLDeviceType(0), DLDeviceType(-5)}),
        one_of<int32_t>({0}, {1, -1, 99, INT32_MAX})};
    if (tensor.device.device_type == kDLCUDA) {
      tensor.device.device_id = 99;
    }
    tensor.byte_offset = one_of<uint64_t>({0, 0, 8, 64}, {1, 3, uint64_t{1} << 63, UINT64_MAX});
    tensor.data = rarely() ? nullptr : arena_.data() + (rarely() ? 1 : 0);
    versioned_.version = {one_of<uint32_t>({1}, {0, 2, UINT32_MAX}),
                          one_of<uint32_t>({3, 0, 99}, {UINT32_MAX})};
    versioned_.flags = one_of<uint64_t>({0, 1, 2, 4}, {UINT64_MAX, 1U << 20});
    versioned_.manager_ctx = legacy_.manager_ctx = this;
    legacy_.dl_tensor = tensor;
    has_deleter = !rarely();
    if (has_deleter) {
      versioned_.deleter = [](DLManagedTensorVersioned* self) {
        ++static_cast<Producer*>(self->manager_ctx)->deleted;
      };
      legacy_.deleter = [](DLManagedTensor* self) { ++static_cast<Producer*>(self->manager_ctx)->deleted; };
    }
  }

  bool chance(int one_in) { return random_() % static_cast<uint32_t>(one_in) == 0; }
  DLManagedTensorVersioned* versioned() { return &versioned_; }
  DLManagedTensor* legacy() { return &legacy_; }
  const DLTensor& tensor() const { return versioned_.dl_tensor; }

  /// Whether all elements lie in the memory, and do not repeat a small part of it without limit.
  bool is_readable(Wide bytes) const {
    const auto from = reinterpret_cast<uintptr_t>(tensor().data) - reinterpret_cast<uintptr_t>(arena_.data());
    Wide count = 1;
    for (int32_t i = 0; i < tensor().ndim; ++i) {
      count = std::min(count * tensor().shape[i], kLargest);
    }
    return Wide(from) + tensor().byte_offset + bytes <= kArenaBytes && count <= kArenaBytes;
  }

  int deleted = 0;
  bool has_deleter = true;

 private:
  bool rarely() { return chance(40); }

  template <class T>
  T one_of(std::initializer_list<T> sound, std::initializer_list<T> hostile) {
    const auto& from = rarely() ? hostile : sound;
    return from.begin()[random_() % from.size()];
  }

  DLDataType dtype() {
    const auto [code, bits] = kKnown[random_() % kKnown.size()];
    return {one_of<uint8_t>({code}, {kDLOpaqueHandle, kDLFloat4_e2m1fn, 99, 255}),
            one_of<uint8_t>({bits}, {0, 1, 4, 7, 12, 255}),
            one_of<uint16_t>({lanes_of(code)}, {0, 1, 2, 4, UINT16_MAX})};
  }

  std::mt19937 random_;
  std::array<int64_t, 64> shape_{};
  std::array<int64_t, 64> strides_{};
  alignas(16) std::array<char, kArenaBytes> arena_{};
  DLManagedTensorVersioned versioned_{};
  DLManagedTensor legacy_{};
};

Wide item_bytes(DLDataType dtype) {
  const bool known =
      std::find(kKnown.begin(), kKnown.end(), std::pair(dtype.code, dtype.bits)) != kKnown.end();
  return known && dtype.lanes == lanes_of(dtype.code) ? dtype.bits * dtype.lanes / 8 : -1;
}

Wide stride_of(const DLTensor& tensor, int32_t dim) {
  if (tensor.strides != nullptr) {
    return tensor.strides[dim];
  }
  Wide step = 1;
  for (int32_t i = dim + 1; i < tensor.ndim; ++i) {
    step *= std::max<int64_t>(tensor.shape[i], 1);
  }
  return step;
}

/// The bytes from the first element to the end of the last; -1 if the tensor must be rejected.
Wide extent(const DLTensor& tensor) {
  const Wide item = item_bytes(tensor.dtype);
  const bool is_cpu = (tensor.device.device_type == kDLCPU || tensor.device.device_type == kDLCUDAHost) &&
                      tensor.device.device_id == 0;
  if (item < 0 || !is_cpu || tensor.ndim < 0 || tensor.ndim > 64 ||
      (tensor.ndim > 0 && tensor.shape == nullptr)) {
    return -1;
  }
  bool is_empty = false;
  Wide count = 1;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] < 0) {
      return -1;
    }
    is_empty = is_empty || tensor.shape[i] == 0;
    count *= std::max<int64_t>(tensor.shape[i], 1);
    if (count > kLargest) {
      return -1;
    }
  }
  Wide last = 0;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    const Wide stride = stride_of(tensor, i);
    if (stride < 0 && tensor.shape[i] > 1) {
      return -1;
    }
    last = std::min(last + Wide(std::max<int64_t>(tensor.shape[i] - 1, 0)) * stride, kLargest + 1);
  }
  if (is_empty) {
    return 0;
  }
  return (last + 1) * item > kLargest ? -1 : (last + 1) * item;
}

bool is_sound(const DLTensor& tensor, Wide bytes) {
  if (bytes <= 0) {
    return bytes == 0;
  }
  const Wide address = Wide(reinterpret_cast<uintptr_t>(tensor.data)) + tensor.byte_offset;
  const Wide end_of_memory = Wide(1) << 47;  // of a process on x86-64
  return tensor.data != nullptr && address + bytes <= end_of_memory &&
         address % item_bytes(tensor.dtype) == 0;
}

class DlpackFuzz : public CApiTest {
 protected:
  void expect_same_fields(int64_t handle, const DLTensor& expected, uint64_t flags, bool is_empty) {
    DLManagedTensorVersioned* out = nullptr;
    ASSERT_EQ(spt_to_dlpack(handle, false, &out), SPT_OK) << spt_last_error_message();
    const DLTensor& managed = out->dl_tensor;
    ASSERT_EQ(managed.ndim, expected.ndim);
    ASSERT_TRUE(std::equal(managed.shape, managed.shape + managed.ndim, expected.shape));
    ASSERT_EQ(managed.dtype.code, expected.dtype.code);
    ASSERT_EQ(managed.dtype.bits, expected.dtype.bits);
    ASSERT_EQ(out->flags, flags & DLPACK_FLAG_BITMASK_READ_ONLY);
    if (!is_empty) {
      ASSERT_EQ(reinterpret_cast<uintptr_t>(managed.data),
                reinterpret_cast<uintptr_t>(expected.data) + expected.byte_offset);
    }
    for (int32_t i = 0; i < expected.ndim; ++i) {
      if (expected.shape[i] > 1) {
        ASSERT_EQ(Wide(managed.strides[i]), stride_of(expected, i));
      }
    }
    out->deleter(out);
  }
};

TEST_F(DlpackFuzz, ImportsValidStructuresAndRejectsTheRest) {
  Producer producer(20260711);
  int imported_count = 0;
  for (int i = 0; i < kStructures; ++i) {
    producer.invent();
    const bool legacy = producer.chance(4);
    const Wide bytes = extent(producer.tensor());
    const bool is_known_version = legacy || producer.versioned()->version.major == 1;
    const bool is_padded = !legacy && producer.tensor().dtype.bits < 8 &&
                           (producer.versioned()->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0;
    const bool expected = is_known_version && is_sound(producer.tensor(), bytes) && !is_padded;
    int64_t handle = 0;
    const int32_t status = legacy ? spt_from_dlpack_legacy(producer.legacy(), &handle)
                                  : spt_from_dlpack(producer.versioned(), &handle);
    ASSERT_EQ(status == SPT_OK, expected) << "structure " << i << ": " << spt_last_error_message();
    if (status == SPT_OK) {
      ++imported_count;
      ASSERT_EQ(producer.deleted, 0) << "structure " << i;
      expect_same_fields(handle, producer.tensor(), legacy ? 0 : producer.versioned()->flags, bytes == 0);
      if (producer.is_readable(bytes)) {
        const Handle copy = create(spt_clone, handle);
      }
      ASSERT_EQ(spt_release(handle), SPT_OK);
    } else {
      ASSERT_TRUE(status == SPT_INVALID_ARGUMENT || status == SPT_DTYPE_MISMATCH ||
                  status == SPT_UNAVAILABLE || status == SPT_NOT_IMPLEMENTED)
          << "structure " << i << ": " << status;
    }
    ASSERT_EQ(producer.deleted, producer.has_deleter ? 1 : 0) << "structure " << i;
  }
  EXPECT_GT(imported_count, kStructures / 5);
  EXPECT_LT(imported_count, kStructures * 4 / 5);
}

}  // namespace
