// Ends in the way that its first argument names, so that a test can see how the process goes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

/// Something of every kind that could hurt at the end: objects, tensors that Python knows, a capsule, numpy.
void leave_things_alive() {
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

/// Lets go of tensors over NumPy's memory when static objects die, long after Python's exit work.
struct LetsGoLast {
  std::vector<int64_t> tensors;
  ~LetsGoLast() {
    for (const int64_t tensor : tensors) {
      spt_release(tensor);
    }
  }
} lets_go_last;

void require(int32_t status) {
  if (status != SPT_OK) {
    std::fprintf(stderr, "%s\n", spt_last_error_message());
    std::_Exit(4);
  }
}

int64_t tensor_of_numpys() {
  int64_t tensor = 0;
  const int64_t array = evaluate("__import__('numpy').zeros(3)");
  require(spt_py_from_dlpack(array, -2, -1, &tensor));
  spt_release(array);
  return tensor;
}

/// torch's tensors over memory of ours, which an exit function of Python lets go.
void let_python_go_at_its_exit() {
  for (int i = 0; i < 100; ++i) {
    int64_t capsule = 0;
    int64_t lent = 0;
    int64_t tensor = 0;
    const double values[] = {1, 2, 3};
    const int64_t dims[] = {3};
    require(spt_from_data(values, 3, dims, 1, &tensor));
    require(spt_dlpack_export(tensor, false, &lent));
    require(spt_py_capsule_new(lent, &capsule));
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

/// A thread that lets go, one after the other, while the process ends.
void let_go_while_ending() {
  std::vector<int64_t> tensors;
  for (int i = 0; i < 20'000; ++i) {
    tensors.push_back(tensor_of_numpys());
  }
  std::thread([tensors = std::move(tensors)] {
    for (const int64_t tensor : tensors) {
      spt_release(tensor);
    }
  }).detach();
}

}  // namespace

int main(int count, char** arguments) {
  const std::string how = count > 1 ? arguments[1] : "";
  leave_things_alive();
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
  if (how == "python thread at work") {
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
  if (how == "deleters at the end") {
    lets_go_last.tensors.assign(100, 0);
    for (int64_t& tensor : lets_go_last.tensors) {
      tensor = tensor_of_numpys();
    }
    let_python_go_at_its_exit();
    return 3;
  }
  if (how == "deleters on a thread") {
    let_go_while_ending();
    return 3;
  }
  if (how == "start") {
    int32_t status = spt_py_start();
    std::printf("%d %s\n", status, spt_last_error_message());
    return 3;
  }
  return 5;
}
