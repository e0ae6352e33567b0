/* A C99 program that uses Python through the C ABI, as an embedder does. Exits with 0 when all checks pass.
 */
#include <stdio.h>
#include <string.h>

#include "simple_torch/c_api.h"

static int failures = 0;

static void expect(bool holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "not so: %s (%s)\n", what, spt_last_error_message());
    ++failures;
  }
}

static int64_t evaluated(const char* code) {
  int64_t object = 0;
  expect(spt_py_eval(code, "", NULL, NULL, 0, &object) == SPT_OK, code);
  return object;
}

static void calls_modules(void) {
  int64_t math = 0;
  int64_t result = 0;
  double number = 0;
  SplArray* arguments = spl_array_new();
  SplValue three = {SPL_FLOAT, {0}};
  three.as_float = 3.0;
  SplValue four = three;
  four.as_float = 4.0;
  spl_array_push(arguments, three);
  spl_array_push(arguments, four);
  expect(spt_py_import("math", &math) == SPT_OK, "math is imported");
  expect(spt_py_call_method(math, "hypot", "vv", arguments, NULL, 0, &result) == SPT_OK, "hypot is called");
  expect(spt_py_to_float(result, &number) == SPT_OK && number == 5.0, "hypot(3, 4) is 5");
  spl_array_free(arguments);
  expect(spt_release(result) == SPT_OK && spt_release(math) == SPT_OK, "objects are released");
}

static void shares_tensors(void) {
  const double data[] = {1, 2, 3};
  const int64_t dims[] = {3};
  int64_t tensor = 0;
  int64_t object = 0;
  int64_t doubled = 0;
  int64_t back = 0;
  double* values = NULL;
  int64_t count = 0;
  SplArray* arguments = spl_array_new();
  int64_t twice = evaluated("lambda t: t.mul_(2)");
  expect(spt_from_data(data, 3, dims, 1, &tensor) == SPT_OK, "a tensor is made");
  expect(spt_py_from_tensor(tensor, &object) == SPT_OK, "it goes to Python");
  spl_array_push_i64(arguments, object);
  expect(spt_py_call(twice, "o", arguments, NULL, 0, &doubled) == SPT_OK, "Python doubles it in place");
  expect(spt_py_to_tensor(doubled, &back) == SPT_OK, "it comes back");
  expect(spt_to_list(tensor, &values, &count) == SPT_OK && count == 3 && values[2] == 6,
         "the tensor here is doubled");
  spt_free(values);
  spl_array_free(arguments);
  const int64_t all[] = {tensor, object, doubled, back, twice};
  for (int i = 0; i < 5; ++i) {
    expect(spt_release(all[i]) == SPT_OK, "a handle is released");
  }
}

static int64_t calls = 0;
static int64_t ends = 0;

/* Returns the first argument, a string. */
static SplArray* first_argument(int64_t key, const char* kinds, const SplArray* values,
                                const SplArray* names) {
  SplArray* result = spl_array_new();
  SplValue item = {SPL_STRING, {0}};
  calls += key;
  expect(strcmp(kinds, "v") == 0 && spl_array_len(names) == 0, "a string is a plain value");
  item.as_string = spl_str_new("v");
  spl_array_push(result, item);
  item.as_string = spl_str_new(spl_array_get(values, 0).as_string);
  spl_array_push(result, item);
  return result;
}

static void count_end(int64_t key) { ends += key; }

static void is_called_by_python(void) {
  int64_t function = 0;
  int64_t on_thread = evaluated(
      "lambda f: __import__('concurrent.futures').futures.ThreadPoolExecutor(1).submit(f, 'given').result()");
  int64_t result = 0;
  char* text = NULL;
  SplArray* arguments = spl_array_new();
  expect(spt_py_function("first", 7, first_argument, count_end, &function) == SPT_OK,
         "a C function is a callable");
  spl_array_push_i64(arguments, function);
  expect(spt_py_call(on_thread, "o", arguments, NULL, 0, &result) == SPT_OK, "a thread of Python calls it");
  expect(spt_py_to_text(result, &text) == SPT_OK && strcmp(text, "given") == 0, "and receives its result");
  expect(calls == 7, "with its key");
  spt_free(text);
  spl_array_free(arguments);
  expect(spt_release(function) == SPT_OK && spt_release(result) == SPT_OK && spt_release(on_thread) == SPT_OK,
         "all are released");
  spt_release(evaluated("__import__('gc').collect()"));
  expect(ends == 7, "the callable was destroyed");
}

static void reports_errors(void) {
  int64_t nothing = 0;
  expect(spt_py_eval("{}['k']", "", NULL, NULL, 0, &nothing) == SPT_PYTHON && nothing == 0,
         "a KeyError is an error");
  expect(strcmp(spt_last_error_message(), "KeyError: 'k'") == 0, "with its message");
  expect(strcmp(spt_last_error_field("type"), "builtins.KeyError") == 0, "its type");
  expect(strstr(spt_last_error_field("traceback"), "Traceback (most recent call last):") != NULL,
         "and its traceback");
  expect(spt_py_import("no_such_module_at_all", &nothing) == SPT_UNAVAILABLE, "a missing module is an error");
  const char* command = spt_last_error_field("expected");  // of uv or pip, as the environment has them
  expect(strstr(command, "pip install ") != NULL && strstr(command, " no_such_module_at_all") != NULL,
         "with the command that installs it");
}

int main(void) {
  int64_t live = -1;
  expect(spt_py_start() == SPT_OK, "Python starts");
  calls_modules();
  shares_tensors();
  is_called_by_python();
  reports_errors();
  expect(spt_live_handles(0, &live) == SPT_OK && live == 0, "nothing is left");
  expect(spt_py_exec("print('printed by Python')", "", NULL, NULL, 0) == SPT_OK, "Python prints");
  return failures == 0 ? 0 : 1;
}
