/* Forks while another thread opens LibTorch or starts Python, or inside a function that Python called. The
 * children end by themselves: what they cannot use is unavailable. Guards against a child that waited for a
 * lock whose owner does not exist in it. Modes: open, start, callback. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simple_torch/c_api.h"

enum { kChildren = 6, kSecondsUntilHung = 30, kEnded = 3 };

static int is_child = 0;

static int call_python(void) {
  int64_t object = 0;
  const int32_t status = spt_py_eval("3 + 4", "", NULL, NULL, 0, &object);
  if (status == SPT_OK) {
    spt_release(object);
  }
  return status;
}

static void* call_for_ever(void* nothing) {
  spt_py_start();
  for (;;) {
    call_python();
  }
  return nothing;
}

static void start_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, call_for_ever, NULL);
}

/* Returns whether all children exited with one of the two codes. */
static int all_exited(const pid_t* children, int count, int first, int second) {
  int all = 1;
  for (int i = 0; i < count; ++i) {
    int status = 0;
    waitpid(children[i], &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code != first && code != second) {
      fprintf(stderr, "child %d ended with status 0x%x\n", i, (unsigned)status);
      all = 0;
    }
  }
  return all;
}

/* The forks come while the library opens and Python starts, and after it. */
static int fork_early(int microseconds) {
  pid_t children[kChildren];
  start_thread();
  for (int i = 0; i < kChildren; ++i) {
    usleep((useconds_t)microseconds);
    children[i] = fork();
    if (children[i] == 0) {
      alarm(kSecondsUntilHung);
      const int32_t status = call_python();
      _exit(status == SPT_OK || status == SPT_UNAVAILABLE ? kEnded : 1);
    }
  }
  return all_exited(children, kChildren, kEnded, kEnded);
}

static SplArray* nil(void) {
  SplArray* result = spl_array_new();
  SplValue item = {SPL_STRING, {0}};
  item.as_string = spl_str_new("v");
  spl_array_push(result, item);
  item.tag = SPL_NIL;
  spl_array_push(result, item);
  return result;
}

static SplArray* fork_in_callback(int64_t key, const char* kinds, const SplArray* values,
                                  const SplArray* names) {
  (void)key;
  (void)kinds;
  (void)values;
  (void)names;
  usleep(20000);
  const pid_t child = fork();
  if (child == 0) {
    is_child = 1;
    alarm(kSecondsUntilHung);
    return NULL;
  }
  return all_exited(&child, 1, EXIT_FAILURE, 0) ? nil() : NULL;
}

static void at_end(int64_t key) { (void)key; }

/* A child that returns to Python ends, because it may not wait for the GIL. */
static int fork_in_callbacks(void) {
  int64_t function = 0;
  spt_py_start();
  if (spt_py_function("fork", 0, fork_in_callback, at_end, &function) != SPT_OK) {
    return 0;
  }
  start_thread();
  start_thread();
  int failures = 0;
  for (int i = 0; i < kChildren; ++i) {
    int64_t result = 0;
    failures += spt_py_call(function, "", NULL, NULL, 0, &result) != SPT_OK;
    if (is_child) {
      _exit(2);
    }
    spt_release(result);
  }
  return failures == 0;
}

int main(int count, char** arguments) {
  const char* mode = count > 1 ? arguments[1] : "";
  bool available = false;
  int passed = 0;
  if (strcmp(mode, "callback") == 0) {
    passed = fork_in_callbacks();
  } else if (strcmp(mode, "start") == 0) {
    spt_available(&available);
    passed = fork_early(30000);
  } else {
    passed = fork_early(200000);
  }
  _exit(passed ? 0 : 1);
}
