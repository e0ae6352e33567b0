// Exits in the way that its first argument names; test_shutdown.cpp checks the exit code and the output.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "simple_torch/c_api.h"

namespace {

int32_t run(const char* code) { return spt_py_exec(code, "", nullptr, nullptr, 0); }

int64_t evaluate(const char* code) {
  int64_t out = 0;
  spt_py_eval(code, "", nullptr, nullptr, 0, &out);
  return out;
}

/// Keeps everything alive that is critical at exit: objects, tensors that Python knows, a capsule, a NumPy
/// array.
void keep_everything_alive() {
  static int64_t tensor = 0;
  const double values[] = {1, 2, 3};
  const int64_t dims[] = {3};
  spt_from_data(values, 3, dims, 1, &tensor);
  int64_t object = 0;
  spt_py_from_tensor(tensor, &object);
  int64_t exported = 0;
  int64_t capsule = 0;
  spt_dlpack_export(tensor, false, &exported);
  spt_py_capsule_new(exported, &capsule);
  int64_t imported = 0;
  spt_py_to_tensor(evaluate("__import__('numpy').zeros(3)"), &imported);
  run("import atexit, sys\natexit.register(lambda: print('exit function ran'))\nprint('printed', end='')");
}

/// Releases Python objects when static objects are destroyed, after Python's exit work.
struct ReleasesLast {
  std::vector<int64_t> handles;
  ~ReleasesLast() {
    for (const int64_t handle : handles) {
      spt_release(handle);
    }
  }
} releases_last;

void require(int32_t status) {
  if (status != SPT_OK) {
    std::fprintf(stderr, "%s\n", spt_last_error_message());
    std::_Exit(4);
  }
}

int64_t make_numpy_tensor() {
  int64_t tensor = 0;
  const int64_t array = evaluate("__import__('numpy').zeros(3)");
  require(spt_py_from_dlpack(array, -2, -1, &tensor));
  spt_release(array);
  return tensor;
}

/// torch tensors on our memory that an exit function of Python releases.
void release_in_python_exit_function() {
  for (int i = 0; i < 100; ++i) {
    int64_t capsule = 0;
    int64_t exported = 0;
    int64_t tensor = 0;
    const double values[] = {1, 2, 3};
    const int64_t dims[] = {3};
    require(spt_from_data(values, 3, dims, 1, &tensor));
    require(spt_dlpack_export(tensor, false, &exported));
    require(spt_py_capsule_new(exported, &capsule));
    const char* const names[] = {"capsule"};
    SplArray* arguments = spl_array_new();
    spl_array_push_i64(arguments, capsule);
    require(spt_py_exec("import atexit, torch\natexit.register([torch.from_dlpack(capsule)].clear)", "o",
                        arguments, names, 1));
    spl_array_free(arguments);
    spt_release(capsule);
    spt_release(tensor);
  }
}

/// A thread that releases tensors one by one while the process exits.
void release_during_exit(int count) {
  std::vector<int64_t> tensors;
  tensors.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    tensors.push_back(make_numpy_tensor());
  }
  std::thread([tensors = std::move(tensors)] {
    for (const int64_t tensor : tensors) {
      spt_release(tensor);
    }
  }).detach();
}

void release_tensors_last() {
  for (int i = 0; i < 100; ++i) {
    releases_last.handles.push_back(make_numpy_tensor());
  }
}

/// Objects with a finalizer in Python.
void release_objects_last() {
  run("class Last:\n    def __del__(self): print('too late', flush=True)");
  for (int i = 0; i < 100; ++i) {
    releases_last.handles.push_back(evaluate("Last()"));
  }
}

void spin_in_a_daemon() {
  run("import threading\ndef spin():\n    while True: pass\nthreading.Thread(target=spin, "
      "daemon=True).start()");
}

void sleep_in_python() {
  std::thread([] { run("import time\ntime.sleep(60)"); }).detach();
}

void work_in_a_thread_of_python() {
  run("import threading, time\nthreading.Thread(target=lambda: time.sleep(0.05)).start()");
}

void call_on_a_thread() {
  std::thread([] {
    while (run("sum(range(100))") == SPT_OK) {
    }
  }).detach();
}

void fail() { run("raise ValueError('x')"); }

void keep_a_graph() {
  run("import torch\nkept = (torch.ones(3, requires_grad=True) * 2).sum()\nkept.register_hook(lambda g: g)");
}

SplArray* return_none(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                      const SplArray* /*names*/) {
  SplArray* result = spl_array_new();
  SplValue letter{};
  letter.tag = SPL_STRING;
  letter.as_string = spl_str_new("v");
  spl_array_push(result, letter);
  spl_array_push(result, SplValue{});
  return result;
}
void drop_key(int64_t /*key*/) {}

void keep_a_function() {
  int64_t function = 0;
  require(spt_py_function("kept", 0, return_none, drop_key, &function));
  const char* const names[] = {"f"};
  SplArray* arguments = spl_array_new();
  spl_array_push_i64(arguments, function);
  require(spt_py_exec("import atexit\natexit.register(f, 1)\nkept_function = f", "o", arguments, names, 1));
  spl_array_free(arguments);
}

/// A random state and a random way to exit with code 3.
int exit_at_random(unsigned seed) {
  std::mt19937 random(seed);
  const std::vector<void (*)()> states = {
      release_tensors_last, release_objects_last, release_in_python_exit_function, spin_in_a_daemon,
      sleep_in_python,      call_on_a_thread,     work_in_a_thread_of_python,      fail,
      keep_a_graph,         keep_a_function,      [] { release_during_exit(500); }};
  for (void (*state)() : states) {
    if (random() % 2 == 0) {
      state();
    }
  }
  switch (random() % 5) {
    case 0:
      std::exit(3);
    case 1:
      std::thread([] { std::exit(3); }).join();
      return 4;
    case 2:
      return spt_py_shutdown() == SPT_OK ? 3 : 4;
    case 3:
      spl_program_ends();
      std::fflush(stdout);
      std::_Exit(3);
    default:
      return 3;
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string how = count > 1 ? arguments[1] : "";
  keep_everything_alive();
  if (how == "return") {
    return 3;
  }
  if (how == "exit on another thread") {
    std::thread([] { std::exit(3); }).join();
  }
  if (how == "daemon thread") {
    run("import threading\ndef spin():\n    while True: pass\nthreading.Thread(target=spin, "
        "daemon=True).start()");
    return 3;
  }
  if (how == "thread inside Python") {
    std::thread([] { run("import time\ntime.sleep(60)"); }).detach();
    run("import time\ntime.sleep(0.05)");
    return 3;
  }
  if (how == "python thread working") {
    run("import threading, time\ndef work():\n    time.sleep(0.2)\n    print('work done')\n"
        "threading.Thread(target=work).start()");
    return 3;
  }
  if (how == "after an error") {
    run("raise ValueError('x')");
    return 3;
  }
  if (how == "shutdown first") {
    spt_py_shutdown();
    return run("print('no')") == SPT_UNAVAILABLE ? 3 : 4;
  }
  if (how == "deleters at exit") {
    release_tensors_last();
    release_in_python_exit_function();
    return 3;
  }
  if (how == "objects at exit") {
    release_objects_last();
    return 3;
  }
  if (how == "deleters on a thread") {
    release_during_exit(20'000);
    return 3;
  }
  if (how.starts_with("random ")) {
    return exit_at_random(static_cast<unsigned>(std::stoul(how.substr(sizeof "random"))));
  }
  if (how == "start") {
    int32_t status = spt_py_start();
    std::printf("%d %s\n", status, spt_last_error_message());
    return 3;
  }
  return 5;
}
