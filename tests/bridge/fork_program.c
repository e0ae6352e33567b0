/* Forks next to threads that call Python. Each child calls Python once, which works or is unavailable, and
 * exits. Guards the check of the GIL in a forked child: a child hung when a thread that does not exist there
 * held a lock of Python. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

int main(void) {
  if (spt_py_start() != SPT_OK) {
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
