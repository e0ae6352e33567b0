/* Custom functions and hooks in plain C: x * x with its own gradient, errors, release of keys. */
#include <simple_torch/c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ended_count = 0;
static const char* failure = NULL; /* what the next backward fails with */

#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, spt_last_error_message()); \
      exit(1);                                                                              \
    }                                                                                       \
  } while (0)

static void ended(int64_t key) {
  CHECK(key == 5);
  ended_count += 1;
}

static int64_t forward(int64_t key, int64_t step) {
  int64_t* inputs = NULL;
  int64_t count = 0;
  int64_t square = 0;
  CHECK(key == 5 && spt_step_tensors(step, &inputs, &count) == SPT_OK && count == 1);
  CHECK(spt_step_save(step, inputs, 1) == SPT_OK);
  CHECK(spt_mul(inputs[0], inputs[0], &square) == SPT_OK);
  CHECK(spt_step_set_results(step, &square, 1) == SPT_OK);
  CHECK(spt_release(square) == SPT_OK && spt_release(inputs[0]) == SPT_OK);
  spt_free(inputs);
  return 1;
}

static int64_t backward(int64_t key, int64_t step) {
  int64_t *gradient = NULL, *saved = NULL;
  int64_t count = 0, twice = 0, result = 0;
  (void)key;
  if (failure != NULL) {
    CHECK(spt_autograd_callback_failed(SPT_NOT_IMPLEMENTED, failure, NULL, NULL, NULL, NULL) == SPT_OK);
    return 0;
  }
  CHECK(spt_step_tensors(step, &gradient, &count) == SPT_OK && count == 1);
  CHECK(spt_step_saved(step, &saved, &count) == SPT_OK && count == 1);
  CHECK(spt_step_save(step, saved, 1) == SPT_INVALID_ARGUMENT); /* belongs into forward */
  CHECK(spt_function_end(step, 1, 5, &result) == SPT_INVALID_ARGUMENT);
  CHECK(spt_mul_scalar(saved[0], 2.0, &twice) == SPT_OK);
  CHECK(spt_mul(gradient[0], twice, &result) == SPT_OK);
  CHECK(spt_step_set_results(step, &result, 1) == SPT_OK);
  CHECK(spt_release(result) == SPT_OK && spt_release(twice) == SPT_OK);
  CHECK(spt_release(gradient[0]) == SPT_OK && spt_release(saved[0]) == SPT_OK);
  spt_free(gradient);
  spt_free(saved);
  return 1;
}

static int64_t tenfold(int64_t key, int64_t gradient) {
  int64_t result = 0;
  CHECK(key == 5 && spt_mul_scalar(gradient, 10.0, &result) == SPT_OK);
  CHECK(spt_release(gradient) == SPT_OK);
  return result;
}

static int64_t stops(int64_t key, int64_t gradient) {
  (void)key;
  CHECK(spt_release(gradient) == SPT_OK);
  return 0;
}

/* sum(x * x) by the custom function; released by the caller. */
static int64_t sum_of_squares(int64_t x) {
  int64_t* outputs = NULL;
  int64_t count = 0, sum = 0;
  CHECK(spt_custom_function("Square", 5, &x, 1, forward, backward, ended, &outputs, &count) == SPT_OK);
  CHECK(count == 1 && spt_sum_all(outputs[0], &sum) == SPT_OK);
  CHECK(spt_release(outputs[0]) == SPT_OK);
  spt_free(outputs);
  return sum;
}

static void expect_gradient(int64_t x, double first, double second) {
  int64_t gradient = 0, count = 0;
  double* values = NULL;
  CHECK(spt_grad(x, &gradient) == SPT_OK && gradient != 0);
  CHECK(spt_to_list(gradient, &values, &count) == SPT_OK && count == 2);
  CHECK(values[0] == first && values[1] == second);
  spt_free(values);
  CHECK(spt_release(gradient) == SPT_OK && spt_set_grad(x, 0) == SPT_OK);
}

/* sum(x * x) by a step without a forward callback. */
static int64_t sum_of_squares_by_step(int64_t x, int64_t kind) {
  int64_t step = 0, square = 0, requires_grad = -1, results = 0, output = 0, sum = 0, saved = 0;
  CHECK(spt_function_begin(&step) == SPT_OK);
  CHECK(spt_step_add_input(step, x, &requires_grad) == SPT_OK && requires_grad == 1);
  CHECK(spt_step_save_one(step, x, &saved) == SPT_OK && saved == 1 && spt_mul(x, x, &square) == SPT_OK);
  CHECK(spt_step_add_result(step, square) == SPT_OK && spt_release(square) == SPT_OK);
  CHECK(spt_function_end(step, kind + 1000, 5, &results) == SPT_INVALID_ARGUMENT);
  CHECK(spt_function_end(step, kind, 5, &results) == SPT_OK && results == 1);
  CHECK(spt_step_result(step, 1, &output) == SPT_INDEX_OUT_OF_RANGE);
  CHECK(spt_step_input_requires_grad(step, 1, &requires_grad) == SPT_INDEX_OUT_OF_RANGE);
  CHECK(spt_step_result(step, 0, &output) == SPT_OK && spt_release(step) == SPT_OK);
  CHECK(spt_sum_all(output, &sum) == SPT_OK && spt_release(output) == SPT_OK);
  return sum;
}

/* The same with one call at the end of forward. */
static int64_t sum_of_squares_by_one_call(int64_t x, int64_t kind) {
  int64_t step = 0, square = 0, requires_grad = -1, output = -1, sum = 0, saved = 0;
  CHECK(spt_function_begin(&step) == SPT_OK);
  CHECK(spt_step_add_input(step, x, &requires_grad) == SPT_OK);
  CHECK(spt_step_save_one(step, x, &saved) == SPT_OK && spt_mul(x, x, &square) == SPT_OK);
  CHECK(spt_function_end_one(step, kind + 1000, 5, square, &output) == SPT_INVALID_ARGUMENT);
  CHECK(spt_release(step) == SPT_OK && spt_function_begin_one(0, &step) == SPT_INVALID_HANDLE);
  CHECK(spt_function_begin_one(x, &step) == SPT_OK);
  CHECK(spt_step_save_one(step, x, &saved) == SPT_OK);
  CHECK(spt_function_end_one(step, kind, 5, 0, &output) == SPT_INVALID_HANDLE);
  CHECK(spt_function_end_one(step, kind, 5, square, &output) == SPT_OK && output == 0);
  CHECK(spt_function_end_one(step, kind, 5, square, &output) == SPT_INVALID_ARGUMENT);
  CHECK(spt_release(step) == SPT_OK);
  CHECK(spt_sum_all(square, &sum) == SPT_OK && spt_release(square) == SPT_OK);
  return sum;
}

/* An output that is an input gets its history in a tensor of its own. */
static void return_input(int64_t x, int64_t kind) {
  int64_t step = 0, requires_grad = -1, output = -1;
  char* name = NULL;
  CHECK(spt_function_begin(&step) == SPT_OK);
  CHECK(spt_step_add_input(step, x, &requires_grad) == SPT_OK);
  CHECK(spt_function_end_one(step, kind, 5, x, &output) == SPT_OK && output > 0 && output != x);
  CHECK(spt_grad_fn_name(output, &name) == SPT_OK && strcmp(name, "SquareBackward") == 0);
  spt_free(name);
  CHECK(spt_release(output) == SPT_OK && spt_release(step) == SPT_OK);
}

/* A step that is released before its end restores grad mode. */
static void discard_step(int64_t x) {
  int64_t step = 0, twice = 0;
  bool requires_grad = true;
  CHECK(spt_function_begin(&step) == SPT_OK && spt_mul_scalar(x, 2.0, &twice) == SPT_OK);
  CHECK(spt_requires_grad(twice, &requires_grad) == SPT_OK && !requires_grad);
  CHECK(spt_release(twice) == SPT_OK && spt_release(step) == SPT_OK);
  CHECK(spt_mul_scalar(x, 2.0, &twice) == SPT_OK);
  CHECK(spt_requires_grad(twice, &requires_grad) == SPT_OK && requires_grad && spt_release(twice) == SPT_OK);
}

int main(void) {
  const double values[] = {3.0, -2.0};
  const int64_t dims[] = {2};
  bool available = false;
  int64_t x = 0, sum = 0, live = -1, hook = 0, count = 0, kind = 0;
  int64_t* outputs = NULL;
  char* name = NULL;
  CHECK(spt_available(&available) == SPT_OK);
  if (!available) {
    return 0;
  }
  CHECK(spt_from_data_as(values, 2, dims, 1, 6, &x) == SPT_OK && spt_set_requires_grad(x, true) == SPT_OK);

  sum = sum_of_squares(x);
  CHECK(spt_backward(sum) == SPT_OK);
  expect_gradient(x, 6.0, -4.0);
  CHECK(ended_count == 0);
  CHECK(spt_release(sum) == SPT_OK);
  CHECK(ended_count == 1);

  CHECK(spt_custom_function("Square", 5, &x, 1, forward, backward, ended, &outputs, &count) == SPT_OK);
  CHECK(spt_grad_fn_name(outputs[0], &name) == SPT_OK && strcmp(name, "SquareBackward") == 0);
  spt_free(name);
  CHECK(spt_release(outputs[0]) == SPT_OK);
  spt_free(outputs);

  failure = "no slope here";
  sum = sum_of_squares(x);
  CHECK(spt_backward(sum) == SPT_NOT_IMPLEMENTED && strcmp(spt_last_error_message(), "no slope here") == 0);
  CHECK(spt_release(sum) == SPT_OK);
  failure = NULL;
  CHECK(ended_count == 3);

  CHECK(spt_register_hook(x, 5, tenfold, ended, &hook) == SPT_OK);
  sum = sum_of_squares(x);
  CHECK(spt_backward(sum) == SPT_OK && spt_release(sum) == SPT_OK);
  expect_gradient(x, 60.0, -40.0);
  CHECK(spt_remove_hook(hook) == SPT_OK && ended_count == 5);
  CHECK(spt_remove_hook(hook) == SPT_OK && ended_count == 5);

  CHECK(spt_register_hook(x, 5, stops, ended, &hook) == SPT_OK);
  sum = sum_of_squares(x);
  CHECK(spt_backward(sum) == SPT_INTERRUPTED); /* it failed without a word */
  CHECK(spt_release(sum) == SPT_OK && spt_remove_hook(hook) == SPT_OK);

  ended_count = 0;
  CHECK(spt_function_kind("Square", backward, ended, &kind) == SPT_OK);
  sum = sum_of_squares_by_step(x, kind);
  CHECK(spt_backward(sum) == SPT_OK && spt_release(sum) == SPT_OK && ended_count == 1);
  expect_gradient(x, 6.0, -4.0);
  sum = sum_of_squares_by_one_call(x, kind);
  CHECK(spt_backward(sum) == SPT_OK && spt_release(sum) == SPT_OK && ended_count == 2);
  expect_gradient(x, 6.0, -4.0);
  return_input(x, kind);
  CHECK(ended_count == 3);
  discard_step(x);

  CHECK(spt_step_set_results(x, &x, 1) == SPT_INVALID_HANDLE);
  CHECK(spt_custom_function("Square", 5, &x, 1, NULL, backward, ended, &outputs, &count) ==
        SPT_INVALID_ARGUMENT);
  CHECK(spt_autograd_callback_failed(99, "", NULL, NULL, NULL, NULL) == SPT_INVALID_ARGUMENT);
  CHECK(spt_saved_tensors_hooks_end() == SPT_INVALID_ARGUMENT);
  CHECK(spt_inference_mode_end() == SPT_INVALID_ARGUMENT);
  CHECK(spt_release(x) == SPT_OK);
  CHECK(spt_live_handles(0, &live) == SPT_OK && live == 0);
  return 0;
}
