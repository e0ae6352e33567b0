/* The native library that externs.spl calls: one function for each form that a value can take. */
#include <stdbool.h>
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
char* rt_probe_maybe(bool given) { return given ? spl_str_new("here") : NULL; }

char* rt_probe_shout(const char* s) {
  const size_t length = strlen(s);
  char* result = malloc(length + 2);
  memcpy(result, s, length);
  memcpy(result + length, "!", 2);
  return result;
}

int64_t rt_probe_sum(const SplArray* xs) {
  int64_t sum = 0;
  for (int64_t i = 0; i < spl_array_len(xs); ++i) sum += spl_as_int(spl_array_get(xs, i));
  return sum;
}

SplArray* rt_probe_count_up(int64_t n) {
  SplArray* array = spl_array_new_i64();
  for (int64_t i = 0; i < n; ++i) spl_array_push_i64(array, i);
  return array;
}

static char* tell(const SplArray* values, char* at) {
  for (int64_t i = 0; i < spl_array_len(values); ++i) {
    const SplValue value = spl_array_get(values, i);
    if (value.tag == SPL_ARRAY) {
      *at++ = '[';
      at = tell(value.as_array, at);
      *at++ = ']';
    } else {
      *at++ = "nbifs"[value.tag];
    }
  }
  return at;
}

char* rt_probe_kinds(const SplArray* values) {
  char told[100];
  *tell(values, told) = 0;
  return spl_str_new(told);
}

double rt_probe_mix(int64_t a, double b, bool c, const char* d, int64_t e, double f, int64_t g, int64_t h) {
  return (double)(a + e + g + h) + b + f + (c ? 1 : 0) + (double)strlen(d);
}
