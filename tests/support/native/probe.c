/* The native library of the tests: one function for each form of a value, and callers of callbacks. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simple_torch/spl_runtime.h"

static int64_t kept;

int64_t rt_probe_negate(int64_t x) { return -x; }
double rt_probe_half(double x) { return x / 2; }
int64_t rt_probe_length(const char* s) { return (int64_t)strlen(s); }
int32_t rt_probe_narrow(int32_t x) { return x; }
bool rt_probe_not(bool x) { return !x; }
void rt_probe_set(int64_t x) { kept = x; }
int64_t rt_probe_get(void) { return kept; }
char* rt_probe_maybe(bool argument) { return argument ? spl_str_new("here") : NULL; }

char* rt_probe_shout(const char* s) {
  const size_t length = strlen(s);
  char* result = malloc(length + 2);
  memcpy(result, s, length);
  memcpy(result + length, "!", 2);
  return result;
}

/* Calls the C ABI from sixteen threads: each adds a tensor to itself and releases the sum. Returns the number
 * of failed calls. */
struct hammering {
  int64_t (*add)(int64_t, int64_t);
  void (*release)(int64_t);
  int64_t tensor, rounds, failed;
};

static void* hammer(void* argument) {
  struct hammering* work = argument;
  for (int64_t i = 0; i < work->rounds; ++i) {
    const int64_t sum = work->add(work->tensor, work->tensor);
    if (sum == 0) {
      ++work->failed;
    } else {
      work->release(sum);
    }
  }
  return NULL;
}

int64_t rt_probe_hammer(int64_t add, int64_t release, int64_t tensor, int64_t rounds) {
  enum { kThreads = 16 };
  pthread_t threads[kThreads];
  struct hammering work[kThreads];
  int64_t failed = 0;
  for (int i = 0; i < kThreads; ++i) {
    work[i] =
        (struct hammering){(int64_t(*)(int64_t, int64_t))add, (void (*)(int64_t))release, tensor, rounds, 0};
    pthread_create(&threads[i], NULL, hammer, &work[i]);
  }
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    failed += work[i].failed;
  }
  return failed;
}

/* Boxes: handles of numbers; 0 if the sum would exceed 100. */
static int64_t live_boxes;

int64_t rt_probe_box(int64_t value) {
  int64_t* box = malloc(sizeof *box);
  *box = value;
  ++live_boxes;
  return (int64_t)box;
}
int64_t rt_probe_box_value(int64_t box) { return *(int64_t*)box; }
int64_t rt_probe_box_add_int(int64_t box, int64_t value) {
  const int64_t sum = *(int64_t*)box + value;
  return sum > 100 ? 0 : rt_probe_box(sum);
}
int64_t rt_probe_box_add(int64_t a, int64_t b) { return rt_probe_box_add_int(a, *(int64_t*)b); }
int64_t rt_probe_box_add_float(int64_t box, double value) {
  return rt_probe_box_add_int(box, 10 * (int64_t)value);
}
void rt_probe_unbox(int64_t box) {
  --live_boxes;
  free((int64_t*)box);
}
/* Calls on a box: the string argument in `noted`, and a new box of the sum; 0 if it would exceed 100. */
static char noted[256];

static void note(const char* text) { strncat(noted, text, sizeof noted - strlen(noted) - 1); }

static int64_t worth(char letter, SplValue item) {
  char one[40];
  int64_t value = 0;
  if (letter == 'b') {
    value = *(int64_t*)item.as_int;
  } else if (item.tag == SPL_STRING) {
    value = (int64_t)strlen(item.as_string);
  } else {
    value = spl_as_int(item);
  }
  snprintf(one, sizeof one, "%c%d:%d ", letter, (int)item.tag, (int)value);
  note(one);
  return value;
}

int64_t rt_probe_box_method(int64_t box, const char* method, const char* letters, const SplArray* values,
                            const SplArray* names) {
  int64_t sum = *(int64_t*)box;
  noted[0] = 0;
  note(method);
  note("| ");
  for (int64_t i = 0; i < spl_array_len(values); ++i) {
    sum += worth(letters[i], spl_array_get(values, i));
  }
  for (int64_t i = 0; i < spl_array_len(names); ++i) {
    note(spl_array_get(names, i).as_string);
    note(" ");
  }
  return sum > 100 ? 0 : rt_probe_box(sum);
}
int64_t rt_probe_box_call(int64_t box, const char* letters, const SplArray* values, const SplArray* names) {
  return rt_probe_box_method(box, "call", letters, values, names);
}
int64_t rt_probe_box_get(int64_t box, const char* field) {
  return rt_probe_box_add_int(box, (int64_t)strlen(field));
}
char* rt_probe_box_notes(void) { return spl_str_new(noted); }

int64_t rt_probe_live_boxes(void) { return live_boxes; }

int64_t rt_probe_sum(const SplArray* xs) {
  int64_t sum = 0;
  for (int64_t i = 0; i < spl_array_len(xs); ++i) {
    sum += spl_as_int(spl_array_get(xs, i));
  }
  return sum;
}

SplArray* rt_probe_count_up(int64_t n) {
  SplArray* array = spl_array_new_i64();
  for (int64_t i = 0; i < n; ++i) {
    spl_array_push_i64(array, i);
  }
  return array;
}

static char* describe(const SplArray* values, char* at) {
  for (int64_t i = 0; i < spl_array_len(values); ++i) {
    const SplValue value = spl_array_get(values, i);
    if (value.tag == SPL_ARRAY) {
      *at++ = '[';
      at = describe(value.as_array, at);
      *at++ = ']';
    } else {
      *at++ = "nbifs"[value.tag];
    }
  }
  return at;
}

char* rt_probe_kinds(const SplArray* values) {
  char described[100];
  *describe(values, described) = 0;
  return spl_str_new(described);
}

double rt_probe_mix(int64_t a, double b, bool c, const char* d, int64_t e, double f, int64_t g, int64_t h) {
  return (double)(a + e + g + h) + b + f + (c ? 1 : 0) + (double)strlen(d);
}

float rt_probe_single(float x) { return x * 2; }

int64_t rt_probe_is_null(const char* s) { return s == NULL; }

SplArray* rt_probe_words(const char* s) {
  SplArray* array = spl_array_new();
  for (int i = 0; i < 2; ++i) {
    SplValue word;
    memset(&word, 0, sizeof word);
    word.tag = SPL_STRING;
    word.as_string = spl_str_new(s);
    spl_array_push(array, word);
  }
  return array;
}

SplArray* rt_probe_mixed(void) {
  SplArray* array = spl_array_new();
  SplValue value;
  memset(&value, 0, sizeof value);
  spl_array_push(array, value);
  value.tag = SPL_BOOL;
  value.as_bool = true;
  spl_array_push(array, value);
  value.tag = SPL_FLOAT;
  value.as_float = 2.5;
  spl_array_push(array, value);
  value.tag = SPL_ARRAY;
  value.as_array = spl_array_new_i64();
  spl_array_push_i64(value.as_array, 7);
  spl_array_push(array, value);
  return array;
}

double rt_probe_total(const SplArray* xs) {
  double sum = 0;
  for (int64_t i = 0; i < spl_array_len(xs); ++i) {
    sum += spl_as_float(spl_array_get(xs, i));
  }
  return sum;
}

int64_t rt_probe_eight(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g,
                       int64_t h) {
  return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h;
}
double rt_probe_scaled(double a, double b, double scale) { return (a + b) * scale; }

/* Callbacks. */
int64_t rt_probe_twice(int64_t (*f)(int64_t), int64_t x) { return f(f(x)); }
double rt_probe_apply_mixed(double (*f)(double, int32_t, bool, float)) { return f(0.5, -3, true, 0.25f); }
int64_t rt_probe_text_length(const char* (*f)(const char*)) {
  const char* argument = f("from C");
  const int64_t length = argument == NULL ? -1 : (int64_t)strlen(argument);
  free((void*)argument);
  return length;
}
int64_t rt_probe_summed(SplArray* (*f)(const SplArray*)) {
  SplArray* argument = spl_array_new_i64();
  spl_array_push_i64(argument, 1);
  spl_array_push_i64(argument, 2);
  SplArray* result = f(argument);
  int64_t sum = 0;
  for (int64_t i = 0; i < spl_array_len(result); ++i) {
    sum += spl_as_int(spl_array_get(result, i));
  }
  spl_array_free(argument);
  spl_array_free(result);
  return sum;
}
void rt_probe_visit(void (*f)(int64_t), int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    f(i);
  }
}
int64_t rt_probe_no_function(int64_t (*f)(int64_t)) { return f == NULL; }

static int64_t (*stored)(int64_t);
void rt_probe_store(int64_t (*f)(int64_t)) { stored = f; }
int64_t rt_probe_call_stored(int64_t x) { return stored(x); }

struct Work {
  int64_t (*f)(int64_t);
  int64_t first, sum;
};
static void* work(void* data) {
  struct Work* mine = data;
  for (int64_t i = 0; i < 100; ++i) {
    mine->sum += mine->f(mine->first + i);
  }
  return NULL;
}
/* Calls f(0) … f(399) from four C threads and returns the sum of the results. */
int64_t rt_probe_in_threads(int64_t (*f)(int64_t)) {
  pthread_t threads[4];
  struct Work parts[4];
  int64_t sum = 0;
  for (int64_t i = 0; i < 4; ++i) {
    parts[i] = (struct Work){f, i * 100, 0};
    pthread_create(&threads[i], NULL, work, &parts[i]);
  }
  for (int64_t i = 0; i < 4; ++i) {
    pthread_join(threads[i], NULL);
    sum += parts[i].sum;
  }
  return sum;
}
