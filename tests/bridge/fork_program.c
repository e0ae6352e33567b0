/* Forks next to threads that call Python, with the argument `sub` after a sub-interpreter has existed. Each
 * child calls Python once, which works or is unavailable, and exits. Guards the check of the GIL in a forked
 * child: a child hung when a thread that does not exist there held a lock of Python. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simple_torch/c_api.h"

enum { kForks = 60, kThreads = 3, kSecondsUntilHung = 20 };

static void* call_python(void* nothing) {
  for (;;) {
    int64_t object = 0;
    if (spt_py_eval("sum(range(100))", "", NULL, NULL, 0, &object) == SPT_OK) {
      spt_release(object);
    }
  }
  return nothing;
}

static int run_child(void) {
  int64_t object = 0;
  const int32_t status = spt_py_eval("3 + 4", "", NULL, NULL, 0, &object);
  return status == SPT_OK || status == SPT_UNAVAILABLE ? 0 : 1;
}

/* Afterwards PyGILState_Check() returns 1 on every thread. */
static int create_sub_interpreter(void) {
  return spt_py_exec(
      "try: import _interpreters as subs\n"
      "except ImportError: import _xxsubinterpreters as subs\n"
      "subs.destroy(subs.create())\n",
      "", NULL, NULL, 0);
}

int main(int count, char** arguments) {
  const int with_sub_interpreter = count > 1 && strcmp(arguments[1], "sub") == 0;
  if (spt_py_start() != SPT_OK || (with_sub_interpreter && create_sub_interpreter() != SPT_OK)) {
    fprintf(stderr, "%s\n", spt_last_error_message());
    return 1;
  }
  for (int i = 0; i < kThreads; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, call_python, NULL);
  }
  int failures = 0;
  for (int i = 0; i < kForks; ++i) {
    usleep(1000);
    const pid_t child = fork();
    if (child == 0) {
      alarm(kSecondsUntilHung);
      exit(run_child());
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      fprintf(stderr, "fork %d: the child ended with status 0x%x\n", i, (unsigned)status);
      ++failures;
    }
  }
  _exit(failures == 0 ? 0 : 1);
}
