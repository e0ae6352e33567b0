/* Simulates the runtime of stock Simple: owns the arrays and strings, opens libspl_torch.so and calls it in
 * both ways of stock Simple.
 *
 *   compiled  each symbol with its C types; the spl_ functions below create arrays and strings
 *   dynamic   the rules of spl_wffi_call_i64: at most 8 int64 arguments and one int64 result; floats are
 * passed as bits, strings as addresses
 *
 * Both paths run the same tests. Argument: the path of the library. Exit code 0 if all checks pass. */
#define _POSIX_C_SOURCE 200809L /* strdup, mkstemp */
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simple_torch/spl_runtime.h"

/* --- the runtime's arrays and strings, which the library must use instead of its own */

static int64_t arrays_alive = 0;

SplArray* spl_array_new(void) {
  ++arrays_alive;
  return calloc(1, sizeof(SplArray));
}
SplArray* spl_array_new_i64(void) { return spl_array_new(); }

void spl_array_push(SplArray* array, SplValue value) {
  if (array->len == array->cap) {
    array->cap = 2 * array->cap + 4;
    array->items = realloc(array->items, (size_t)array->cap * sizeof(SplValue));
  }
  array->items[array->len++] = value;
}

void spl_array_push_i64(SplArray* array, int64_t number) {
  SplValue value = {SPL_INT, {0}};
  value.as_int = number;
  spl_array_push(array, value);
}

int64_t spl_array_len(const SplArray* array) { return array == NULL ? 0 : array->len; }

SplValue spl_array_get(const SplArray* array, int64_t index) {
  const SplValue nil = {SPL_NIL, {0}};
  return array == NULL || index < 0 || index >= array->len ? nil : array->items[index];
}

int64_t spl_as_int(SplValue value) { return value.tag == SPL_FLOAT ? (int64_t)value.as_float : value.as_int; }
double spl_as_float(SplValue value) { return value.tag == SPL_FLOAT ? value.as_float : (double)value.as_int; }
char* spl_str_new(const char* text) { return strdup(text); }

void spl_array_free(SplArray* array) {
  if (array != NULL) {
    --arrays_alive;
    free(array->items);
    free(array);
  }
}

/* --- calling */

static void* library;
static int failures = 0;
static const char* path = "";

static void expect(bool holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "%s: not so: %s\n", path, what);
    ++failures;
  }
}

typedef void (*Function)(void);

static Function symbol(const char* name) {
  Function found = NULL;
  *(void**)&found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "%s: the library has no %s\n", path, name);
    exit(1);
  }
  return found;
}

typedef int64_t (*Eight)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);

/* As spl_wffi_call_i64: fills eight registers for any function and reads one. */
static int64_t dynamic(const char* name, int count, ...) {
  int64_t arguments[8] = {0};
  va_list list;
  va_start(list, count);
  for (int i = 0; i < count; ++i) {
    arguments[i] = va_arg(list, int64_t);
  }
  va_end(list);
  const Eight function = (Eight)symbol(name);
  return function(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5],
                  arguments[6], arguments[7]);
}

static int64_t bits(double value) {
  int64_t result;
  memcpy(&result, &value, sizeof result);
  return result;
}

static double number(int64_t value) {
  double result;
  memcpy(&result, &value, sizeof result);
  return result;
}

#define I(value) ((int64_t)(value))
#define CALL(type, parameters, name) ((type(*) parameters)symbol(name))

static SplArray* dims(int count, ...) {
  SplArray* result = spl_array_new();
  va_list list;
  va_start(list, count);
  for (int i = 0; i < count; ++i) {
    spl_array_push_i64(result, va_arg(list, int));
  }
  va_end(list);
  return result;
}

/* --- the same operations on both paths */

typedef struct {
  const char* name;
  int64_t (*full)(int rows, int columns, double value);
  int64_t (*binary)(const char* function, int64_t a, int64_t b);
  int64_t (*scaled)(int64_t a, double factor);
  int64_t (*reshaped)(int64_t a, int rows, int columns);
  int64_t (*joined)(int64_t a, int64_t b, int64_t dim);
  int64_t (*softmax)(int64_t a, int64_t dim);
  double (*reduced)(const char* function, int64_t a);
  int64_t (*size)(int64_t a, int64_t dim);
  double (*loss)(int64_t a, int64_t b);
  int64_t (*linear)(int64_t input, int64_t weight, int64_t bias);
  int64_t (*convolved)(int64_t input, int64_t weight);
  void (*saved)(int64_t a, const char* file);
  int64_t (*loaded)(const char* file);
} Path;

static int64_t compiled_full(int rows, int columns, double value) {
  SplArray* sizes = dims(2, rows, columns);
  const int64_t result = CALL(int64_t, (SplArray*, double), "rt_torch_tensor_full")(sizes, value);
  spl_array_free(sizes);
  return result;
}
static int64_t compiled_binary(const char* function, int64_t a, int64_t b) {
  return CALL(int64_t, (int64_t, int64_t), function)(a, b);
}
static int64_t compiled_scaled(int64_t a, double factor) {
  return CALL(int64_t, (int64_t, double), "rt_torch_torchtensor_mul_scalar")(a, factor);
}
static int64_t compiled_reshaped(int64_t a, int rows, int columns) {
  SplArray* sizes = dims(2, rows, columns);
  const int64_t result = CALL(int64_t, (int64_t, SplArray*), "rt_torch_torchtensor_reshape")(a, sizes);
  spl_array_free(sizes);
  return result;
}
static int64_t compiled_joined(int64_t a, int64_t b, int64_t dim) {
  SplArray* tensors = spl_array_new();
  spl_array_push_i64(tensors, a);
  spl_array_push_i64(tensors, b);
  const int64_t result = CALL(int64_t, (SplArray*, int64_t), "rt_torch_torchtensor_cat")(tensors, dim);
  spl_array_free(tensors);
  return result;
}
static int64_t compiled_softmax(int64_t a, int64_t dim) {
  return CALL(int64_t, (int64_t, int64_t), "rt_torch_torchtensor_softmax")(a, dim);
}
static double compiled_reduced(const char* function, int64_t a) {
  return CALL(double, (int64_t), function)(a);
}
static int64_t compiled_size(int64_t a, int64_t dim) {
  SplArray* shape = CALL(SplArray*, (int64_t), "rt_torch_torchtensor_shape")(a);
  const int64_t size = spl_as_int(spl_array_get(shape, dim));
  spl_array_free(shape);
  return size;
}
static double compiled_loss(int64_t a, int64_t b) {
  return CALL(double, (int64_t, int64_t), "rt_torch_nn_mse_loss")(a, b);
}
static int64_t compiled_linear(int64_t input, int64_t weight, int64_t bias) {
  return CALL(int64_t, (int64_t, int64_t, int64_t), "rt_torch_nn_linear")(input, weight, bias);
}
static int64_t compiled_convolved(int64_t input, int64_t weight) {
  SplArray *stride = dims(2, 1, 1), *padding = dims(2, 1, 1), *dilation = dims(2, 1, 1);
  const int64_t result = CALL(int64_t, (int64_t, int64_t, int64_t, SplArray*, SplArray*, SplArray*, int64_t),
                              "rt_torch_nn_conv2d")(input, weight, 0, stride, padding, dilation, 1);
  spl_array_free(stride);
  spl_array_free(padding);
  spl_array_free(dilation);
  return result;
}
static void compiled_saved(int64_t a, const char* file) {
  CALL(void, (int64_t, const char*), "rt_torch_tensor_save")(a, file);
}
static int64_t compiled_loaded(const char* file) {
  return CALL(int64_t, (const char*), "rt_torch_tensor_load")(file);
}

static int64_t dynamic_full(int rows, int columns, double value) {
  return dynamic("rt_torch_tensor_full_2d", 3, I(rows), I(columns), bits(value));
}
static int64_t dynamic_binary(const char* function, int64_t a, int64_t b) {
  return dynamic(function, 2, a, b);
}
static int64_t dynamic_scaled(int64_t a, double factor) {
  return dynamic("rt_torch_torchtensor_mul_scalar_bits", 2, a, bits(factor));
}
static int64_t dynamic_reshaped(int64_t a, int rows, int columns) {
  return dynamic("rt_torch_torchtensor_reshape_2d", 3, a, I(rows), I(columns));
}
static int64_t dynamic_joined(int64_t a, int64_t b, int64_t dim) {
  return dynamic("rt_torch_torchtensor_cat_2", 3, a, b, dim);
}
static int64_t dynamic_softmax(int64_t a, int64_t dim) {
  return dynamic("rt_torch_torchtensor_softmax", 2, a, dim);
}
static double dynamic_reduced(const char* function, int64_t a) {
  char name[80];
  snprintf(name, sizeof name, "%s_bits", function);
  return number(dynamic(name, 1, a));
}
static int64_t dynamic_size(int64_t a, int64_t dim) {
  return dynamic("rt_torch_torchtensor_shape_dim", 2, a, dim);
}
static double dynamic_loss(int64_t a, int64_t b) {
  return number(dynamic("rt_torch_nn_mse_loss_bits", 2, a, b));
}
static int64_t dynamic_linear(int64_t input, int64_t weight, int64_t bias) {
  return dynamic("rt_torch_nn_linear", 3, input, weight, bias);
}
/* Ten arguments: stock Simple cannot call this function dynamically and uses the compiled path. */
static int64_t simple_convolved(int64_t input, int64_t weight) {
  return CALL(int64_t,
              (int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t),
              "rt_torch_nn_conv2d_simple")(input, weight, 0, 1, 1, 1, 1, 1, 1, 1);
}
static void dynamic_saved(int64_t a, const char* file) {
  dynamic("rt_torch_tensor_save_dyn", 2, a, (int64_t)(intptr_t)file);
}
static int64_t dynamic_loaded(const char* file) {
  return dynamic("rt_torch_tensor_load_dyn", 1, (int64_t)(intptr_t)file);
}

static const Path kPaths[] = {
    {"compiled", compiled_full, compiled_binary, compiled_scaled, compiled_reshaped, compiled_joined,
     compiled_softmax, compiled_reduced, compiled_size, compiled_loss, compiled_linear, compiled_convolved,
     compiled_saved, compiled_loaded},
    {"dynamic", dynamic_full, dynamic_binary, dynamic_scaled, dynamic_reshaped, dynamic_joined,
     dynamic_softmax, dynamic_reduced, dynamic_size, dynamic_loss, dynamic_linear, simple_convolved,
     dynamic_saved, dynamic_loaded},
};

/* --- the tests */

static bool near(double value, double wanted) { return fabs(value - wanted) < 1e-5; }
static double sum(const Path* on, int64_t a) { return on->reduced("rt_torch_torchtensor_sum", a); }
static void free_tensor(int64_t a) { dynamic("rt_torch_torchtensor_free", 1, a); }

static void arithmetic(const Path* on) {
  const int64_t a = on->full(2, 3, 2.5), b = on->full(2, 3, 0.5);
  const int64_t added = on->binary("rt_torch_torchtensor_add", a, b), half = on->scaled(a, 0.5);
  expect(a > 0 && b > 0 && added > 0, "handles are positive");
  expect(near(sum(on, added), 18), "2.5 + 0.5, six times, is 18");
  expect(near(on->reduced("rt_torch_torchtensor_mean", half), 1.25), "half of 2.5 is 1.25");
  expect(on->size(a, 0) == 2 && on->size(a, 1) == 3, "the shape is [2, 3]");
  const int64_t joined = on->joined(a, b, 0), turned = on->reshaped(joined, 3, 4);
  expect(on->size(joined, 0) == 4 && on->size(turned, 1) == 4, "joined it is [4, 3], reshaped [3, 4]");
  const int64_t shares = on->softmax(a, 1);
  expect(near(sum(on, shares), 2), "a softmax over two rows adds up to 2");
  const int64_t all[] = {a, b, added, half, joined, turned, shares};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    free_tensor(all[i]);
  }
}

static void gradients(const Path* on) {
  const int64_t a = on->full(1, 2, 3.0);
  dynamic("rt_torch_autograd_set_requires_grad", 2, a, I(1));
  expect(dynamic("rt_torch_autograd_requires_grad", 1, a) == 1, "a bool fills the register");
  expect(dynamic("rt_torch_autograd_grad", 1, a) == 0, "there is no gradient yet: 0, and no error");
  const int64_t squared = on->binary("rt_torch_torchtensor_mul", a, a);
  const int64_t total = dynamic("rt_torch_torchtensor_matmul", 2, squared, on->full(2, 1, 1.0));
  dynamic("rt_torch_autograd_backward", 1, total);
  const int64_t gradient = dynamic("rt_torch_autograd_grad", 1, a);
  expect(near(sum(on, gradient), 12), "the gradient of x * x at 3 is 6, twice");
  dynamic("rt_torch_autograd_zero_grad", 1, a);
  expect(near(sum(on, dynamic("rt_torch_autograd_grad", 1, a)), 0), "zero_grad fills with zeros");
}

static void layers(const Path* on) {
  const int64_t input = on->full(4, 3, 1.0), weight = on->full(2, 3, 0.5), bias = on->full(1, 2, 1.0);
  const int64_t output = on->linear(input, weight, on->reshaped(bias, 1, 2));
  expect(near(sum(on, output), 20), "4 x 2 outputs of 3 * 0.5 + 1 add up to 20");
  expect(near(on->loss(output, on->full(4, 2, 2.0)), 0.25), "their squared distance to 2 is 0.25");
  const int64_t image = dynamic("rt_torch_tensor_ones_4d", 4, I(1), I(1), I(3), I(3));
  const int64_t kernel = dynamic("rt_torch_tensor_ones_4d", 4, I(1), I(1), I(3), I(3));
  expect(near(sum(on, on->convolved(image, kernel)), 49), "a 3x3 sum over a padded 3x3 image adds up to 49");
}

static void files(const Path* on) {
  char file[] = "/tmp/stock_runtime_XXXXXX";
  const int result = mkstemp(file);
  expect(result >= 0, "the file was created");
  const int64_t a = on->full(2, 2, 1.5);
  on->saved(a, file);
  const int64_t again = on->loaded(file);
  expect(near(sum(on, again), 6), "the saved tensor is loaded");
  remove(file);
  expect(on->loaded(file) == 0, "a missing file returns 0");
}

static void errors(const Path* on) {
  expect(on->binary("rt_torch_torchtensor_add", 0, 123456) == 0,
         "an unknown handle returns 0 and does not end the process");
  free_tensor(987654321);
  const int64_t a = on->full(2, 3, 1.0);
  expect(on->binary("rt_torch_torchtensor_matmul", a, a) == 0, "mismatched shapes return 0");
  expect(dynamic("rt_torch_last_error_kind", 0) == 3, "and the error is a ShapeMismatch");
  expect(dynamic("rt_torch_torchtensor_device", 1, a) == -1, "-1, the CPU, is sign-extended");
  expect(dynamic("rt_torch_torchtensor_is_cuda", 1, a) == 0, "false fills the register");
  expect(dynamic("rt_torch_torchstream_query", 1, I(77)) == 1, "an unknown stream is idle");
  expect(on->size(a, 5) <= 0, "there is no dimension 5");
}

int main(int count, char** words) {
  library = count == 2 ? dlopen(words[1], RTLD_LAZY | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    fprintf(stderr, "the library cannot be opened: %s\n", count == 2 ? dlerror() : "name its file");
    return 1;
  }
  for (size_t i = 0; i < sizeof kPaths / sizeof kPaths[0]; ++i) {
    const Path* on = &kPaths[i];
    path = on->name;
    expect(dynamic("rt_torch_available", 0) == 1, "PyTorch is available");
    dynamic("rt_torch_scope_begin", 0);
    arithmetic(on);
    gradients(on);
    layers(on);
    files(on);
    errors(on);
    dynamic("rt_torch_scope_end", 0);
    expect(dynamic("rt_torch_live_handles", 1, I(0)) == 0, "no handle is left");
    expect(arrays_alive == 0, "the library result and freed this runtime's arrays");
  }
  return failures == 0 ? 0 : 1;
}
