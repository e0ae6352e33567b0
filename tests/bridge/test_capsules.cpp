// DLPack capsules that are unused, consumed twice, renamed, or invalid: the producer's deleter runs exactly
// once, called by the owner of the tensor.
#include <ATen/dlpack.h>

#include <atomic>

#include "python_test.h"

using testing::HasSubstr;

namespace {

/// A tensor of a producer in this program; its deleter counts its calls.
struct Foreign {
  float data[3] = {1, 2, 3};
  int64_t shape[1] = {3};
  int64_t strides[1] = {1};
  std::atomic<int> deleted{0};
  DLManagedTensorVersioned versioned{};
  DLManagedTensor legacy{};

  Foreign() {
    versioned.version = {1, 3};
    versioned.manager_ctx = legacy.manager_ctx = this;
    versioned.dl_tensor = legacy.dl_tensor = {data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, strides, 0};
    versioned.deleter = [](DLManagedTensorVersioned* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
    legacy.deleter = [](DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
  }
};

}  // namespace

class Capsules : public PythonTest {
 protected:
  void SetUp() override {
    exec(
        "import ctypes\napi = ctypes.pythonapi\n"
        "api.PyCapsule_New.restype = ctypes.py_object\n"
        "api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]\n"
        "api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]\n"
        "names = [b'dltensor', b'dltensor_versioned', b'used_dltensor_versioned', b'mine']");
  }

  /// Our capsule on the foreign memory, the only owner.
  static Held capsule_of_ours(Foreign& foreign) {
    const Held tensor = made([&](int64_t* out) { return spt_from_dlpack(&foreign.versioned, out); });
    Held exported = made([&](int64_t* out) { return spt_dlpack_export(tensor.get(), false, out); });
    return made([&](int64_t* out) { return spt_py_capsule_new(exported.detach(), out); });
  }

  /// The producer's own capsule, without a destructor.
  static Held capsule(const void* managed, int64_t name) {
    return eval("api.PyCapsule_New(address, names[number], None)",
                Args().number(reinterpret_cast<int64_t>(managed)).as("address").number(name).as("number"));
  }

  static void rename(const Held& capsule, int64_t name) {
    exec("api.PyCapsule_SetName(capsule, names[number])\ndel capsule",
         Args().object(capsule).as("capsule").number(name).as("number"));
  }

  /// A call into Python drains the queue.
  static int deletions(const Foreign& foreign) {
    EXPECT_EQ(number(eval("1")), 1);
    return foreign.deleted;
  }

  static constexpr int64_t kLegacy = 0, kVersioned = 1, kUsed = 2, kMine = 3;
};

TEST_F(Capsules, UnusedDeleteTheTensor) {
  Foreign foreign;
  Held capsule = capsule_of_ours(foreign);
  EXPECT_EQ(deletions(foreign), 0);
  capsule.release();
  EXPECT_EQ(deletions(foreign), 1);
}

TEST_F(Capsules, OfOursAreConsumedOnceByOthers) {
  Foreign foreign;
  Held capsule = capsule_of_ours(foreign);
  const Held from_dlpack = get(import("torch"), "from_dlpack");
  Held theirs = call(from_dlpack, Args().object(capsule));
  int64_t out = 0;
  EXPECT_EQ(try_call(from_dlpack, Args().object(capsule), &out), SPT_PYTHON);
  capsule.release();
  EXPECT_EQ(deletions(foreign), 0) << "the first has it";
  theirs.release();
  EXPECT_EQ(deletions(foreign), 1);
}

TEST_F(Capsules, MarkedAsUsedBelongToTheConsumer) {
  Foreign foreign;
  Held capsule = capsule_of_ours(foreign);
  const int64_t address =
      number(eval("(setattr(api.PyCapsule_GetPointer, 'restype', ctypes.c_void_p),"
                  " api.PyCapsule_GetPointer(ctypes.py_object(c), names[1]))[1]",
                  Args().object(capsule).as("c")));
  rename(capsule, kUsed);
  capsule.release();
  EXPECT_EQ(deletions(foreign), 0);
  auto* taken = reinterpret_cast<DLManagedTensorVersioned*>(address);
  taken->deleter(taken);
  EXPECT_EQ(deletions(foreign), 1);
}

TEST_F(Capsules, OfOtherNamesAreRejected) {
  Foreign foreign;
  Held capsule = capsule_of_ours(foreign);
  rename(capsule, kMine);
  int64_t out = 0;
  EXPECT_EQ(spt_py_from_dlpack(capsule.get(), -2, -1, &out), SPT_PYTHON);
  EXPECT_THAT(last_message(), HasSubstr("TypeError"));
  EXPECT_EQ(deletions(foreign), 0);
  rename(capsule, kVersioned);
  capsule.release();
  EXPECT_EQ(deletions(foreign), 1) << "named as before, it is ours as before";
}

TEST_F(Capsules, AreConsumedOnceByUs) {
  for (const int64_t name : {kLegacy, kVersioned}) {
    Foreign foreign;
    const void* managed = name == kLegacy ? static_cast<void*>(&foreign.legacy) : &foreign.versioned;
    Held theirs = capsule(managed, name);
    Held ours = made([&](int64_t* out) { return spt_py_from_dlpack(theirs.get(), -2, -1, out); });
    int64_t out = 0;
    EXPECT_EQ(spt_py_from_dlpack(theirs.get(), -2, -1, &out), SPT_PYTHON);
    EXPECT_EQ(last_message(),
              "ValueError: the DLPack capsule was already used; a capsule can be consumed only once");
    EXPECT_EQ(deletions(foreign), 0);
    ours.release();
    theirs.release();
    EXPECT_EQ(deletions(foreign), 1);
  }
}

TEST_F(Capsules, RejectedByLibTorchAreDeletedOnce) {
  for (const int64_t name : {kLegacy, kVersioned}) {
    Foreign foreign;
    foreign.versioned.dl_tensor.dtype.lanes = foreign.legacy.dl_tensor.dtype.lanes = 2;
    const void* managed = name == kLegacy ? static_cast<void*>(&foreign.legacy) : &foreign.versioned;
    Held theirs = capsule(managed, name);
    int64_t out = 0;
    EXPECT_EQ(spt_py_from_dlpack(theirs.get(), -2, -1, &out), SPT_INVALID_ARGUMENT);
    EXPECT_THAT(last_message(), HasSubstr("dtype.lanes must be 1, got 2"));
    theirs.release();
    EXPECT_EQ(deletions(foreign), 1);
  }
}

TEST_F(Capsules, OfAnotherMajorVersionAreDeletedOnce) {
  Foreign foreign;
  foreign.versioned.version.major = 2;
  Held theirs = capsule(&foreign.versioned, kVersioned);
  int64_t out = 0;
  EXPECT_EQ(spt_py_from_dlpack(theirs.get(), -2, -1, &out), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("version.major must be 1, got 2"));
  EXPECT_EQ(deletions(foreign), 1);
}
