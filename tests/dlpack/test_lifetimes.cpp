// When and where deleters run: on the thread that releases last, concurrently with others, and in libraries
// that were closed in the meantime.
#include <barrier>
#include <thread>

#include "tests/dlpack/consumers.h"

namespace {

using namespace consumers;

const Dtype kFloat32{"float32", {kDLFloat, 32, 1}};

class Lifetime : public CApiTest {
 protected:
  static Structure export_by(const Library& producer, int32_t* deletions, uint64_t flags = 0) {
    return make(producer, order(kFloat32, layouts().front(), {.flags = flags}, deletions), false);
  }

  static Handle import(const Structure& managed) { return create(spt_from_dlpack, managed.versioned); }

  static DLManagedTensorVersioned* exported(int64_t handle) {
    DLManagedTensorVersioned* out = nullptr;
    EXPECT_EQ(spt_to_dlpack(handle, false, &out), SPT_OK) << spt_last_error_message();
    return out;
  }

  static bool is_open(const char* path) {
    void* handle = dlopen(path, RTLD_NOLOAD | RTLD_NOW);
    return handle != nullptr && dlclose(handle) == 0;
  }
};

/// A tensor that records the thread that deleted it.
struct ThreadRecording {
  float data = 1;
  std::thread::id deleted_on;
  DLManagedTensorVersioned managed{};

  ThreadRecording() {
    managed.version = {1, 3};
    managed.manager_ctx = this;
    managed.dl_tensor = {&data, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, nullptr, nullptr, 0};
    managed.deleter = [](DLManagedTensorVersioned* self) {
      static_cast<ThreadRecording*>(self->manager_ctx)->deleted_on = std::this_thread::get_id();
    };
  }
};

TEST_F(Lifetime, EndsImmediatelyOnTheLastReleasingThread) {
  ThreadRecording foreign;
  Handle first = create(spt_from_dlpack, &foreign.managed);
  Handle view = create(spt_detach, int64_t{first});
  first = Handle();
  EXPECT_EQ(foreign.deleted_on, std::thread::id()) << "another handle still uses it";
  std::thread last([&] { view = Handle(); });
  const std::thread::id thread = last.get_id();
  last.join();
  EXPECT_EQ(foreign.deleted_on, thread);
}

TEST_F(Lifetime, ExtendsToTheEndOfTheAutogradGraph) {
  const Library producer(CONSUMER_C);
  int32_t deletions = 0;
  const Handle weight = parameter({1, 1, 1}, {3});
  Handle loss;
  {
    const Handle ours = import(export_by(producer, &deletions));
    const Handle product = create(spt_mul, int64_t{ours}, int64_t{weight});
    loss = create(spt_sum_all, int64_t{product});
  }
  EXPECT_EQ(deletions, 0) << "backward needs it";
  ASSERT_EQ(spt_backward(loss), SPT_OK) << spt_last_error_message();
  EXPECT_EQ(deletions, 1) << "backward was the last user";
}

TEST_F(Lifetime, OfTheProducersLibraryIsTheProducersChoice) {
  Library producer(CONSUMER_THAT_STAYS);
  int32_t deletions = 0;
  Handle ours = import(export_by(producer, &deletions));
  producer.close();
  EXPECT_EQ(values(ours).size(), 6U);
  ours = Handle();
  EXPECT_EQ(deletions, 1) << "by a library that is no longer open";
}

TEST_F(Lifetime, OfTheProducersLibraryIsNotExtended) {
  Library producer(CONSUMER_TO_CLOSE);
  int32_t deletions = 0;
  Handle ours = import(export_by(producer, &deletions));
  ours = Handle();
  ASSERT_TRUE(is_open(CONSUMER_TO_CLOSE));
  producer.close();
  EXPECT_FALSE(is_open(CONSUMER_TO_CLOSE)) << "a host can reload its plugins once their tensors are gone";
}

// Also runs under the thread sanitizer, which selects tests by the name of the suite.
class Threads : public Lifetime {
 protected:
  static constexpr int kRounds = 300;

  /// Runs `body(0)` and `body(1)` on two threads, which synchronize before each round.
  template <class Body>
  static void at_once(Body&& body) {
    std::barrier together(2);
    const auto run = [&](int which) {
      for (int round = 0; round < kRounds; ++round) {
        together.arrive_and_wait();
        body(which, round);
      }
    };
    std::thread other(run, 1);
    run(0);
    other.join();
  }
};

TEST_F(Threads, DeleteTwoExportsOfOneMemoryConcurrently) {
  const Library producer(CONSUMER_CPP);
  int32_t deletions = 0;
  std::vector<DLManagedTensorVersioned*> exports(2 * kRounds);
  for (size_t round = 0; round < kRounds; ++round) {
    const Handle ours = import(export_by(producer, &deletions));
    exports[2 * round] = exported(ours);
    exports[2 * round + 1] = exported(ours);
  }
  EXPECT_EQ(deletions, 0);
  at_once([&](int which, int round) {
    DLManagedTensorVersioned* managed = exports[static_cast<size_t>(2 * round + which)];
    managed->deleter(managed);
  });
  EXPECT_EQ(deletions, kRounds) << "one deletion for each memory";
}

TEST_F(Threads, ReleaseTwoImportsOfOneMemoryConcurrently) {
  const Handle memory = tensor({1, 2, 3}, {3});
  std::vector<Handle> imports;
  for (int i = 0; i < 2 * kRounds; ++i) {
    imports.push_back(create(spt_from_dlpack, exported(memory)));
  }
  at_once([&](int which, int round) { imports[static_cast<size_t>(2 * round + which)] = Handle(); });
  EXPECT_THAT(values(memory), ::testing::ElementsAre(1, 2, 3));
}

TEST_F(Threads, ImportAndDeleteTensorsOfOneProducerConcurrently) {
  const Library producer(CONSUMER_C);
  int32_t deletions[2] = {0, 0};
  at_once([&](int which, int round) {
    const uint64_t flags = round % 2 == 0 ? 0 : DLPACK_FLAG_BITMASK_IS_COPIED;
    Handle ours = import(export_by(producer, &deletions[which], flags));
    DLManagedTensorVersioned* passed = exported(ours);
    ours = Handle();
    passed->deleter(passed);
  });
  EXPECT_EQ(deletions[0], kRounds);
  EXPECT_EQ(deletions[1], kRounds);
}

}  // namespace
