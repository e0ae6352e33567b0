// Tensors between Simple and Python: the same torch tensor, and DLPack capsules used once, twice or never.
#include <thread>

#include "held_gil.h"
#include "python_test.h"

using testing::ElementsAre;
using testing::HasSubstr;

class Tensors : public PythonTest {
 protected:
  static Held exported(const Held& tensor) {
    return made([&](int64_t* out) { return spt_dlpack_export(tensor.get(), false, out); });
  }
  static Held capsule_of(Held exported) {
    return made([&](int64_t* out) { return spt_py_capsule_new(exported.detach(), out); });
  }
};

TEST_F(Tensors, AreTheSameObjectOnBothSides) {
  const Held ours = tensor({1, 2, 3, 4}, {2, 2});
  const Held theirs = to_python(ours);
  EXPECT_EQ(number(invoke(theirs, "data_ptr")), address(ours));
  const Held again = to_python(ours);
  EXPECT_TRUE(truth(eval("a is b", Args().object(theirs).as("a").object(again).as("b"))));
  const Held back = to_tensor(theirs);
  EXPECT_EQ(address(back), address(ours));
}

TEST_F(Tensors, KeepTheirObjectWithAllThatIsSetOnIt) {
  exec(
      "import torch, weakref\n"
      "def marked():\n    global seen\n    t = torch.ones(2)\n    t.mark = 'kept'\n    seen = "
      "weakref.ref(t)\n"
      "    return t");
  const Held theirs = call(eval("marked"));
  EXPECT_TRUE(truth(eval("seen() is not None")));
  EXPECT_EQ(text(get(theirs, "mark")), "kept");
  EXPECT_TRUE(truth(eval("t is seen()", Args().object(theirs).as("t"))));
  Held ours = to_tensor(theirs);
  EXPECT_EQ(text(get(to_python(ours), "mark")), "kept");
  EXPECT_TRUE(truth(eval("t is seen()", Args().tensor(ours).as("t"))));
}

TEST_F(Tensors, OfPythonStayPythonObjects) {
  const Held a = eval("__import__('torch').ones(2)");
  const Held b = eval("__import__('torch').zeros(2)");
  exec("import torch\ntorch.utils.swap_tensors(a, b)\ndel a, b", Args().object(a).as("a").object(b).as("b"));
  EXPECT_THAT(values(to_tensor(a)), ElementsAre(0, 0));
}

TEST_F(Tensors, AreDestroyedWhenBothSidesRelease) {
  exec(
      "import torch, weakref\ndef fresh():\n    global seen\n    t = torch.ones(2)\n    seen = "
      "weakref.ref(t)\n    return t");
  {
    const Held theirs = call(eval("fresh"));
    const Held ours = to_tensor(theirs);
    EXPECT_TRUE(truth(eval("seen() is not None")));
  }
  eval("1");  // drains the queue of releases
  EXPECT_TRUE(truth(eval("seen() is None")));
}

TEST_F(Tensors, OfASubclassStayObjectsOfThatType) {
  const Held parameter = eval("__import__('torch').nn.Parameter(__import__('torch').ones(2))");
  char* name = nullptr;
  expect_ok(spt_py_type_name(parameter.get(), &name));
  EXPECT_EQ(take_string(name), "torch.nn.parameter.Parameter");
  EXPECT_THAT(values(to_tensor(parameter)), ElementsAre(1, 1));
}

TEST_F(Tensors, AreConvertedWithoutWaitingForTheGil) {
  const Held ours = tensor({1, 2}, {2});
  const HeldGil held;
  const Held theirs = to_python(ours);
  const Held back = to_tensor(theirs);
  EXPECT_EQ(address(back), address(ours));
}

TEST_F(Tensors, ShowWritesOfEitherSideOnTheOther) {
  const Held ours = tensor({1, 2, 3}, {3});
  exec("t[0] = 40", Args().tensor(ours).as("t"));
  EXPECT_THAT(values(ours), ElementsAre(40, 2, 3));
  const Held theirs = eval("__import__('torch').arange(3.0)");
  const Held view = to_tensor(theirs);
  expect_ok(spt_fill_(view.get(), 9));
  EXPECT_EQ(repr(invoke(theirs, "tolist")), "[9.0, 9.0, 9.0]");
  exec("del t");
}

TEST_F(Tensors, KeepTheirAutogradHistory) {
  const Held x = tensor({2, 3}, {2});
  expect_ok(spt_set_requires_grad(x.get(), true));
  const Held squared = made([&](int64_t* out) { return spt_mul(x.get(), x.get(), out); });
  const Held loss = to_tensor(eval("(s * 10).sum()", Args().tensor(squared).as("s")));
  expect_ok(spt_backward(loss.get()));
  const Held grad = made([&](int64_t* out) { return spt_grad(x.get(), out); });
  EXPECT_THAT(values(grad), ElementsAre(40, 60)) << "10 * 2x";
}

TEST_F(Tensors, OfAPythonGraphAreDifferentiatedNatively) {
  const Held layer = eval("__import__('torch').nn.Linear(2, 1, bias=False)");
  exec("import torch\nwith torch.no_grad(): layer.weight.copy_(torch.tensor([[3.0, 5.0]]))",
       Args().object(layer).as("layer"));
  const Held x = tensor({1, 2}, {1, 2});
  const Held x32 = to_tensor(invoke(to_python(x), "float"));
  const Held out = to_tensor(call(layer, Args().tensor(x32)));
  EXPECT_THAT(values(out), ElementsAre(13));
  expect_ok(spt_backward(out.get()));
  EXPECT_EQ(repr(eval("layer.weight.grad.tolist()")), "[[1.0, 2.0]]");
  exec("del layer");
}

TEST_F(Tensors, OfOtherLibrariesAreImportedByDlpack) {
  const Held array = eval("__import__('numpy').arange(4.0)");
  const Held ours = to_tensor(array);
  EXPECT_EQ(address(ours), number(get(get(array, "ctypes"), "data")));
  expect_ok(spt_fill_(ours.get(), 2));
  EXPECT_EQ(repr(invoke(array, "tolist")), "[2.0, 2.0, 2.0, 2.0]");
}

TEST_F(Tensors, AreNotFoundInOtherObjects) {
  int64_t out = 0;
  EXPECT_EQ(spt_py_to_tensor(eval("[1, 2]").get(), &out), SPT_PYTHON);
  EXPECT_THAT(last_message(), HasSubstr("TypeError: cannot create a tensor from list"));
}

TEST_F(Tensors, InACapsuleAreConsumedByTorch) {
  const Held ours = tensor({1, 2}, {2});
  const Held capsule = capsule_of(exported(ours));
  EXPECT_THAT(repr(capsule), HasSubstr("\"dltensor_versioned\""));
  const Held from_dlpack = get(import("torch.utils.dlpack"), "from_dlpack");
  const Held theirs = call(from_dlpack, Args().object(capsule));
  EXPECT_EQ(number(invoke(theirs, "data_ptr")), address(ours));
  EXPECT_THAT(repr(capsule), HasSubstr("\"used_dltensor_versioned\""));
}

TEST_F(Tensors, CanBePassedAsCapsules) {
  const Held ours = tensor({1, 2}, {2});
  Held handle = exported(ours);
  const Held from_dlpack = get(import("torch"), "from_dlpack");
  const Held theirs = call(from_dlpack, Args().dlpack(handle.get()));
  EXPECT_EQ(number(invoke(theirs, "data_ptr")), address(ours));
  EXPECT_EQ(spt_release(handle.detach()), SPT_INVALID_HANDLE) << "the call used the handle up";
}

TEST_F(Tensors, AreDeletedByAnUnusedCapsule) {
  Held ours = tensor({1, 2}, {2});
  const Held theirs = to_python(ours);
  exec("import weakref\nwatch = weakref.ref(t.untyped_storage())", Args().object(theirs).as("t"));
  Held capsule = capsule_of(exported(ours));
  capsule.release();
  exec("del t");
  EXPECT_EQ(repr(invoke(theirs, "tolist")), "[1.0, 2.0]") << "the memory is still ours";
}

TEST_F(Tensors, AreMovedOutOfACapsuleOnce) {
  const Held theirs = eval("__import__('torch').arange(3.0)");
  const Held capsule = invoke(theirs, "__dlpack__");
  Held taken = made([&](int64_t* out) { return spt_py_capsule_take(capsule.get(), out); });
  int64_t out = 0;
  EXPECT_EQ(spt_py_capsule_take(capsule.get(), &out), SPT_PYTHON);
  EXPECT_EQ(last_message(),
            "ValueError: the DLPack capsule was already used; a capsule can be consumed only once");
  const Held ours = made([&](int64_t* result) { return spt_dlpack_import(taken.detach(), result); });
  EXPECT_EQ(address(ours), number(invoke(theirs, "data_ptr")));
}

TEST_F(Tensors, OfAVersionedCapsuleAreImported) {
  const Held theirs = eval("__import__('torch').arange(3.0)");
  const Held capsule = eval("t.__dlpack__(max_version=(1, 0))", Args().object(theirs).as("t"));
  const Held taken = made([&](int64_t* out) { return spt_py_capsule_take(capsule.get(), out); });
  void* data = nullptr;
  expect_ok(spt_dlpack_data_ptr(taken.get(), &data));
  EXPECT_EQ(reinterpret_cast<int64_t>(data), number(invoke(theirs, "data_ptr")));
}

TEST_F(Tensors, ReleaseNumpyMemoryOnAnyThread) {
  exec(
      "import numpy, weakref\nclass Watched(numpy.ndarray): pass\n"
      "array = numpy.zeros(4).view(Watched)\nwatch = weakref.ref(array)");
  Held ours = to_tensor(eval("array"));
  exec("del array");
  EXPECT_FALSE(truth(eval("watch() is None"))) << "our tensor uses its memory";
  std::thread([&] { ours.release(); }).join();
  EXPECT_TRUE(truth(eval("watch() is None")));
}
