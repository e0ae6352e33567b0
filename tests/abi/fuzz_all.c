/* Calls every exported function with hostile arguments, in forked children. Generated from the ABI table, so
 * that a new function is called too.
 *
 *   fuzz_all [--mode default|off|memory] [--calls N] [--long-calls N] [--seed N] [--first N] [--trace]
 *
 * A call must return within 5 s, without a signal. A failed call leaves no handle and writes no out
 * parameter. The spl_* helpers of spl_runtime.h, which trust their structures, have tests of their own:
 * test_runtime_helpers.cpp. All strings are UTF-8. --long-calls replaces --calls if SIMPLE_LONG_TESTS is 1.
 * --first starts with a later call, to repeat it.
 *
 *   default  PyTorch and Python are open; the child has 512 MB of memory left
 *   off      SIMPLE_TORCH=off: there is no PyTorch
 *   memory   as default, with 12 MB left */
#define _GNU_SOURCE /* MAP_ANONYMOUS, nftw */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
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

/* Every ROUND calls are PYTHON_CALLS in one child that starts Python, which costs seconds, and batches of
 * BATCH in children that inherit LibTorch: a forked child cannot use the Python of its parent. */
#define BATCH 500
#define PYTHON_CALLS 5000
#define ROUND 20000
#define MOST_FUNCTIONS 4000
#define MOST_REPORTS 60
#define PROCESSOR_LIMIT_S 5.0
#define WALL_LIMIT_S 30.0 /* a busy machine delays calls */

/* Functions that are not called, with the reason. An address whose size another argument states is always
 * NULL: FUZZ_ADDRESS in fuzz_arguments.c. */
static const struct {
  const char* name;
  const char* reason;
} kExcluded[] = {
    {"spt_py_shutdown", "ends Python for all later calls of the child"},
    {"rt_py_shutdown", "ends Python for all later calls of the child"},
};

typedef enum Mode { MODE_DEFAULT, MODE_OFF, MODE_MEMORY } Mode;

static struct {
  Mode mode;
  long calls;
  uint64_t seed;
  long first;
  bool trace;
} options = {MODE_DEFAULT, 100000, 20260711, 0, false};

/* What a child reports to its parent. */
static volatile struct Shared {
  long call; /* the number of the call; -1 before the first, LONG_MAX after the last */
  double wall, processor;
  int faults;
  long out_of_memory; /* calls that failed so */
  bool succeeded[MOST_FUNCTIONS];
  char arguments[2000];
}* shared;

static const FuzzFunction* of_torch[MOST_FUNCTIONS];
static int of_torch_count;

/* Combinations of letter, tag and payload for one function. */
static const char kLetters[] = "votdlcgx";
static const int32_t kTags[] = {SPL_NIL,   SPL_BOOL, SPL_INT,    SPL_FLOAT,   SPL_STRING,
                                SPL_ARRAY, SPL_DICT, SPT_TENSOR, SPT_COMPLEX, SPT_GENERATOR,
                                99,        -1,       INT32_MAX};
#define TAG_COUNT ((long)(sizeof kTags / sizeof kTags[0]))
#define PAYLOADS 3
#define COMBINATIONS ((long)(sizeof kLetters - 1) * TAG_COUNT * PAYLOADS)

static const FuzzFunction* with_values[200];
static long with_values_count;
static const FuzzFunction* of_python[MOST_FUNCTIONS];
static int of_python_count;

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
    if (strstr(function->name, "_py_") != NULL) {
      of_python[of_python_count++] = function;
    } else {
      of_torch[of_torch_count++] = function;
    }
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

static bool uses_python(long n) { return n % ROUND < PYTHON_CALLS; }

/* The first calls with Python are the combinations; then half of them are functions of Python. The other
 * children call the other functions in turn: 7919 is prime, so each once in of_torch_count calls. */
static const FuzzFunction* function_of(long n, FuzzValue* value) {
  const FuzzValue any = {0, 0, 0};
  const long with_python = n / ROUND * PYTHON_CALLS + n % ROUND,
             combination = with_python / with_values_count;
  *value = any;
  if (!uses_python(n) || (combination >= COMBINATIONS && n % 2 == 0)) {
    return of_torch[n * 7919 % of_torch_count];
  }
  if (combination >= COMBINATIONS) {
    return of_python[n / 2 * 7919 % of_python_count];
  }
  value->letter = kLetters[combination / (TAG_COUNT * PAYLOADS)];
  value->tag = kTags[combination / PAYLOADS % TAG_COUNT];
  value->payload = (int)(combination % PAYLOADS);
  return with_values[with_python % with_values_count];
}

static void announce(const FuzzCall* call, long n) {
  fuzz_describe(call, (char*)shared->arguments, sizeof shared->arguments);
  shared->processor = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  shared->wall = clock_s(CLOCK_MONOTONIC);
  shared->call = n;
  if (options.trace) {
    fprintf(stderr, "%ld %s\n", n, (const char*)shared->arguments);
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

/* `first` is the first call of the child. Returns whether PyTorch and Python are as the mode needs them. */
static bool prepare_child(long first) {
  const struct rlimit no_core = {0, 0};
  int64_t torch = 0;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setrlimit(RLIMIT_CORE, &no_core);
  fuzz_seed(options.seed + (uint64_t)first);
  if (uses_python(first) && options.mode != MODE_OFF && spt_py_import("torch", &torch) != SPT_OK) {
    fprintf(stderr, "fuzz_all: %s\n", spt_last_error_message());
    return false;
  }
  fuzz_keep_samples(uses_python(first));
  if (!has_sanitizer()) {
    limit_memory(options.mode == MODE_MEMORY ? 12 : 512);
  }
  return true;
}

static void run_call(long n) {
  FuzzCall call;
  FuzzValue value;
  fuzz_seed((options.seed << 32) + (uint64_t)n);
  if (n % 100 == 99) {
    fuzz_keep_samples(uses_python(n));
  }
  fuzz_make_arguments(function_of(n, &value), value, &call);
  announce(&call, n);
  const int32_t status = fuzz_check_call(&call, report);
  shared->out_of_memory += status == SPT_OUT_OF_MEMORY;
  shared->succeeded[call.function - kFuzzFunctions] |= status == SPT_OK;
}

static void run_child(long first, long last) {
  if (!prepare_child(first)) {
    _exit(1);
  }
  for (long n = first; n < last; ++n) {
    run_call(n);
  }
  end_scopes();
  fuzz_release_kept();
  shared->call = LONG_MAX;
  fflush(NULL);
  _exit(0);
}

/* --- the parent */

static bool hangs(clockid_t processor) {
  const double started = shared->wall;
  if (shared->call < 0 || started == 0) {
    return false;
  }
  const double wall = clock_s(CLOCK_MONOTONIC) - started;
  return wall > WALL_LIMIT_S ||
         (wall > PROCESSOR_LIMIT_S && clock_s(processor) - shared->processor > PROCESSOR_LIMIT_S);
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

static void report_death(long first, int status, bool hung) {
  if (hung) {
    fprintf(stderr, "HANG of more than %g s", PROCESSOR_LIMIT_S);
  } else if (WIFSIGNALED(status)) {
    fprintf(stderr, "SIGNAL %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else {
    fprintf(stderr, "EXIT with status %d", WEXITSTATUS(status));
  }
  fprintf(stderr, "\n  %s\n  --seed %llu --first %ld, call %ld\n", (const char*)shared->arguments,
          (unsigned long long)options.seed, first, shared->call);
}

/* Runs the calls `first` to `last` - 1 in one child. Returns the call to go on with: `last`, or the one after
 * a fault. */
static long run_part(long first, long last) {
  bool hung = false;
  shared->call = -1;
  shared->wall = 0;
  const pid_t child = fork();
  if (child == 0) {
    run_child(first, last);
  }
  const int status = watch(child, &hung);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && shared->call == LONG_MAX) {
    return last;
  }
  report_death(first, status, hung);
  ++shared->faults;
  return shared->call < first || shared->call >= last ? last : shared->call + 1;
}

/* The call behind the last one that a child with call `n` makes. */
static long end_of_child(long n) {
  const long end = uses_python(n) ? n - n % ROUND + PYTHON_CALLS : n - n % BATCH + BATCH;
  return end < options.calls ? end : options.calls;
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
  long next = options.first;
  while (next < options.calls && shared->faults < MOST_REPORTS) {
    next = run_part(next, end_of_child(next));
  }
  printf("calls %ld to %ld of %d functions, of which %d succeeded once; %ld times OUT_OF_MEMORY; %d faults\n",
         options.first, next, of_torch_count + of_python_count, count_succeeded(), shared->out_of_memory,
         shared->faults);
  return shared->faults == 0 ? 0 : 1;
}

/* Opens LibTorch once, so that the children need not. */
static bool open_library(void) {
  bool available = false;
  spt_available(&available);
  if (available != (options.mode != MODE_OFF)) {
    fprintf(stderr, "fuzz_all: PyTorch is %s\n", available ? "available" : "not available");
    return false;
  }
  return true;
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
  } else if (strcmp(name, "--first") == 0) {
    options.first = atol(value);
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
