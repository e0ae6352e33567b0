/* SIGINT outside Python has the action that it had before Python started: here the default one, which ends
 * the process. Guards the handler that the import of Python's signal module installs. Modes: program, child.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simple_torch/c_api.h"

static int start(void) {
  int64_t object = 0;
  signal(SIGINT, SIG_DFL);
  if (spt_py_start() != SPT_OK || spt_py_eval("1", "", NULL, NULL, 0, &object) != SPT_OK) {
    fprintf(stderr, "%s\n", spt_last_error_message());
    return 0;
  }
  return spt_release(object) == SPT_OK;
}

static int is_ended_by_interrupt(int after_start_in_parent) {
  if (after_start_in_parent && !start()) {
    return 0;
  }
  const pid_t child = fork();
  if (child == 0) {
    if (!after_start_in_parent && !start()) {
      _exit(1);
    }
    kill(getpid(), SIGINT);
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
}

int main(int count, char** arguments) {
  const int is_child_mode = count > 1 && strcmp(arguments[1], "child") == 0;
  return is_ended_by_interrupt(is_child_mode) ? 0 : 1;
}
