// Round trips through Python leak nothing. SIMPLE_LONG_TESTS=1 runs 10^6 of each.
#include "python_test.h"
#include "tests/support/round_trips.h"

class Leaks : public PythonTest {
 protected:
  static Held tensor_of(const Held& object) {
    return made([&](int64_t* out) { return spt_py_from_dlpack(object.get(), -2, -1, out); });
  }
};

TEST_F(Leaks, NoneFromNumpyArrays) {
  const Held make = eval("lambda zeros=__import__('numpy').zeros: zeros(16)");
  round_trips::expect_flat([&] { const Held ours = tensor_of(call(make)); });
}

TEST_F(Leaks, NoneFromTorchTensors) {
  const Held make = eval("lambda zeros=__import__('torch').zeros: zeros(16)");
  round_trips::expect_flat([&] { const Held ours = tensor_of(call(make)); });
}

TEST_F(Leaks, NoneFromCapsulesInBothDirections) {
  const Held there = eval("lambda capsule, take=__import__('torch').from_dlpack: take(capsule)");
  round_trips::expect_flat([&] {
    const Held ours = tensor({1, 2, 3}, {3});
    Held exported = made([&](int64_t* out) { return spt_dlpack_export(ours.get(), false, out); });
    const Held back = tensor_of(call(there, Args().dlpack(exported.get())));
    exported.detach();  // the call consumed the handle
  });
}
