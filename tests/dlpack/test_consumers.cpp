// Two libraries that know only DLPack export to LibTorch, import from it, and exchange tensors through it:
// the cross product of producer, consumer, dtype, layout, flags and version, with the expected outcome of
// each.
#include "tests/dlpack/consumers.h"

namespace {

using namespace consumers;
using ::testing::HasSubstr;

constexpr const char* kLibraries[] = {CONSUMER_C, CONSUMER_CPP};
constexpr const char* kNames[] = {"C", "Cpp"};

class ConsumerTest : public CApiTest {
 protected:
  static int64_t code_of(const Dtype& dtype) {
    int64_t code = 0;
    EXPECT_EQ(spt_dtype_code(dtype.torch, &code), SPT_OK) << dtype.torch;
    return code;
  }

  static SplValue value_of(int64_t handle) {
    SplValue item{SPT_TENSOR, {}};
    item.as_int = handle;
    return item;
  }

  /// The result of an operator without a typed function.
  static Handle called(const char* name, std::vector<SplValue> arguments) {
    int64_t op = 0, count = 0;
    EXPECT_EQ(spt_op_find(name, "", &op), SPT_OK);
    SplValue result{};
    EXPECT_EQ(spt_op_call(op, arguments.data(), size(arguments), &result, 1, &count), SPT_OK)
        << name << ": " << spt_last_error_message();
    return Handle(result.as_int);
  }

  static SplValue list(const std::vector<int64_t>& numbers) {
    SplValue item{SPL_ARRAY, {}};
    item.as_array = spl_array_new();
    for (const int64_t number : numbers) {
      spl_array_push_i64(item.as_array, number);
    }
    return item;
  }

  /// A view of a tensor's memory.
  static Handle strided(int64_t base, const Layout& layout) {
    const SplValue shape = list(layout.shape);
    const SplValue strides = list(layout.strides);
    SplValue offset{SPL_INT, {}};
    offset.as_int = layout.offset;
    Handle view = called("as_strided", {value_of(base), shape, strides, offset});
    spl_array_free(shape.as_array);
    spl_array_free(strides.as_array);
    return view;
  }

  /// A tensor of LibTorch with the values and the layout of a consumer's tensor.
  static Handle native(const Dtype& dtype, const Layout& layout) {
    Parts parts;
    for (int64_t slot = 0; slot < slots_of(layout); ++slot) {
      add(parts, dtype, value_in_slot(dtype, slot));
    }
    const Handle reals = tensor(parts, {size(parts) / 2, 2});
    const Handle doubles = create(spt_to_dtype, int64_t{reals}, code_of({"float64", {}}));
    const bool is_complex = dtype.dlpack.code == kDLComplex;
    const Handle values = is_complex ? called("view_as_complex", {value_of(doubles)})
                                     : create(spt_select, int64_t{doubles}, int64_t{1}, int64_t{0});
    const Handle dense = create(spt_clone, int64_t{values});
    const Handle base = create(spt_to_dtype, int64_t{dense}, code_of(dtype));
    return strided(base, layout);
  }

  /// The values that LibTorch reads, by its own conversion.
  static Parts read(int64_t handle) {
    const Handle wide = create(spt_to_dtype, handle, code_of({"complex128", {}}));
    const Handle pairs = called("view_as_real", {value_of(wide)});
    return values(pairs);
  }

  static int32_t write(int64_t handle, const Dtype& dtype) {
    const Parts value = {written_value(dtype), dtype.dlpack.code == kDLComplex ? -written_value(dtype) : 0.0};
    const Handle pair = tensor(value, {2});
    const Handle complex = called("view_as_complex", {value_of(pair)});
    const Handle typed = dtype.dlpack.code == kDLComplex
                             ? create(spt_clone, int64_t{complex})
                             : create(spt_select, int64_t{pair}, int64_t{0}, int64_t{0});
    return spt_copy_(handle, typed);
  }

  static int32_t import(const Structure& managed, int64_t* out) {
    return managed.versioned != nullptr ? spt_from_dlpack(managed.versioned, out)
                                        : spt_from_dlpack_legacy(managed.legacy, out);
  }

  static int32_t export_as(int64_t handle, bool is_legacy, Structure* out) {
    return is_legacy ? spt_to_dlpack_legacy(handle, &out->legacy)
                     : spt_to_dlpack(handle, false, &out->versioned);
  }

  /// Checks the fields that any consumer may rely on, by DLPack 1.3.
  static void expect_sound(const Structure& managed, const Dtype& dtype, const Layout& layout) {
    const DLTensor& tensor = managed.tensor();
    EXPECT_EQ(tensor.ndim, size(layout.shape));
    EXPECT_TRUE(tensor.ndim == 0 || tensor.strides != nullptr) << "since DLPack 1.2 strides are never NULL";
    EXPECT_TRUE(std::equal(layout.shape.begin(), layout.shape.end(), tensor.shape));
    EXPECT_EQ(tensor.dtype.code, dtype.dlpack.code);
    EXPECT_EQ(tensor.dtype.bits, dtype.dlpack.bits);
    EXPECT_EQ(tensor.dtype.lanes, 1);
    EXPECT_EQ(tensor.device.device_type, kDLCPU);
    if (count_of(layout) == 0) {
      EXPECT_EQ(tensor.data, nullptr) << "a tensor without elements";
    }
  }

  /// LibTorch writes if it may, otherwise it reports the reason. The owner sees the write, or no change.
  static void expect_write_of_libtorch(int64_t handle, const Dtype& dtype, const Layout& layout,
                                       bool is_read_only) {
    const int32_t status = write(handle, dtype);
    if (layout.repeats || is_read_only) {
      EXPECT_NE(status, SPT_OK);
      EXPECT_THAT(spt_last_error_message(),
                  HasSubstr(layout.repeats ? "single memory location" : "read-only"));
    } else {
      EXPECT_EQ(status, SPT_OK) << spt_last_error_message();
    }
  }

  static Parts values_after_libtorch_wrote(const Dtype& dtype, const Layout& layout, bool is_read_only) {
    return layout.repeats || is_read_only ? values_as_made(dtype, layout) : values_as_written(dtype, layout);
  }

  template <class Body>
  static void for_each_export(Body&& body) {
    for (const Dtype& dtype : kDtypes) {
      for (const Layout& layout : layouts()) {
        for (const ExportOptions& options : export_options(layout)) {
          SCOPED_TRACE(description(dtype, layout, options));
          body(dtype, layout, options);
          if (HasFailure()) {
            return;  // the others would fail for the same reason, thousands of times
          }
        }
      }
    }
  }
};

class OneConsumer : public ConsumerTest, public ::testing::WithParamInterface<int> {
 protected:
  Library peer_{kLibraries[GetParam()]};
};

TEST_P(OneConsumer, ExportsToLibTorch) {
  int cases = 0;
  for_each_export([&](const Dtype& dtype, const Layout& layout, const ExportOptions& options) {
    int32_t deletions = 0;
    const Structure managed = make(peer_, order(dtype, layout, options, &deletions), options.is_legacy);
    ASSERT_TRUE(managed);
    const void* first = managed.tensor().data == nullptr ? nullptr : managed.first();
    {
      int64_t before = 0, after = 0, out = 0;
      ASSERT_EQ(spt_dlpack_copied_bytes(&before), SPT_OK);
      ASSERT_EQ(import(managed, &out), SPT_OK) << spt_last_error_message();
      const Handle ours(out);
      ASSERT_EQ(spt_dlpack_copied_bytes(&after), SPT_OK);
      EXPECT_EQ(after - before, options.is_copied() ? count_of(layout) * (dtype.dlpack.bits / 8) : 0);
      EXPECT_EQ(data_ptr(ours), first);
      EXPECT_EQ(this->dtype(ours), dtype.torch);
      EXPECT_EQ(shape(ours), layout.shape);
      EXPECT_EQ(read(ours), values_as_made(dtype, layout));
      expect_write_of_libtorch(ours, dtype, layout, options.is_read_only());
      EXPECT_EQ(read_by(peer_, managed.tensor()),
                values_after_libtorch_wrote(dtype, layout, options.is_read_only()));
      EXPECT_EQ(deletions, 0);
    }
    EXPECT_EQ(deletions, 1);
    ++cases;
  });
  EXPECT_EQ(cases, 21 * (5 * 42 + 4 * 84));
}

TEST_P(OneConsumer, ImportsFromLibTorch) {
  for (const Dtype& dtype : kDtypes) {
    for (const Layout& layout : layouts()) {
      for (const bool is_legacy : {false, true}) {
        SCOPED_TRACE(description(dtype, layout, {.is_legacy = is_legacy}));
        Handle ours = native(dtype, layout);
        Structure managed;
        ASSERT_EQ(export_as(ours, is_legacy, &managed), SPT_OK) << spt_last_error_message();
        expect_sound(managed, dtype, layout);
        EXPECT_EQ(managed.flags(), 0U);
        EXPECT_EQ(count_of(layout) == 0 ? nullptr : managed.first(), data_ptr(ours));
        EXPECT_EQ(read_by(peer_, managed.tensor()), values_as_made(dtype, layout));
        ASSERT_EQ(peer_->fill(&managed.tensor(), written_value(dtype)), 0);
        EXPECT_EQ(read(ours), values_as_written(dtype, layout));
        ours = Handle();
        EXPECT_EQ(read_by(peer_, managed.tensor()), values_as_written(dtype, layout))
            << "the export keeps the memory alive";
        managed.end();
      }
    }
  }
}

TEST_P(OneConsumer, OwnsTheCopyThatItRequests) {
  for (const Dtype& dtype : kDtypes) {
    for (const Layout& layout : layouts()) {
      SCOPED_TRACE(description(dtype, layout, {}));
      const Handle ours = native(dtype, layout);
      Structure managed;
      ASSERT_EQ(spt_to_dlpack(ours, true, &managed.versioned), SPT_OK) << spt_last_error_message();
      expect_sound(managed, dtype, layout);
      EXPECT_EQ(managed.flags(), DLPACK_FLAG_BITMASK_IS_COPIED);
      EXPECT_EQ(read_by(peer_, managed.tensor()), values_as_made(dtype, layout));
      ASSERT_EQ(peer_->fill(&managed.tensor(), written_value(dtype)), 0);
      EXPECT_EQ(read(ours), values_as_made(dtype, layout));
      managed.end();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, OneConsumer, ::testing::Values(0, 1),
                         [](const auto& tested) { return kNames[tested.param]; });

/// A producer and a consumer that exchange tensors through LibTorch; LibTorch itself is tested above.
class TwoConsumers : public ConsumerTest, public ::testing::WithParamInterface<std::tuple<int, int>> {
 protected:
  Library producer_{kLibraries[std::get<0>(GetParam())]};
  Library consumer_{kLibraries[std::get<1>(GetParam())]};

  /// Both sides share the memory: same address, same values, visible writes, one deletion.
  void expect_one_memory(const Structure& managed, const Structure& passed, const Dtype& dtype,
                         const Layout& layout) {
    expect_sound(passed, dtype, layout);
    if (count_of(layout) > 0) {
      EXPECT_EQ(passed.first(), managed.first());
    }
    EXPECT_EQ(read_by(consumer_, passed.tensor()), values_as_made(dtype, layout));
    if ((managed.flags() & DLPACK_FLAG_BITMASK_READ_ONLY) == 0) {
      ASSERT_EQ(consumer_->fill(&passed.tensor(), written_value(dtype)), 0);
      EXPECT_EQ(read_by(producer_, managed.tensor()), values_as_written(dtype, layout));
    }
  }
};

TEST_P(TwoConsumers, ShareOneMemoryThroughLibTorch) {
  for (const bool is_legacy_out : {false, true}) {
    for_each_export([&](const Dtype& dtype, const Layout& layout, const ExportOptions& options) {
      int32_t deletions = 0;
      const Structure managed = make(producer_, order(dtype, layout, options, &deletions), options.is_legacy);
      ASSERT_TRUE(managed);
      int64_t out = 0;
      ASSERT_EQ(import(managed, &out), SPT_OK) << spt_last_error_message();
      Handle ours(out);
      Structure passed;
      const int32_t status = export_as(ours, is_legacy_out, &passed);
      ours = Handle();
      if (is_legacy_out && options.is_read_only()) {
        EXPECT_EQ(status, SPT_INVALID_ARGUMENT);
        EXPECT_THAT(spt_last_error_message(),
                    HasSubstr("Can't export read-only tensors without DLPack 1 flags"));
      } else {
        ASSERT_EQ(status, SPT_OK) << spt_last_error_message();
        EXPECT_EQ(deletions, 0) << "the consumer still uses it";
        EXPECT_EQ(passed.flags(), is_legacy_out ? 0 : managed.flags() & DLPACK_FLAG_BITMASK_READ_ONLY);
        expect_one_memory(managed, passed, dtype, layout);
        passed.end();
      }
      EXPECT_EQ(deletions, 1);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, TwoConsumers,
                         ::testing::Combine(::testing::Values(0, 1), ::testing::Values(0, 1)),
                         [](const auto& tested) {
                           return std::string(kNames[std::get<0>(tested.param)]) + "To" +
                                  kNames[std::get<1>(tested.param)];
                         });

TEST_F(ConsumerTest, MayBeLibTorchForItsOwnExports) {
  for (const Dtype& dtype : kDtypes) {
    for (const Layout& layout : layouts()) {
      for (const bool is_legacy : {false, true}) {
        SCOPED_TRACE(description(dtype, layout, {.is_legacy = is_legacy}));
        const Handle ours = native(dtype, layout);
        Structure managed;
        ASSERT_EQ(export_as(ours, is_legacy, &managed), SPT_OK) << spt_last_error_message();
        int64_t out = 0;
        ASSERT_EQ(import(managed, &out), SPT_OK) << spt_last_error_message();
        const Handle back(out);
        EXPECT_EQ(data_ptr(back), data_ptr(ours));
        EXPECT_EQ(read(back), values_as_made(dtype, layout));
        expect_write_of_libtorch(back, dtype, layout, false);
        EXPECT_EQ(read(ours), values_after_libtorch_wrote(dtype, layout, false));
      }
    }
  }
}

/// A structure that LibTorch rejects.
struct Rejection {
  const char* name;
  void (*spoil)(DLTensor&);
  int32_t status;
  const char* words;
};

const Rejection kRejections[] = {
    {"a negative stride", [](DLTensor& t) { t.strides[0] = -3; }, SPT_INVALID_ARGUMENT, "strides[0]"},
    {"a negative size", [](DLTensor& t) { t.shape[0] = -2; }, SPT_INVALID_ARGUMENT,
     "shape[0] must be non-negative, got -2"},
    {"no data", [](DLTensor& t) { t.data = nullptr; }, SPT_INVALID_ARGUMENT, "data must not be NULL"},
    {"no shape", [](DLTensor& t) { t.shape = nullptr; }, SPT_INVALID_ARGUMENT,
     "shape must not be NULL if ndim > 0"},
    {"lanes", [](DLTensor& t) { t.dtype.lanes = 2; }, SPT_INVALID_ARGUMENT, "dtype.lanes must be 1, got 2"},
    {"an unaligned offset", [](DLTensor& t) { t.byte_offset = 1; }, SPT_INVALID_ARGUMENT,
     "must be a multiple of 4"},
    {"a dtype that torch lacks",
     [](DLTensor& t) {
       t.dtype = {kDLFloat6_e2m3fn, 6, 1};
     },
     SPT_DTYPE_MISMATCH, "dtype.code 15"},
    {"a device of another kind", [](DLTensor& t) { t.device.device_type = kDLVulkan; }, SPT_NOT_IMPLEMENTED,
     "device.device_type must be 1 (CPU) or 2 (CUDA), got 7"},
};

TEST_P(OneConsumer, DeletesARejectedStructureExactlyOnce) {
  for (const Rejection& rejection : kRejections) {
    for (const bool is_legacy : {false, true}) {
      SCOPED_TRACE(std::string(rejection.name) + (is_legacy ? ", legacy" : ""));
      int32_t deletions = 0;
      const Dtype float32{"float32", {kDLFloat, 32, 1}};
      Structure managed = make(peer_, order(float32, layouts().front(), {}, &deletions), is_legacy);
      rejection.spoil(is_legacy ? managed.legacy->dl_tensor : managed.versioned->dl_tensor);
      int64_t out = kUntouched;
      EXPECT_EQ(import(managed, &out), rejection.status);
      EXPECT_THAT(spt_last_error_message(), HasSubstr(rejection.words));
      EXPECT_EQ(out, kUntouched);
      EXPECT_EQ(deletions, 1);
    }
  }
}

}  // namespace
