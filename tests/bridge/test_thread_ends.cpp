// Threads that end by pthread_exit in a function that Python called, and by pthread_cancel inside Python.
#include <pthread.h>

#include <atomic>
#include <ctime>
#include <thread>
#include <vector>

#include "python_test.h"

namespace {

void ignore_end(int64_t /*key*/) {}

void* const kResult = reinterpret_cast<void*>(7);

SplArray* end_thread(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                     const SplArray* /*names*/) {
  pthread_exit(kResult);
}

int64_t argument_to_call = 0;

SplArray* call_argument(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                        const SplArray* /*names*/) {
  int64_t out = 0;
  spt_py_call(argument_to_call, "", nullptr, nullptr, 0, &out);
  return nullptr;
}

std::atomic<bool> is_ready{false};

SplArray* become_ready(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                       const SplArray* /*names*/) {
  is_ready = true;
  SplArray* result = spl_array_new();
  SplValue letter{};
  letter.tag = SPL_STRING;
  letter.as_string = spl_str_new("v");
  spl_array_push(result, letter);
  spl_array_push(result, SplValue{});
  return result;
}

}  // namespace

class ThreadEnds : public PythonTest {
 protected:
  void SetUp() override { is_ready = false; }

  void TearDown() override {
    expect_python_to_work();
    PythonTest::TearDown();
  }

  static Held function(SptPyCall call) {
    return made([&](int64_t* out) { return spt_py_function("named", 0, call, ignore_end, out); });
  }

  template <class Body>
  static pthread_t start(Body& body) {
    pthread_t thread{};
    EXPECT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void* what) -> void* {
                    (*static_cast<Body*>(what))();
                    return nullptr;
                  },
                  &body),
              0);
    return thread;
  }

  /// The thread's result; fails instead of waiting forever.
  static void* join(pthread_t thread) {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    void* result = nullptr;
    EXPECT_EQ(pthread_timedjoin_np(thread, &result, &until), 0) << "the thread has not ended";
    return result;
  }

  /// On this thread and on a new one; also for code that visits the frames of all threads.
  static void expect_python_to_work() {
    EXPECT_EQ(number(eval("len(__import__('sys')._current_frames()) > 0 and 6 * 7")), 42);
    std::thread([] { EXPECT_EQ(number(eval("6 * 7")), 42); }).join();
    exec("import gc\ngc.collect()");
  }
};

TEST_F(ThreadEnds, ByPthreadExitInAFunction) {
  const Held end = function(end_thread);
  auto body = [&] { call(eval("lambda f: [f() for _ in range(3)]"), Args().object(end)); };
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(join(start(body)), kResult);
    expect_python_to_work();
  }
}

TEST_F(ThreadEnds, ByPthreadExitInANestedFunction) {
  const Held end = function(end_thread);
  const Held outer = function(call_argument);
  argument_to_call = end.get();
  auto body = [&] { call(eval("lambda f: next(f() for _ in range(3))"), Args().object(outer)); };
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(join(start(body)), kResult);
    expect_python_to_work();
  }
}

TEST_F(ThreadEnds, OfPythonByPthreadExitDoNotKeepTheGil) {
  const Held end = function(end_thread);
  Args named;
  named.object(end).as("end");
  expect_ok(spt_py_exec("import threading\nthreading.Thread(target=end, daemon=True).start()", named.kinds(),
                        named.values(), named.names(), named.name_count()));
  exec("import time\ntime.sleep(0.2)");
}

TEST_F(ThreadEnds, ByCancellationAfterTheCallOfPython) {
  const Held ready = function(become_ready);
  std::atomic<bool> is_returned{false};
  std::atomic<bool> is_after{false};
  auto body = [&] {
    call(eval("lambda f: (f(), __import__('time').sleep(0.3))"), Args().object(ready));
    is_returned = true;
    eval("1");
    is_after = true;
  };
  const pthread_t thread = start(body);
  while (!is_ready) {
    std::this_thread::yield();
  }
  pthread_cancel(thread);
  EXPECT_EQ(join(thread), PTHREAD_CANCELED);
  EXPECT_TRUE(is_returned);
  EXPECT_FALSE(is_after);
}

// A thread that was cancelled while it waited for the GIL kept the mutex of the GIL.
TEST_F(ThreadEnds, ByCancellationWhileManyThreadsWaitForTheGil) {
  auto body = [] {
    while (true) {
      eval("sum(range(1000))");
    }
  };
  for (int round = 0; round < 10; ++round) {
    std::vector<pthread_t> threads;
    for (int i = 0; i < 8; ++i) {
      threads.push_back(start(body));
    }
    exec("import time\ntime.sleep(0.02)");
    for (const pthread_t thread : threads) {
      pthread_cancel(thread);
    }
    for (const pthread_t thread : threads) {
      EXPECT_EQ(join(thread), PTHREAD_CANCELED);
    }
    expect_python_to_work();
  }
}
