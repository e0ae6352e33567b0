// Tensors that move into their exported structure: IS_COPIED is exported again if it was imported and the
// memory has no other user, READ_ONLY always, and the moved handle is invalid.
#include <thread>

#include "tests/dlpack/consumers.h"

namespace {

using namespace consumers;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kReadOnly = DLPACK_FLAG_BITMASK_READ_ONLY;
constexpr uint64_t kCopied = DLPACK_FLAG_BITMASK_IS_COPIED;
const Dtype kFloat32{"float32", {kDLFloat, 32, 1}};

class Moves : public CApiTest {
 protected:
  /// A producer's tensor with these flags, imported.
  Handle theirs(uint64_t flags, const Layout& layout = layouts().front()) {
    return create(spt_from_dlpack,
                  make(producer_, order(kFloat32, layout, {.flags = flags}, &deletions_), false).versioned);
  }

  static DLManagedTensorVersioned* moved(Handle& tensor) {
    DLManagedTensorVersioned* out = nullptr;
    EXPECT_EQ(spt_into_dlpack(tensor, &out), SPT_OK) << spt_last_error_message();
    tensor.release();  // consumed
    return out;
  }

  static uint64_t flags_when_moved(Handle tensor) {
    DLManagedTensorVersioned* out = moved(tensor);
    const uint64_t flags = out->flags;
    out->deleter(out);
    return flags;
  }

  static DLManagedTensorVersioned* exported(int64_t handle, bool copy = false) {
    DLManagedTensorVersioned* out = nullptr;
    EXPECT_EQ(spt_to_dlpack(handle, copy, &out), SPT_OK) << spt_last_error_message();
    return out;
  }

  Library producer_{CONSUMER_C};
  int32_t deletions_ = 0;
};

TEST_F(Moves, KeepTheImportedFlags) {
  int32_t ended = 0;
  for (const uint64_t flags : {uint64_t{0}, kReadOnly, kCopied, kReadOnly | kCopied}) {
    for (const Layout& layout : layouts()) {
      SCOPED_TRACE(std::string(layout.name) + ", flags " + std::to_string(flags));
      Handle ours = theirs(flags, layout);
      void* address = data_ptr(ours);
      DLManagedTensorVersioned* out = moved(ours);
      EXPECT_EQ(out->flags, flags);
      EXPECT_EQ(out->dl_tensor.data, address);
      EXPECT_EQ(read_by(producer_, out->dl_tensor), values_as_made(kFloat32, layout));
      EXPECT_EQ(deletions_, ended) << "the structure owns it";
      out->deleter(out);
      EXPECT_EQ(deletions_, ++ended);
    }
  }
}

TEST_F(Moves, ConsumeTheHandle) {
  const int64_t ours = theirs(kCopied).release();
  DLManagedTensorVersioned* out = nullptr;
  DLManagedTensorVersioned* again = nullptr;
  int64_t made_of_it = kUntouched;
  ASSERT_EQ(spt_into_dlpack(ours, &out), SPT_OK);
  EXPECT_EQ(spt_neg(ours, &made_of_it), SPT_INVALID_HANDLE);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("has been released"));
  EXPECT_EQ(spt_into_dlpack(ours, &again), SPT_INVALID_HANDLE);
  EXPECT_EQ(spt_release(ours), SPT_INVALID_HANDLE);
  EXPECT_EQ(again, nullptr);
  EXPECT_EQ(made_of_it, kUntouched);
  out->deleter(out);
  EXPECT_EQ(deletions_, 1);
}

TEST_F(Moves, KeepTheHandleOnError) {
  const Handle weight = parameter({1}, {1});
  DLManagedTensorVersioned* out = nullptr;
  int64_t handle = kUntouched;
  EXPECT_EQ(spt_into_dlpack(weight, &out), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(),
              HasSubstr("Can't export tensors that require gradient, use tensor.detach()"));
  EXPECT_EQ(spt_dlpack_move(weight, &handle), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_into_dlpack(weight, nullptr), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_dlpack_move(weight, nullptr), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(handle, kUntouched);
  EXPECT_THAT(values(weight), ElementsAre(1));
}

/// A handle to another user of the memory, or of a part of it.
struct Holder {
  const char* name;
  int32_t (*hold)(int64_t tensor, int64_t* out);
};

class MovesWithOtherUsers : public Moves, public ::testing::WithParamInterface<Holder> {};

TEST_P(MovesWithOtherUsers, SetTheCopiedFlagOnlyWithoutOtherUsers) {
  for (const uint64_t read_only : {uint64_t{0}, kReadOnly}) {
    deletions_ = 0;
    Handle ours = theirs(kCopied | read_only);
    Handle other = create(GetParam().hold, int64_t{ours});
    EXPECT_EQ(flags_when_moved(std::move(ours)), read_only) << "the other user remains";
    EXPECT_EQ(deletions_, 0);
    other = Handle();
    EXPECT_EQ(deletions_, 1);
    ours = theirs(kCopied | read_only);
    create(GetParam().hold, int64_t{ours});
    EXPECT_EQ(flags_when_moved(std::move(ours)), kCopied | read_only) << "the other user is gone";
    EXPECT_EQ(deletions_, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Holders, MovesWithOtherUsers,
    ::testing::Values(
        Holder{"AnotherHandle", spt_another_handle}, Holder{"ADetachedOne", spt_detach},
        Holder{"AView", [](int64_t tensor, int64_t* out) { return spt_select(tensor, 0, 0, out); }},
        Holder{"ALoan", [](int64_t tensor, int64_t* out) { return spt_dlpack_export(tensor, false, out); }}),
    [](const auto& tested) { return tested.param.name; });

TEST_F(Moves, KeepTheCopiedFlagOverRoundTrips) {
  const Handle original = tensor({1, 2, 3}, {3});
  int64_t before = 0;
  int64_t after = 0;
  ASSERT_EQ(spt_dlpack_copied_bytes(&before), SPT_OK);
  Handle copy = create(spt_from_dlpack, exported(original, true));
  void* address = data_ptr(copy);
  for (int trip = 0; trip < 3; ++trip) {
    DLManagedTensorVersioned* out = moved(copy);
    EXPECT_EQ(out->flags, kCopied);
    copy = create(spt_from_dlpack, out);
    EXPECT_EQ(data_ptr(copy), address);
  }
  ASSERT_EQ(spt_dlpack_copied_bytes(&after), SPT_OK);
  EXPECT_EQ(after - before, 12) << "there was one copy";
  EXPECT_EQ(flags_when_moved(create(spt_clone, int64_t{original})), 0U) << "not a copy by DLPack";
}

TEST_F(Moves, OmitTheCopiedFlagWhileTheExporterHasTheMemory) {
  Handle ours = theirs(kCopied);
  Handle back = create(spt_from_dlpack, exported(ours));
  EXPECT_EQ(flags_when_moved(std::move(back)), 0U);
  EXPECT_EQ(flags_when_moved(std::move(ours)), kCopied) << "the last user";
  EXPECT_EQ(deletions_, 1);
  ours = theirs(kCopied);
  back = create(spt_from_dlpack, exported(ours));
  ours = Handle();
  EXPECT_EQ(flags_when_moved(std::move(back)), kCopied) << "the last user";
  EXPECT_EQ(deletions_, 2);
}

TEST_F(Moves, KeepTheCopiedFlagOfTheLastView) {
  Handle ours = theirs(kCopied);
  Handle view = create(spt_select, int64_t{ours}, int64_t{0}, int64_t{1});
  ours = Handle();
  DLManagedTensorVersioned* out = moved(view);
  EXPECT_EQ(out->flags, kCopied);
  const double third = value_in_slot(kFloat32, 3);
  EXPECT_EQ(read_by(producer_, out->dl_tensor).front(), third);
  out->deleter(out);
  EXPECT_EQ(deletions_, 1);
}

TEST_F(Moves, WorkBehindHandles) {
  Handle ours = theirs(kCopied);
  const Handle held = create(spt_dlpack_move, ours.release());
  int64_t flags = 0;
  ASSERT_EQ(spt_dlpack_flags(held, &flags), SPT_OK);
  EXPECT_EQ(flags, 2);
}

TEST_F(Moves, HappenOnceUnderContention) {
  for (int round = 0; round < 200; ++round) {
    deletions_ = 0;
    const int64_t ours = theirs(kCopied).release();
    DLManagedTensorVersioned* taken[2] = {};
    {
      std::jthread first([&] { spt_into_dlpack(ours, &taken[0]); });
      std::jthread second([&] { spt_into_dlpack(ours, &taken[1]); });
    }
    EXPECT_NE(taken[0] == nullptr, taken[1] == nullptr) << "exactly one thread gets it";
    for (DLManagedTensorVersioned* out : taken) {
      if (out != nullptr) {
        EXPECT_EQ(out->flags & ~kCopied, 0U);
        out->deleter(out);
      }
    }
    EXPECT_EQ(deletions_, 1);
  }
}

}  // namespace
