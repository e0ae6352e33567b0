/* Calls every exported function with hostile arguments, in forked children. Generated from the ABI table, so that a new
 * function is called too.
 *
 *   fuzz_all [--mode default|off|memory] [--calls N] [--long-calls N] [--seed N] [--batch N] [--trace]
 *
 * A call must return within 5 s, without a signal. A failed call leaves no handle and writes no out parameter. All
 * strings are UTF-8. --long-calls replaces --calls if SIMPLE_LONG_TESTS is 1. --batch repeats one batch.
 *
 *   default  PyTorch and Python are open; the child has 512 MB of memory left
 *   off      SIMPLE_TORCH=off: there is no PyTorch
 *   memory   as default, with 12 MB left */
#define _GNU_SOURCE /* MAP_ANONYMOUS, nftw */
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "simple_torch/c_api.h"
#include "tests/abi/fuzz_arguments.h"
#include "tests/abi/fuzz_checks.h"

#define BATCH 500
#define MOST_FUNCTIONS 4000
#define MOST_REPORTS 60
#define PROCESSOR_LIMIT_S 5.0
#define WALL_LIMIT_S 30.0 /* a busy machine delays calls */

/* Functions that are not called, with the reason. An address whose size another argument states is always NULL:
 * FUZZ_ADDRESS in fuzz_arguments.c. */
static const struct {
  const char* name;
  const char* reason;
} kExcluded[] = {
    {"spt_py_shutdown", "ends Python for the rest of the batch"},
    {"rt_py_shutdown", "ends Python for the rest of the batch"},
};

typedef enum Mode { MODE_DEFAULT, MODE_OFF, MODE_MEMORY } Mode;

static struct {
  Mode mode;
  long calls;
  uint64_t seed;
  long batch; /* -1: all */
  bool trace;
} options = {MODE_DEFAULT, 100000, 20260711, -1, false};

/* What a child reports to its parent. */
static volatile struct Shared {
  int index; /* of the call in its batch; BATCH at the end */
  double wall, processor;
  int faults;
  long out_of_memory; /* calls that failed so */
  bool succeeded[MOST_FUNCTIONS];
  char arguments[2000];
}* shared;

static const FuzzFunction* called[MOST_FUNCTIONS];
static int called_count;

/* Combinations of letter, tag and payload for one function. */
static const char kLetters[] = "votdlcgx";
static const int32_t kTags[] = {SPL_NIL,    SPL_BOOL,    SPL_INT,       SPL_FLOAT, SPL_STRING,      SPL_ARRAY, SPL_DICT,
                                SPT_TENSOR, SPT_COMPLEX, SPT_GENERATOR, 99,        -1,        INT32_MAX};
#define TAG_COUNT ((long)(sizeof kTags / sizeof kTags[0]))
#define PAYLOADS 3
#define COMBINATIONS ((long)(sizeof kLetters - 1) * TAG_COUNT * PAYLOADS)

static const FuzzFunction* with_values[200];
static long with_values_count;

static bool is_excluded(const char* name) {
  for (size_t i = 0; i < sizeof kExcluded / sizeof kExcluded[0]; ++i) {
    if (strcmp(kExcluded[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

static bool accepts_values(const FuzzFunction* function) {
  for (int i = 0; i < function->count; ++i) {
    if (function->parameters[i].kind == FUZZ_ANYS || function->parameters[i].kind == FUZZ_VALUES) {
      return true;
    }
  }
  return false;
}

static void select_functions(void) {
  for (int i = 0; i < kFuzzFunctionCount; ++i) {
    const FuzzFunction* function = &kFuzzFunctions[i];
    if (is_excluded(function->name)) {
      continue;
    }
    called[called_count++] = function;
    if (accepts_values(function)) {
      with_values[with_values_count++] = function;
    }
  }
}

static double clock_s(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- the child */

static void report(const FuzzCall* call, const char* fault) {
  char text[2000];
  fuzz_describe(call, text, sizeof text);
  if (shared->faults++ < MOST_REPORTS) {
    fprintf(stderr, "FAULT: %s\n  %s\n", fault, text);
  }
}

/* Call `n` of all: first the combinations, then every function in turn. */
static const FuzzFunction* function_of(long n, FuzzValue* value) {
  const FuzzValue any = {0, 0, 0};
  *value = any;
  if (n >= with_values_count * COMBINATIONS) {
    return called[(n * 7919) % called_count]; /* 7919 is prime: each function once in called_count calls */
  }
  const long combination = n / with_values_count;
  value->letter = kLetters[combination / (TAG_COUNT * PAYLOADS)];
  value->tag = kTags[combination / PAYLOADS % TAG_COUNT];
  value->payload = (int)(combination % PAYLOADS);
  return with_values[n % with_values_count];
}

static void announce(const FuzzCall* call, int index) {
  fuzz_describe(call, (char*)shared->arguments, sizeof shared->arguments);
  shared->processor = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  shared->wall = clock_s(CLOCK_MONOTONIC);
  shared->index = index;
  if (options.trace) {
    fprintf(stderr, "%d %s\n", index, (const char*)shared->arguments);
  }
}

static void end_scopes(void) {
  int64_t ended = 0;
  while (spt_scope_end(&ended) == SPT_OK) {
  }
}

/* Leaves `megabytes` of address space. */
static void limit_memory(rlim_t megabytes) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld", &pages) != 1) {
    perror("/proc/self/statm");
    _exit(1);
  }
  fclose(file);
  const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (megabytes << 20);
  const struct rlimit limit = {most, most};
  setrlimit(RLIMIT_AS, &limit);
}

static bool has_sanitizer(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

static void prepare_child(long batch) {
  const struct rlimit no_core = {0, 0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setrlimit(RLIMIT_CORE, &no_core);
  fuzz_seed(options.seed * 1000003 + (uint64_t)batch);
  fuzz_keep_samples();
  if (!has_sanitizer()) {
    limit_memory(options.mode == MODE_MEMORY ? 12 : 512);
  }
}

static void run_call(long batch, int index) {
  FuzzCall call;
  FuzzValue value;
  const long n = batch * BATCH + index;
  fuzz_seed((options.seed << 32) + (uint64_t)n);
  if (index % 100 == 99) {
    fuzz_keep_samples();
  }
  fuzz_make_arguments(function_of(n, &value), value, &call);
  announce(&call, index);
  const int32_t status = fuzz_check_call(&call, report);
  shared->out_of_memory += status == SPT_OUT_OF_MEMORY;
  shared->succeeded[call.function - kFuzzFunctions] |= status == SPT_OK;
}

static void run_child(long batch, int first, int last) {
  prepare_child(batch);
  for (int i = first; i < last; ++i) {
    run_call(batch, i);
  }
  end_scopes();
  fuzz_release_kept();
  shared->index = BATCH;
  fflush(NULL);
  _exit(0);
}

/* --- the parent */

static bool hangs(clockid_t processor) {
  const double started = shared->wall;
  if (shared->index < 0 || started == 0) {
    return false;
  }
  const double wall = clock_s(CLOCK_MONOTONIC) - started;
  return wall > WALL_LIMIT_S || (wall > PROCESSOR_LIMIT_S && clock_s(processor) - shared->processor > PROCESSOR_LIMIT_S);
}

/* Waits for the child; kills it if a call hangs. Returns its status. */
static int watch(pid_t child, bool* hung) {
  int status = 0;
  clockid_t processor = CLOCK_MONOTONIC;
  const struct timespec pause = {0, 2000000};
  clock_getcpuclockid(child, &processor);
  *hung = false;
  while (waitpid(child, &status, WNOHANG) == 0) {
    nanosleep(&pause, NULL);
    if (!*hung && hangs(processor)) {
      *hung = true;
      kill(child, SIGKILL);
    }
  }
  return status;
}

static void report_death(long batch, int status, bool hung) {
  if (hung) {
    fprintf(stderr, "HANG of more than %g s", PROCESSOR_LIMIT_S);
  } else if (WIFSIGNALED(status)) {
    fprintf(stderr, "SIGNAL %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else {
    fprintf(stderr, "EXIT with status %d", WEXITSTATUS(status));
  }
  fprintf(stderr, "\n  %s\n  --seed %llu --batch %ld, call %d\n", (const char*)shared->arguments,
          (unsigned long long)options.seed, batch, shared->index);
}

/* Runs calls `first` to `last` - 1 of a batch in one child. Returns the index behind the last call. */
static int run_part(long batch, int first, int last) {
  bool hung = false;
  shared->index = -1;
  shared->wall = 0;
  const pid_t child = fork();
  if (child == 0) {
    run_child(batch, first, last);
  }
  const int status = watch(child, &hung);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && shared->index == BATCH) {
    return last;
  }
  report_death(batch, status, hung);
  ++shared->faults;
  return shared->index < first ? last : shared->index + 1;
}

static void run_batch(long batch) {
  const long left = options.calls - batch * BATCH;
  const int last = options.batch < 0 && left < BATCH ? (int)left : BATCH;
  int next = 0;
  while (next < last && shared->faults < MOST_REPORTS) {
    next = run_part(batch, next, last);
  }
}

static int count_succeeded(void) {
  int count = 0;
  for (int i = 0; i < kFuzzFunctionCount; ++i) {
    count += shared->succeeded[i];
    if (options.trace && !shared->succeeded[i]) {
      fprintf(stderr, "never succeeded: %s\n", kFuzzFunctions[i].name);
    }
  }
  return count;
}

static int run_all(void) {
  const long batches = (options.calls + BATCH - 1) / BATCH;
  const long first = options.batch < 0 ? 0 : options.batch, end = options.batch < 0 ? batches : first + 1;
  long batch = first;
  while (batch < end && shared->faults < MOST_REPORTS) {
    run_batch(batch++);
  }
  const long calls = options.batch < 0 && batch == end ? options.calls : (batch - first) * BATCH;
  printf("%ld calls of %d functions, of which %d succeeded once; %ld times OUT_OF_MEMORY; %d faults\n", calls,
         called_count, count_succeeded(), shared->out_of_memory, shared->faults);
  return shared->faults == 0 ? 0 : 1;
}

/* Opens PyTorch and Python once, so that the children need not. */
static bool open_library(void) {
  bool available = false;
  int64_t torch = 0;
  spt_available(&available);
  if (options.mode != MODE_OFF && (!available || spt_py_import("torch", &torch) != SPT_OK)) {
    fprintf(stderr, "fuzz_all: %s\n", spt_last_error_message());
    return false;
  }
  if (torch != 0) {
    spt_release(torch);
  }
  return available == (options.mode != MODE_OFF);
}

static int remove_entry(const char* path, const struct stat* status, int type, struct FTW* walk) {
  (void)status;
  (void)type;
  (void)walk;
  return remove(path) != 0 && errno != ENOENT;
}

static bool enter_folder(char* folder) { return mkdtemp(folder) != NULL && chdir(folder) == 0; }

static bool read_mode(const char* word) {
  static const char* const kModes[] = {"default", "off", "memory"};
  for (int i = 0; i < 3; ++i) {
    if (strcmp(word, kModes[i]) == 0) {
      options.mode = (Mode)i;
      return true;
    }
  }
  return false;
}

static bool read_option(const char* name, const char* value) {
  const char* is_long = getenv("SIMPLE_LONG_TESTS");
  if (strcmp(name, "--mode") == 0) {
    return read_mode(value);
  }
  if (strcmp(name, "--calls") == 0) {
    options.calls = atol(value);
  } else if (strcmp(name, "--long-calls") == 0) {
    options.calls = is_long != NULL && strcmp(is_long, "1") == 0 ? atol(value) : options.calls;
  } else if (strcmp(name, "--seed") == 0) {
    options.seed = strtoull(value, NULL, 10);
  } else if (strcmp(name, "--batch") == 0) {
    options.batch = atol(value);
  } else {
    return false;
  }
  return true;
}

static bool read_options(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    if (strcmp(words[i], "--trace") == 0) {
      options.trace = true;
    } else if (i + 1 == count || !read_option(words[i], words[i + 1])) {
      fprintf(stderr, "fuzz_all: unknown option %s\n", words[i]);
      return false;
    } else {
      ++i;
    }
  }
  return true;
}

int main(int count, char** words) {
  char folder[] = "/tmp/fuzz_all_XXXXXX";
  if (!read_options(count, words) || !enter_folder(folder)) {
    return 2;
  }
  if (options.mode == MODE_OFF) {
    setenv("SIMPLE_TORCH", "off", 1);
  }
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  select_functions();
  const int result = open_library() ? run_all() : 1;
  nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  fflush(NULL);
  return result;
}
