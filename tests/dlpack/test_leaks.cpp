// DLPack round trips leak nothing: the memory of the process stays flat. SIMPLE_LONG_TESTS=1 makes
// 10^6 of each.
#include "tests/dlpack/consumers.h"
#include "tests/support/round_trips.h"

namespace {

using namespace consumers;

class Leaks : public CApiTest {
 protected:
  template <class Trip>
  static void expect_flat(Trip&& trip) {
    round_trips::expect_flat(trip);
    EXPECT_EQ(live(), 0);
  }

  template <class Managed>
  static void round_trip(int32_t (*export_as)(int64_t, Managed**), int32_t (*import)(Managed*, int64_t*)) {
    const Handle ours = zeros({16});
    Managed* managed = nullptr;
    ASSERT_EQ(export_as(ours, &managed), SPT_OK);
    const Handle back = create(import, managed);
  }
};

TEST_F(Leaks, NoneFromVersionedStructures) {
  expect_flat([] {
    round_trip<DLManagedTensorVersioned>(
        [](int64_t handle, DLManagedTensorVersioned** out) { return spt_to_dlpack(handle, false, out); },
        spt_from_dlpack);
  });
}

TEST_F(Leaks, NoneFromLegacyStructures) {
  expect_flat([] { round_trip<DLManagedTensor>(spt_to_dlpack_legacy, spt_from_dlpack_legacy); });
}

TEST_F(Leaks, NoneFromCopies) {
  expect_flat([] {
    round_trip<DLManagedTensorVersioned>(
        [](int64_t handle, DLManagedTensorVersioned** out) { return spt_to_dlpack(handle, true, out); },
        spt_from_dlpack);
  });
}

TEST_F(Leaks, NoneFromHandles) {
  expect_flat([] {
    const Handle ours = zeros({16});
    const Handle back = create(spt_dlpack_import, create(spt_dlpack_export, int64_t{ours}, false).release());
    const Handle unused = create(spt_dlpack_export, int64_t{ours}, false);
  });
}

TEST_F(Leaks, NoneFromMovedTensors) {
  expect_flat([] {
    DLManagedTensorVersioned* moved = nullptr;
    ASSERT_EQ(spt_into_dlpack(zeros({16}).release(), &moved), SPT_OK);
    Handle back = create(spt_from_dlpack, moved);
    const Handle unused = create(spt_dlpack_move, back.release());
  });
}

TEST_F(Leaks, NoneFromImportedOrRejectedTensors) {
  const Library producer(CONSUMER_C);
  const Dtype float32{"float32", {kDLFloat, 32, 1}};
  int32_t deletions = 0;
  expect_flat([&] {
    for (const bool is_legacy : {false, true}) {
      const ConsumerOrder ordered = order(float32, layouts().front(), {.is_legacy = is_legacy}, &deletions);
      Structure managed = make(producer, ordered, is_legacy);
      const bool is_rejected = deletions % 3 == 2;
      (is_legacy ? managed.legacy->dl_tensor : managed.versioned->dl_tensor).dtype.lanes =
          is_rejected ? 2 : 1;
      int64_t out = 0;
      ASSERT_EQ(
          is_legacy ? spt_from_dlpack_legacy(managed.legacy, &out) : spt_from_dlpack(managed.versioned, &out),
          is_rejected ? SPT_INVALID_ARGUMENT : SPT_OK);
      const Handle ours(out);
    }
  });
  EXPECT_EQ(deletions, 2 * (round_trips::kBefore + round_trips::count()));
}

}  // namespace
