// Round trips by DLPack leave nothing behind: what the process holds stays flat. SIMPLE_LONG_TESTS=1 makes
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
  static void there_and_back(int32_t (*lend)(int64_t, Managed**), int32_t (*import)(Managed*, int64_t*)) {
    const Handle ours = zeros({16});
    Managed* lent = nullptr;
    ASSERT_EQ(lend(ours, &lent), SPT_OK);
    const Handle back = made(import, lent);
  }
};

TEST_F(Leaks, AreNoneOfVersionedStructures) {
  expect_flat([] {
    there_and_back<DLManagedTensorVersioned>(
        [](int64_t handle, DLManagedTensorVersioned** out) { return spt_to_dlpack(handle, false, out); },
        spt_from_dlpack);
  });
}

TEST_F(Leaks, AreNoneOfLegacyStructures) {
  expect_flat([] { there_and_back<DLManagedTensor>(spt_to_dlpack_legacy, spt_from_dlpack_legacy); });
}

TEST_F(Leaks, AreNoneOfCopies) {
  expect_flat([] {
    there_and_back<DLManagedTensorVersioned>(
        [](int64_t handle, DLManagedTensorVersioned** out) { return spt_to_dlpack(handle, true, out); },
        spt_from_dlpack);
  });
}

TEST_F(Leaks, AreNoneOfHandles) {
  expect_flat([] {
    const Handle ours = zeros({16});
    const Handle back = made(spt_dlpack_import, made(spt_dlpack_export, int64_t{ours}, false).give());
    const Handle unused = made(spt_dlpack_export, int64_t{ours}, false);
  });
}

TEST_F(Leaks, AreNoneOfTensorsThatAreGivenAway) {
  expect_flat([] {
    DLManagedTensorVersioned* given = nullptr;
    ASSERT_EQ(spt_into_dlpack(zeros({16}).give(), &given), SPT_OK);
    Handle back = made(spt_from_dlpack, given);
    const Handle unused = made(spt_dlpack_move, back.give());
  });
}

TEST_F(Leaks, AreNoneOfForeignTensorsTakenOrRefused) {
  const Library producer(CONSUMER_C);
  const Dtype float32{"float32", {kDLFloat, 32, 1}};
  int32_t deletions = 0;
  expect_flat([&] {
    for (const bool is_legacy : {false, true}) {
      const ConsumerOrder ordered = order(float32, layouts().front(), {.is_legacy = is_legacy}, &deletions);
      Structure lent = make(producer, ordered, is_legacy);
      const bool is_refused = deletions % 3 == 2;
      (is_legacy ? lent.legacy->dl_tensor : lent.versioned->dl_tensor).dtype.lanes = is_refused ? 2 : 1;
      int64_t out = 0;
      ASSERT_EQ(is_legacy ? spt_from_dlpack_legacy(lent.legacy, &out) : spt_from_dlpack(lent.versioned, &out),
                is_refused ? SPT_INVALID_ARGUMENT : SPT_OK);
      const Handle ours(out);
    }
  });
  EXPECT_EQ(deletions, 2 * (round_trips::kBefore + round_trips::count()));
}

}  // namespace
