/* Uses tensors in a function that was registered with atexit() before the first call, and in a destructor
 * function. Both run after LibTorch's static objects were destroyed, and every call is unavailable. Guards
 * close_backend(): the calls crashed. A function that was registered after the first call runs before, when
 * calls work, but after the objects of the thread were destroyed. Guards thread_object(): the calls used
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simple_torch/c_api.h"

static int64_t tensor = 0;
static int checked = 0;

static void require(bool holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "%s: %s\n", what, spt_last_error_message());
    _exit(1);
  }
}

static void use_tensor(const char* when) {
  int64_t sum = 0;
  int64_t object = 0;
  double* values = NULL;
  int64_t count = 0;
  require(spt_add(tensor, tensor, &sum) == SPT_UNAVAILABLE && sum == 0, when);
  require(strstr(spt_last_error_message(), "the process is exiting") != NULL, when);
  require(spt_to_list(tensor, &values, &count) == SPT_UNAVAILABLE, when);
  require(spt_py_eval("1", "", NULL, NULL, 0, &object) == SPT_UNAVAILABLE, when);
  require(spt_release(tensor) == SPT_UNAVAILABLE, when);
  ++checked;
}

static void at_exit(void) { use_tensor("atexit"); }

/* Opens a scope, fails, and runs operators: each has an object of the thread. */
static void use_thread_objects(void) {
  const int64_t dims[] = {3};
  int64_t made = 0;
  int64_t product = 0;
  int64_t released = 0;
  require(spt_scope_begin() == SPT_OK, "spt_scope_begin");
  require(spt_rand(dims, 1, &made) == SPT_OK, "spt_rand");
  require(spt_set_requires_grad(made, true) == SPT_OK, "spt_set_requires_grad");
  require(spt_mul(made, made, &product) == SPT_OK, "spt_mul");
  require(spt_reshape(product, dims, -1, &made) == SPT_INVALID_ARGUMENT, "spt_reshape");
  require(strstr(spt_last_error_message(), "dims") != NULL, "message");
  require(spt_scope_end(&released) == SPT_OK && released == 2, "spt_scope_end");
}

static void at_exit_while_open(void) {
  use_thread_objects();
  require(checked == 0, "order of functions at exit");
}

__attribute__((destructor)) static void destroy(void) {
  use_tensor("destructor");
  require(checked == 2, "number of checks");
}

int main(int count, char** arguments) {
  const int64_t dims[] = {3};
  int64_t object = 0;
  atexit(at_exit);
  require(spt_ones(dims, 1, &tensor) == SPT_OK, "spt_ones");
  use_thread_objects();
  atexit(at_exit_while_open);
  if (count > 1 && strcmp(arguments[1], "python") == 0) {
    require(spt_py_import("torch", &object) == SPT_OK, "spt_py_import");
  }
  return 0;
}
