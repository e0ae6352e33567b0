// Threads, the GIL, forks, and tensors that are destroyed outside Python.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "held_gil.h"
#include "python_test.h"
#include "tests/support/round_trips.h"

namespace {

std::atomic<bool> holding{false};
std::atomic<bool> may_return{false};

/// Called by Python through ctypes.PYFUNCTYPE, which keeps the GIL.
void hold_gil() {
  holding = true;
  while (!may_return) {
    std::this_thread::yield();
  }
  holding = false;
}

}  // namespace

class Threads : public PythonTest {};

TEST_F(Threads, CallConcurrentlyAndGetTheirOwnResults) {
  const Held square = eval("lambda x: x * x");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 500; ++i) {
        const int64_t x = t * 1000 + i;
        wrong += number(call(square, Args().number(x))) == x * x ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong.load(), 0);
}

// Guards the release of the GIL after the start: without it, the starting thread kept the GIL and Python's
// own threads never ran.
TEST_F(Threads, OfPythonRunWhileNoCallIsActive) {
  // poll() does not call Python: a call would release the GIL itself.
  exec(
      "import os, threading, time\nran, report = os.pipe()\n"
      "def run():\n    time.sleep(0.05)\n    os.write(report, b'x')\n"
      "threading.Thread(target=run).start()");
  pollfd ran{.fd = static_cast<int>(number(eval("ran"))), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&ran, 1, 20'000), 1);
}

TEST_F(Threads, KeepOneThreadStateEach) {
  exec("import threading\nlocal = threading.local()");
  std::thread([&] {
    exec("local.mark = 7");
    EXPECT_EQ(number(eval("local.mark")), 7) << "threading.local belongs to the thread state";
  }).join();
}

// Guards `destroy_thread`: Python must forget the state of an ended thread, or each thread that called Python
// leaks one.
TEST_F(Threads, ThatEndLeaveNoThreadStateBehind) {
  exec("import sys");
  const int64_t before = number(eval("len(sys._current_frames())"));
  for (int i = 0; i < 20; ++i) {
    std::thread([&] { EXPECT_EQ(number(eval("1")), 1); }).join();
  }
  EXPECT_LE(number(eval("len(sys._current_frames())")), before);
}

// Guards the queue of releases: a release that waited for the GIL deadlocked with a thread that held the GIL
// and waited for the releasing thread.
TEST_F(Threads, ReleaseObjectsAndTensorsWithoutWaitingForTheGil) {
  Held hold = eval("__import__('ctypes').PYFUNCTYPE(None)(address)",
                   Args().number(reinterpret_cast<int64_t>(hold_gil)).as("address"));
  Held object = eval("object()");
  Held shared = tensor({1, 2, 3}, {3});
  to_python(shared).release();  // creates the tensor's Python object
  std::thread holder([&] { call(hold); });
  while (!holding) {
    std::this_thread::yield();
  }
  object.release();
  shared.release();
  EXPECT_TRUE(holding) << "both releases returned while another thread held the GIL";
  may_return = true;
  holder.join();
}

namespace {

std::atomic<int64_t> handle_to_release{0};

/// Called with the GIL held: waits, then releases an object.
void release_with_gil() {
  holding = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  spt_release(handle_to_release);
  holding = false;
}

}  // namespace

// Guards releases outside the handle table's lock: a value that waited for the GIL in the locked table
// deadlocked with a thread that held the GIL and waited for the table.
TEST_F(Threads, ReleaseWhileTheHolderOfTheGilReleases) {
  Held hold = eval("__import__('ctypes').PYFUNCTYPE(None)(address)",
                   Args().number(reinterpret_cast<int64_t>(release_with_gil)).as("address"));
  Held object = eval("object()");
  Held other = eval("object()");
  handle_to_release = other.detach();
  std::thread holder([&] { call(hold); });
  while (!holding) {
    std::this_thread::yield();
  }
  object.release();
  holder.join();
  EXPECT_FALSE(holding);
}

TEST_F(Threads, FreeReleasedObjectsAtTheNextCall) {
  exec("import weakref\nclass Watched: pass\nobject_watch = None");
  Held object = eval("Watched()");
  exec("object_watch = weakref.ref(o)\ndel o", Args().object(object).as("o"));
  object.release();
  EXPECT_TRUE(truth(eval("object_watch() is None")));

  Held ours = tensor({1, 2}, {2});
  Held theirs = to_python(ours);
  exec("tensor_watch = weakref.ref(t)\ndel t", Args().object(theirs).as("t"));
  theirs.release();
  EXPECT_FALSE(truth(eval("tensor_watch() is None"))) << "the native tensor keeps its Python object";
  ours.release();
  EXPECT_TRUE(truth(eval("tensor_watch() is None")));
}

// Observes the destruction of a NumPy array without calling Python: a call would drain the queue itself.
class MemoryRelease : public PythonTest {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(ends_.data()), 0); }
  void TearDown() override {
    close(ends_[0]);
    close(ends_[1]);
    PythonTest::TearDown();
  }

  /// A tensor on an array's memory; the array writes to the pipe when it is destroyed.
  Held watched_tensor() {
    exec(
        "import numpy, os, weakref\nclass Watched(numpy.ndarray): pass\n"
        "array = numpy.zeros(4).view(Watched)\nweakref.finalize(array, os.write, end, b'x')",
        Args().number(ends_[1]).as("end"));
    Held ours = to_tensor(eval("array"));
    exec("del array");
    return ours;
  }

  Args pipe_end() { return std::move(Args().number(ends_[1]).as("pipe_end")); }

  bool is_destroyed_within(int milliseconds) {
    pollfd event{ends_[0], POLLIN, 0};
    return poll(&event, 1, milliseconds) == 1;
  }

  void empty_pipe() {
    char byte = 0;
    ASSERT_TRUE(is_destroyed_within(0));
    EXPECT_EQ(read(ends_[0], &byte, 1), 1);
  }

 private:
  std::array<int, 2> ends_{};
};

TEST_F(MemoryRelease, HappensWithoutACallIntoPython) {
  // In the second round the decref worker polls, in the third it sleeps.
  for (int round = 0; round < 3; ++round) {
    Held ours = watched_tensor();
    EXPECT_FALSE(is_destroyed_within(20));
    ours.release();
    EXPECT_TRUE(is_destroyed_within(10'000));
    empty_pipe();
    if (round == 1) {
      usleep(300'000);
    }
  }
}

TEST_F(MemoryRelease, HappensWhilePythonComputes) {
  Held ours = watched_tensor();
  std::atomic<bool> computes = true;
  std::thread computing([&] {
    exec(
        "import time\nos.write(pipe_end, b's')\nend = time.monotonic() + 3\nwhile time.monotonic() < end: "
        "pass",
        pipe_end());
    computes = false;
  });
  EXPECT_TRUE(is_destroyed_within(10'000));
  empty_pipe();
  std::thread([&] { ours.release(); }).join();
  EXPECT_TRUE(is_destroyed_within(2'500));
  EXPECT_TRUE(computes);
  computing.join();
}

// Guards the decision which release of a shared tensor is the last: two threads release its two handles at
// the same time while a third one holds the GIL. The last release queues the memory; one that waited for the
// GIL would deadlock here.
TEST_F(MemoryRelease, OfOneTensorByTwoThreadsNeverBlocks) {
  constexpr size_t kTensors = 100'000;
  std::array<std::vector<Held>, 2> handles;
  const Held make = eval("__import__('torch').ones", {});
  for (size_t i = 0; i < kTensors; ++i) {
    const Held theirs = call(make, Args().number(1));
    handles[0].push_back(to_tensor(theirs));
    handles[1].push_back(to_tensor(theirs));
  }
  {
    const HeldGil held;
    std::array<std::atomic<size_t>, 2> next{};
    const auto release = [&](size_t own) {
      for (size_t i = 0; i < kTensors; ++i) {
        next[own] = i;
        while (next[1 - own] < i) {
        }
        handles[own][i].release();
      }
      next[own] = kTensors;
    };
    std::thread other(release, 1);
    release(0);
    other.join();
  }
  eval("None");
}

TEST_F(MemoryRelease, HappensInAForkedProcess) {
  Held here = watched_tensor();
  exec("pid = os.fork()");
  const auto child = static_cast<pid_t>(number(eval("pid")));
  if (child == 0) {
    spt_release(here.get());
    _exit(is_destroyed_within(10'000) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  empty_pipe();
  here.release();
  EXPECT_TRUE(is_destroyed_within(10'000));
}

TEST_F(Threads, DestroyGeneratorsOnTheCallingThread) {
  exec("import torch\ndef without_grad():\n    with torch.no_grad(): yield 1");
  Held generator = eval("without_grad()");
  invoke(generator, "__next__").release();
  EXPECT_FALSE(truth(eval("torch.is_grad_enabled()")));
  generator.release();
  usleep(100'000);  // longer than the decref worker's polling interval
  EXPECT_TRUE(truth(eval("torch.is_grad_enabled()")));
}

namespace {

std::thread ending;

/// Called by Python through ctypes.PYFUNCTYPE, which keeps the GIL: the ended thread's state must wait.
void end_thread() {
  may_return = true;
  ending.join();
}

}  // namespace

TEST_F(Threads, ThatEndedBeforeAForkDoNotAffectTheChild) {
  may_return = false;
  std::atomic<bool> has_called = false;
  ending = std::thread([&] {
    EXPECT_EQ(number(eval("1")), 1);
    has_called = true;
    while (!may_return) {
      std::this_thread::yield();
    }
  });
  while (!has_called) {
    std::this_thread::yield();
  }
  exec("import ctypes, os\nctypes.PYFUNCTYPE(None)(address)()\npid = os.fork()",
       Args().number(reinterpret_cast<int64_t>(end_thread)).as("address"));
  const auto child = static_cast<pid_t>(number(eval("pid")));
  if (child == 0) {
    _exit(number(eval("2")) == 2 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// Guards the exit of such a child (torch 2.11): static objects of libtorch_python waited for the GIL forever.
TEST_F(Threads, ThatForkWithoutTheGilCannotCallPythonInTheChild) {
  Held hold = eval("__import__('ctypes').PYFUNCTYPE(None)(address)",
                   Args().number(reinterpret_cast<int64_t>(hold_gil)).as("address"));
  const Held x = tensor({1, 2}, {2});
  may_return = false;
  std::thread holder([&] { call(hold); });
  while (!holding) {
    std::this_thread::yield();
  }
  const pid_t child = fork();
  if (child == 0) {
    int64_t y = 0;
    int64_t out = 0;
    const bool computes = spt_add(x.get(), x.get(), &y) == SPT_OK && spt_release(y) == SPT_OK;
    const bool is_unavailable = spt_py_eval("1", "", nullptr, nullptr, 0, &out) == SPT_UNAVAILABLE;
    exit(computes && is_unavailable &&
                 last_message().starts_with("cannot call Python: this process was forked ")
             ? 0
             : 1);
  }
  may_return = true;
  holder.join();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(Threads, RunBackwardWhileOthersHoldTheGil) {
  exec(
      "import threading, time\nstop = threading.Event()\n"
      "def spin():\n    while not stop.is_set(): pass\n"
      "spinners = [threading.Thread(target=spin) for _ in range(2)]\n"
      "for s in spinners: s.start()");
  for (int i = 0; i < 20; ++i) {
    const Held x = tensor({1, 2, 3}, {3});
    expect_ok(spt_set_requires_grad(x.get(), true));
    const Held y = to_tensor(eval("(x * x).sum()", Args().tensor(x).as("x")));
    expect_ok(spt_backward(y.get()));
    const Held grad = made([&](int64_t* out) { return spt_grad(x.get(), out); });
    EXPECT_THAT(values(grad), testing::ElementsAre(2, 4, 6));
  }
  exec("stop.set()\nfor s in spinners: s.join()");
}

namespace {

SplArray* return_first(int64_t /*key*/, const char* kinds, const SplArray* values,
                       const SplArray* /*names*/) {
  EXPECT_STREQ(kinds, "v");
  SplArray* result = spl_array_new();
  SplValue letter{};
  letter.tag = SPL_STRING;
  letter.as_string = spl_str_new("v");
  spl_array_push(result, letter);
  spl_array_push(result, values->items[0]);
  return result;
}

void drop_key(int64_t /*key*/) {}

}  // namespace

/// One random operation of a program: call, raise, import, exchange, differentiate, be called, release.
class Steps : public Threads {
 protected:
  void TearDown() override {
    add_.release();
    gradient_.release();
    Threads::TearDown();
  }

  void step(uint32_t which) {
    switch (which % 7) {
      case 0:
        EXPECT_EQ(number(call(add_, Args().number(1).number(2))), 3);
        return;
      case 1:
        EXPECT_EQ(try_exec("raise ValueError('step')"), SPT_PYTHON);
        return;
      case 2:
        import("collections.abc");
        return;
      case 3: {
        const Held x = tensor({1, 2}, {2});
        const Held sum = to_tensor(call(add_, Args().tensor(x).tensor(x)));
        EXPECT_THAT(values(sum), testing::ElementsAre(2, 4));
        return;
      }
      case 4: {
        const Held gradient = to_tensor(call(gradient_));
        EXPECT_THAT(values(gradient), testing::ElementsAre(4));
        return;
      }
      case 5: {
        const Held function =
            made([](int64_t* out) { return spt_py_function("first", 0, return_first, drop_key, out); });
        EXPECT_EQ(number(call(function, Args().number(9))), 9);
        return;
      }
      default: {
        const Held x = tensor({3}, {1});
        made([&](int64_t* out) {
          int64_t handle = 0;
          expect_ok(spt_dlpack_export(x.get(), false, &handle));
          return spt_py_capsule_new(handle, out);
        });
      }
    }
  }

  void run(int steps) {
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        uint32_t random = 12345 + t;
        for (int i = 0; i < steps / static_cast<int>(kThreads); ++i) {
          random = random * 1664525 + 1013904223;
          step(random >> 16);
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

  static constexpr uint32_t kThreads = 8;
  Held add_ = eval("lambda a, b: a + b");
  Held gradient_ = eval(
      "lambda torch=__import__('torch'): (lambda x: ((x * x).sum().backward(), x.grad)[1])"
      "(torch.tensor([2.0], requires_grad=True))");
};

TEST_F(Steps, OfManyThreadsLeakNothing) {
  const bool is_long = round_trips::count() == 1'000'000;
  const int steps = is_long ? 1'000'000 : 10'000;
  run(steps / 2);
  const int64_t before = round_trips::resident_bytes();
  run(steps);
  const int64_t growth = round_trips::resident_bytes() - before;
  std::cout << steps << " steps on " << kThreads << " threads, growth " << growth << " bytes\n";
  // Thread stacks and malloc arenas vary by a few MB; a leak of 16 bytes per step is larger.
  EXPECT_TRUE(!round_trips::kIsCounted || growth <= (8 << 20)) << growth;
}

TEST_F(Threads, OfADataLoadersProcessesWork) {
  exec(
      "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n"
      "data = TensorDataset(torch.arange(8))\n"
      "loader = DataLoader(data, batch_size=4, num_workers=2)\n"
      "batches = [batch[0].tolist() for batch in loader]");
  EXPECT_EQ(repr(eval("batches")), "[[0, 1, 2, 3], [4, 5, 6, 7]]");
}

TEST_F(Threads, OfSpawnedProcessesWork) {
  exec(
      "import multiprocessing, operator\n"
      "with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
      "    product = pool.apply(operator.mul, (6, 7))");
  EXPECT_EQ(number(eval("product")), 42);
}
