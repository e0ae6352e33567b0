#define _POSIX_C_SOURCE 200809L /* strdup */
#include "tests/abi/fuzz_arguments.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simple_torch/c_api.h"

#define COUNT_OF(items) (sizeof(items) / sizeof((items)[0]))
#define ONE_OF(items) ((items)[fuzz_random(COUNT_OF(items))])

/* --- random numbers: splitmix64 */

static uint64_t state;

void fuzz_seed(uint64_t seed) { state = seed; }

static uint64_t bits(void) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

uint64_t fuzz_random(uint64_t bound) { return bits() % bound; }

static bool chance(unsigned percent) { return fuzz_random(100) < percent; }

/* --- memory of the arguments of one call */

static char arena[1 << 18];
static size_t used;

static void* allocate(size_t size) {
  const size_t at = used;
  used += (size + 15) & ~(size_t)15;
  if (used > sizeof arena) {
    fprintf(stderr, "fuzz_all: the arguments of one call do not fit\n");
    abort();
  }
  return memset(arena + at, 0, size);
}

/* --- what a call passes: one class of values for all its parameters, or a mixture */

typedef enum Attack {
  ATTACK_MIXED,
  ATTACK_ZERO,
  ATTACK_MINUS_ONE,
  ATTACK_SMALLEST,
  ATTACK_GREATEST,
  ATTACK_GARBAGE
} Attack;

static Attack attack;

static Attack random_attack(void) {
  return chance(80) ? ATTACK_MIXED : (Attack)(ATTACK_ZERO + fuzz_random(5));
}

static int64_t attacking_number(void) {
  switch (attack) {
    case ATTACK_ZERO:
      return 0;
    case ATTACK_MINUS_ONE:
      return -1;
    case ATTACK_SMALLEST:
      return INT64_MIN;
    case ATTACK_GREATEST:
      return INT64_MAX;
    default:
      return (int64_t)bits();
  }
}

/* --- kept handles */

#define KEPT 8

static int64_t kept[FUZZ_HANDLE_KINDS][KEPT];
static unsigned next_kept[FUZZ_HANDLE_KINDS];
static int64_t released[64];
static unsigned next_released;

static void release(int64_t handle) {
  if (handle != 0) {
    spt_release(handle);
    released[next_released++ % COUNT_OF(released)] = handle;
  }
}

/* LibTorch walks through the elements of an empty tensor with huge sizes for ever, in Python too. */
static bool is_endless(int64_t handle) {
  int64_t* sizes = NULL;
  int64_t count = 0;
  double product = 1;
  if (spt_shape(handle, &sizes, &count) != SPT_OK) {
    return false; /* not a tensor */
  }
  for (int64_t i = 0; i < count; ++i) {
    product *= sizes[i] > 1 ? (double)sizes[i] : 1;
  }
  spt_free(sizes);
  return product > 1 << 16;
}

void fuzz_keep(int kind, int64_t handle) {
  if (handle == 0) {
    return;
  }
  if (kind <= 0 || kind >= FUZZ_HANDLE_KINDS || (kind == SPT_HANDLE_TENSOR && is_endless(handle))) {
    release(handle);
    return;
  }
  int64_t* place = &kept[kind][next_kept[kind]++ % KEPT];
  release(*place);
  *place = handle;
}

void fuzz_release_kept(void) {
  for (int kind = 0; kind < FUZZ_HANDLE_KINDS; ++kind) {
    for (int i = 0; i < KEPT; ++i) {
      release(kept[kind][i]);
      kept[kind][i] = 0;
    }
  }
}

static int64_t kept_handle(int kind) {
  const int of = kind == 0 ? 1 + (int)fuzz_random(FUZZ_HANDLE_KINDS - 1) : kind;
  return kept[of][fuzz_random(KEPT)];
}

/* A live handle with another slot, generation or kind. */
static int64_t forged_handle(int kind) {
  const int64_t handle = kept_handle(kind);
  switch (fuzz_random(4)) {
    case 0:
      return handle + 1 + (int64_t)fuzz_random(3);
    case 1:
      return handle ^ (int64_t)1 << (28 + fuzz_random(29));
    case 2:
      return handle ^ (int64_t)1 << (57 + fuzz_random(5));
    default:
      return handle ^ (int64_t)1 << fuzz_random(63);
  }
}

static int64_t handle_argument(int kind) {
  if (attack != ATTACK_MIXED) {
    return attacking_number();
  }
  if (chance(80)) {
    return kept_handle(kind);
  }
  switch (fuzz_random(5)) {
    case 0:
      return ONE_OF(released);
    case 1:
      return kept_handle(0);
    case 2:
      return forged_handle(kind);
    case 3:
      return (int64_t)bits();
    default:
      return (int64_t)fuzz_random(3) - 1;
  }
}

/* --- numbers */

static int64_t number_argument(void) {
  static const int64_t kPlausible[] = {0, 1, 2, 3, 4, 5, 6, 7, -1, -2};
  static const int64_t kHostile[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1,    INT64_MAX - 1,
                                     INT32_MAX, INT32_MIN, (int64_t)1 << 62, (int64_t)1 << 31,
                                     64,        65536};
  if (attack != ATTACK_MIXED) {
    return attacking_number();
  }
  return chance(85) ? ONE_OF(kPlausible) : chance(80) ? ONE_OF(kHostile) : (int64_t)bits();
}

static double float_argument(void) {
  static const double kFloats[] = {0, 1, -1, 0.5, 2, 3, -0.0, 1e-300, 1e300, HUGE_VAL, -HUGE_VAL, 4e-324};
  switch (attack) {
    case ATTACK_MIXED:
      return chance(5) ? HUGE_VAL - HUGE_VAL : ONE_OF(kFloats);
    case ATTACK_GARBAGE: {
      const uint64_t garbage = bits();
      double result;
      memcpy(&result, &garbage, sizeof result);
      return result;
    }
    default:
      return (double)attacking_number();
  }
}

/* --- strings */

static char long_text[5001];

static const char* invalid_text(void) {
  static const char* const kInvalid[] = {
      "\xff\xfe",      "\xc3",         "\xc0\x80",     "\xed\xa0\x80",      "\xf5\x80\x80\x80", "a\xe2\x82",
      "cpu\xff",       "\xf0\x9f\x98", "%s%n%s",       "\x01\x1b[31m",      "../\xff/a",        "file:\xff",
      "http://\xff/a", "torch.\xff",   "\xe2\x82\xac", "0x7fffffffffffffff"};
  if (chance(10)) {
    memset(long_text, chance(50) ? 'x' : '\x80', sizeof long_text - 1);
    return long_text;
  }
  return ONE_OF(kInvalid);
}

static const char* text_argument(void) {
  static const char* const kPlausible[] = {"",           "cpu",     "cuda:7",
                                           "float32",    "sum",     "add",
                                           "relu",       "softmax", "cat",
                                           "mean",       "Tensor",  "torch",
                                           "math",       "key",     "f.bin",
                                           "events",     "w.st",    "tv",
                                           "tanh",       "none",    "append",
                                           "lr",         "SGD",     "Adam",
                                           "ij,jk->ik",  "weight",  "builtins.ValueError",
                                           "x",          "cudnn",   "md5",
                                           "sha256",     "int64",   "type",
                                           "brightness", "__len__", "http://127.0.0.1:9/x"};
  if (attack == ATTACK_ZERO || (attack == ATTACK_MIXED && chance(6))) {
    return NULL;
  }
  return attack == ATTACK_MIXED && chance(75) ? ONE_OF(kPlausible) : invalid_text();
}

/* A string that fits the parameter; NULL if none is listed. */
static const char* usual_text(const char* function, const char* name) {
  static const struct {
    const char* function; /* a part of its name */
    const char* name;
    const char* text;
  } kUsual[] = {
      {"", "device", "cpu"},          {"", "map_location", "cpu"},         {"", "algorithm", "SGD"},
      {"", "reduction", "mean"},      {"", "aspect", "brightness"},        {"", "overload", "Tensor"},
      {"spt_op", "name", "add"},      {"torch_op", "name", "relu"},        {"setting", "name", "cudnn"},
      {"getattr", "name", "__doc__"}, {"call_method", "name", "__repr__"}, {"safetensors", "path", "w.st"},
      {"safetensors", "name", "w"},   {"checksum", "path", "w.st"}};
  for (size_t i = 0; i < COUNT_OF(kUsual); ++i) {
    if (strcmp(name, kUsual[i].name) == 0 && strstr(function, kUsual[i].function) != NULL) {
      return kUsual[i].text;
    }
  }
  return NULL;
}

static const char* text_for(const FuzzFunction* function, const FuzzParameter* parameter) {
  const char* usual = usual_text(function->name, parameter->name);
  return usual != NULL && attack == ATTACK_MIXED && chance(60) ? usual : text_argument();
}

/* Python code without effects outside of the process. */
static const char* code_argument(void) {
  static const char* const kCode[] = {"1 + 1",
                                      "x",
                                      "[1, 2.5, 'a']",
                                      "1 / 0",
                                      "'\\udcff'",
                                      "def",
                                      "x = 1",
                                      "{}[1]",
                                      "''.y",
                                      "y = [x] * 3",
                                      "'a' * 10**6",
                                      "lambda x: x",
                                      "[[[]]]",
                                      "10**40",
                                      "raise SystemError('\\udcff')",
                                      "(1).__class__",
                                      "raise ValueError(b'\\xff')"};
  return chance(25) ? text_argument() : ONE_OF(kCode);
}

/* Without ** and <<: Python computes 7 ** 2**62 for ever. */
static const char* operator_argument(void) {
  static const char* const kOperators[] = {"+", "-",  "*",  "/",  "//", "%",  "@", "&", "|",
                                           "^", ">>", "==", "!=", "<",  "<=", ">", ">="};
  return chance(20) ? text_argument() : ONE_OF(kOperators);
}

/* --- values */

static const int32_t kTags[] = {SPL_NIL,  SPL_BOOL,   SPL_INT,     SPL_FLOAT,     SPL_STRING, SPL_ARRAY,
                                SPL_DICT, SPT_TENSOR, SPT_COMPLEX, SPT_GENERATOR, 99,         -1};

static SplArray* array_argument(int depth);

/* An array that contains itself. */
static SplArray* cyclic_array(void) {
  SplArray* array = allocate(sizeof *array);
  array->items = allocate(sizeof *array->items);
  array->len = array->cap = 1;
  array->items[0].tag = SPL_ARRAY;
  array->items[0].as_array = array;
  return array;
}

/* An array whose length does not match its items. */
static SplArray* invalid_array(void) {
  SplArray* array = allocate(sizeof *array);
  if (chance(30)) {
    return cyclic_array();
  }
  if (chance(50)) {
    array->len = array->cap = chance(50) ? 3 : INT64_MAX;
  } else {
    array->items = allocate(4 * sizeof *array->items);
    array->len = array->cap = chance(50) ? -1 : INT64_MIN;
  }
  return array;
}

static SplValue value_with(int32_t tag, int payload, int depth) {
  SplValue value;
  memset(&value, 0, sizeof value);
  value.tag = tag;
  if (payload == 0) {
    return value;
  }
  if (tag == SPL_BOOL) {
    value.as_bool = chance(50);
  } else if (tag == SPL_FLOAT) {
    value.as_float = float_argument();
  } else if (tag == SPL_STRING) {
    value.as_string = (char*)(payload == 2 ? invalid_text() : text_argument());
  } else if (tag == SPL_ARRAY || tag == SPT_COMPLEX) {
    value.as_array = payload == 2 ? invalid_array() : array_argument(depth - 1);
  } else if (tag == SPL_DICT) {
    value.as_dict = payload == 2 ? (void*)invalid_array() : NULL;
  } else if (tag == SPT_TENSOR || tag == SPT_GENERATOR) {
    value.as_int = handle_argument(tag == SPT_TENSOR ? SPT_HANDLE_TENSOR : SPT_HANDLE_GENERATOR);
  } else {
    value.as_int = chance(50) ? number_argument() : handle_argument(0);
  }
  return value;
}

static SplValue random_value(int depth) {
  const int payload = chance(10) ? 0 : chance(10) ? 2 : 1;
  return value_with(ONE_OF(kTags), payload, depth);
}

static SplValue handle_value(int kind) {
  SplValue value = value_with(SPL_NIL, 0, 0);
  value.tag = SPL_INT;
  value.as_int = handle_argument(kind);
  return value;
}

static SplArray* new_array(int64_t count) {
  SplArray* array = allocate(sizeof *array);
  array->items = allocate((size_t)(count + 1) * sizeof *array->items);
  array->len = array->cap = count;
  return array;
}

static SplArray* array_argument(int depth) {
  if (depth <= 0 || chance(5)) {
    return NULL;
  }
  if (chance(10)) {
    return invalid_array();
  }
  SplArray* array = new_array((int64_t)fuzz_random(4));
  for (int64_t i = 0; i < array->len; ++i) {
    array->items[i] = random_value(depth - 1);
  }
  return array;
}

/* A value that fits a letter. */
static SplValue value_for(char letter) {
  switch (letter) {
    case 't':
      return handle_value(SPT_HANDLE_TENSOR);
    case 'o':
      return handle_value(SPT_HANDLE_OBJECT);
    case 'd':
      return handle_value(SPT_HANDLE_DLPACK);
    case 'g':
      return handle_value(SPT_HANDLE_GENERATOR);
    case 'l': {
      SplValue list = value_with(SPL_ARRAY, 0, 0);
      list.as_array = new_array((int64_t)fuzz_random(3));
      for (int64_t i = 0; i < list.as_array->len; ++i) {
        list.as_array->items[i] = handle_value(SPT_HANDLE_TENSOR);
      }
      return list;
    }
    default:
      return value_with((int32_t)fuzz_random(6), 1, 2);
  }
}

static char letters[16];

static const char* letters_argument(FuzzValue value) {
  static const char kLetters[] = "vvvvttttoodlcg";
  static const char* const kUsual[] = {"", "t", "tt", "v", "vv", "o", "l", "tv"};
  if (value.letter != 0) {
    memset(letters, value.letter, 2);
    letters[1 + fuzz_random(2)] = '\0';
    return letters;
  }
  if (chance(50)) {
    strcpy(letters, ONE_OF(kUsual));
    return letters;
  }
  const uint64_t count = fuzz_random(5);
  for (uint64_t i = 0; i < count; ++i) {
    letters[i] = kLetters[fuzz_random(sizeof kLetters - 1)];
  }
  letters[count] = '\0';
  return attack == ATTACK_ZERO ? NULL : chance(90) ? letters : text_argument();
}

/* The values for `letters`, or any values. */
static SplArray* values_argument(FuzzValue value) {
  if (value.letter == 0 && chance(15)) {
    return array_argument(3);
  }
  SplArray* array = new_array((int64_t)strlen(letters));
  for (int64_t i = 0; i < array->len; ++i) {
    array->items[i] = value.letter != 0 ? value_with(value.tag, value.payload, 3) : value_for(letters[i]);
  }
  return array;
}

/* --- lists */

static int64_t list_length;
static bool list_is_null;

/* Of keyword arguments: there are at most as many as values. */
static bool are_names(const FuzzParameter* parameter) { return strcmp(parameter->name, "names") == 0; }

static void* list_argument(const FuzzParameter* parameter) {
  list_length = are_names(parameter) && chance(60) ? 0 : (int64_t)fuzz_random(5);
  list_is_null = attack == ATTACK_ZERO || (attack == ATTACK_MIXED && chance(8));
  if (list_is_null) {
    return NULL;
  }
  FuzzWord* items = allocate((size_t)(list_length + 1) * sizeof *items);
  for (int64_t i = 0; i < list_length; ++i) {
    if (parameter->kind == FUZZ_DIMS) {
      items[i].i = number_argument();
    } else if (parameter->kind == FUZZ_HANDLES) {
      items[i].i = handle_argument(parameter->handle);
    } else if (parameter->kind == FUZZ_F64S) {
      items[i].f = float_argument();
    } else {
      items[i].s = text_argument();
    }
  }
  return items;
}

static void* tagged_values(FuzzValue value) {
  list_length = value.letter != 0 ? 1 : (int64_t)fuzz_random(4);
  list_is_null = value.letter == 0 && (attack == ATTACK_ZERO || chance(5));
  if (list_is_null) {
    return NULL;
  }
  SplValue* items = allocate((size_t)(list_length + 1) * sizeof *items);
  for (int64_t i = 0; i < list_length; ++i) {
    items[i] = value.letter != 0 ? value_with(value.tag, value.payload, 3) : random_value(3);
  }
  return items;
}

/* Never more than the items that a list has. */
static int64_t length_argument(void) {
  static const int64_t kForNull[] = {0, 0, 1, 3, -1, INT64_MIN, INT64_MAX};
  if (list_is_null) {
    return ONE_OF(kForNull);
  }
  if (chance(90)) {
    return list_length;
  }
  return chance(50) ? -1 : chance(50) ? INT64_MIN : 0;
}

static SplArray* spl_list_argument(const FuzzParameter* parameter) {
  if (attack == ATTACK_ZERO || chance(15)) {
    return chance(70) ? array_argument(3) : NULL;
  }
  const bool is_empty = are_names(parameter) && chance(60);
  SplArray* array = new_array(is_empty ? 0 : chance(5) ? 12 : (int64_t)fuzz_random(5));
  for (int64_t i = 0; i < array->len; ++i) {
    SplValue* item = &array->items[i];
    item->tag = SPL_INT;
    if (parameter->kind == FUZZ_ARRAY_HANDLES) {
      item->as_int = handle_argument(parameter->handle);
    } else if (parameter->kind == FUZZ_ARRAY_F64S) {
      item->tag = SPL_FLOAT;
      item->as_float = float_argument();
    } else if (parameter->kind == FUZZ_ARRAY_TEXTS) {
      item->tag = SPL_STRING;
      item->as_string = (char*)text_argument();
    } else {
      item->as_int = number_argument();
    }
  }
  return array;
}

/* --- functions of the program. The library may call them on any thread, so they do not use the random state.
 */

static unsigned turn(void) {
  static unsigned turns;
  return __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
}

static int64_t new_tensor(void) {
  const int64_t sizes[] = {2};
  int64_t out = 0;
  spt_ones(sizes, 1, &out);
  return out;
}

static char* location(void) {
  switch (turn() % 3) {
    case 0:
      return NULL;
    case 1:
      return strdup("main.spl:3");
    default:
      return strdup("\xff.spl:\xc3");
  }
}

/* A letter and a value, both of any kind. */
static SplArray* returned(const char* letter, int64_t number) {
  SplArray* result = spl_array_new();
  SplValue item = {SPL_STRING, {0}};
  item.as_string = letter == NULL ? NULL : spl_str_new(letter);
  spl_array_push(result, item);
  spl_array_push_i64(result, number);
  return result;
}

/* Returns valid and invalid handles, malformed arrays, and failures. */
static SplArray* caller(int64_t key, const char* kinds, const SplArray* values, const SplArray* names) {
  static const char* const kTypes[] = {"builtins.ValueError", "\xff", NULL, ""};
  static const char* const kLetters[] = {"v", "o", "t", "d", "m", "\xff", "", NULL};
  (void)key;
  (void)names;
  for (int64_t i = 0; i < spl_array_len(values); ++i) {
    if (kinds[i] == 'o' || kinds[i] == 't') {
      spt_release(spl_array_get(values, i).as_int);
    }
  }
  const unsigned now = turn();
  if (now % 4 == 0) {
    int64_t out = 0;
    return spt_py_eval("[1, 'a']", "", NULL, NULL, 0, &out) == SPT_OK ? returned("o", out) : NULL;
  }
  if (now % 4 == 1) {
    return returned(kLetters[now / 4 % COUNT_OF(kLetters)], (int64_t)now * 7919);
  }
  spt_py_raise(kTypes[now / 4 % COUNT_OF(kTypes)], "message \xff", now % 8 == 2 ? NULL : "note \xc3");
  return NULL;
}

/* The functions of a step succeed inside the callback only. */
static void use_step(int64_t step) {
  int64_t* tensors = NULL;
  int64_t count = 0, tensor = new_tensor();
  if (spt_step_tensors(step, &tensors, &count) == SPT_OK) {
    spt_step_save(step, tensors, count);
    spt_step_mark_dirty(step, tensors, count);
    spt_step_set_results(step, count > 0 ? tensors : &tensor, count > 0 ? count : 1);
    for (int64_t i = 0; i < count; ++i) {
      spt_release(tensors[i]);
    }
    spt_free(tensors);
  }
  spt_release(tensor);
}

/* Returns numbers that are no handles. */
static int64_t callback(int64_t key, int64_t argument) {
  (void)key;
  use_step(argument);
  spt_release(argument); /* a step is a handle of the library: this fails */
  switch (turn() % 5) {
    case 0:
      return INT64_MAX;
    case 1:
      return -1;
    case 2:
      return 1;
    case 3:
      return 0;
    default:
      spt_autograd_callback_failed(SPT_IO, "callback \xff", NULL, "\xc3", "", NULL);
      return 0;
  }
}

/* For callbacks that return a handle, which the library releases. The argument belongs to the callback. */
static int64_t tensor_callback(int64_t key, int64_t argument) {
  if (turn() % 2 == 0) {
    spt_release(argument);
    return new_tensor();
  }
  return callback(key, argument);
}

static bool returns_tensor(const FuzzFunction* function, const FuzzParameter* parameter) {
  return strcmp(parameter->name, "unpack") == 0 || strcmp(function->name, "spt_register_hook") == 0;
}

static void ender(int64_t key) { (void)key; }
static void interrupter(void) {}

static int64_t sample(void* context, int64_t index, int64_t* tensors) {
  (void)context;
  if (index % 4 == 3) {
    return -1;
  }
  tensors[0] = new_tensor();
  return 1;
}

static void* begin(void* context, int64_t worker, int64_t workers) {
  (void)context;
  (void)worker;
  return workers % 3 == 2 ? NULL : &list_length;
}

static void finish(void* pass) { (void)pass; }

static const SptDataset* dataset_argument(void) {
  SptDataset* table = allocate(sizeof *table);
  const bool is_iterable = chance(40);
  table->version = chance(90) ? SPT_DATASET_VERSION : number_argument();
  table->size = is_iterable ? -1 : chance(80) ? 3 : number_argument();
  table->sample = chance(95) ? sample : NULL;
  table->begin = is_iterable == chance(90) ? begin : NULL;
  table->finish = is_iterable == chance(90) ? finish : NULL;
  table->end = chance(50) ? finish : NULL;
  return chance(95) ? table : NULL;
}

/* The library consumes the structure, also on failure. */
static void* dlpack_argument(FuzzKind kind) {
  struct DLManagedTensorVersioned* versioned = NULL;
  struct DLManagedTensor* legacy = NULL;
  if (attack == ATTACK_ZERO || chance(20)) {
    return NULL;
  }
  if (kind == FUZZ_DLPACK_VERSIONED_IN) {
    return spt_to_dlpack(kept_handle(SPT_HANDLE_TENSOR), chance(50), &versioned) == SPT_OK ? versioned : NULL;
  }
  return spt_to_dlpack_legacy(kept_handle(SPT_HANDLE_TENSOR), &legacy) == SPT_OK ? legacy : NULL;
}

static void (*function_argument(const FuzzFunction* function, const FuzzParameter* parameter))(void) {
  if (attack == ATTACK_ZERO || chance(10)) {
    return NULL;
  }
  switch (parameter->kind) {
    case FUZZ_LOCATION:
      return (void (*)(void))location;
    case FUZZ_CALLER:
      return (void (*)(void))caller;
    case FUZZ_CALLBACK:
      return (void (*)(void))(returns_tensor(function, parameter) ? tensor_callback : callback);
    case FUZZ_INTERRUPTER:
      return interrupter;
    default:
      return (void (*)(void))ender;
  }
}

/* --- all parameters */

static void* out_argument(FuzzCall* call, int index) {
  return attack == ATTACK_ZERO ? (chance(50) ? NULL : call->outs[index])
         : chance(3)           ? NULL
                               : call->outs[index];
}

static FuzzWord argument(const FuzzParameter* parameter, FuzzValue value, FuzzCall* call, int index) {
  FuzzWord word = {0};
  switch (parameter->kind) {
    case FUZZ_HANDLE:
      word.i = handle_argument(parameter->handle);
      break;
    case FUZZ_I64:
    case FUZZ_I32:
    case FUZZ_BOOL:
      word.i = number_argument();
      break;
    case FUZZ_F64:
      word.f = float_argument();
      break;
    case FUZZ_TEXT:
      word.s = text_for(call->function, parameter);
      break;
    case FUZZ_LETTERS:
      word.s = letters_argument(value);
      break;
    case FUZZ_CODE:
      word.s = code_argument();
      break;
    case FUZZ_OPERATOR:
      word.s = operator_argument();
      break;
    case FUZZ_ADDRESS: /* its size is another argument, so any but NULL is an invalid read */
      break;
    case FUZZ_VIEW:
      word.p = chance(80) ? allocate(64) : NULL;
      break;
    case FUZZ_DLPACK_VERSIONED_IN:
    case FUZZ_DLPACK_LEGACY_IN:
      word.p = dlpack_argument(parameter->kind);
      break;
    case FUZZ_DATASET_TABLE:
      word.p = (void*)dataset_argument();
      break;
    case FUZZ_DIMS:
    case FUZZ_HANDLES:
    case FUZZ_F64S:
    case FUZZ_TEXTS:
      word.p = list_argument(parameter);
      break;
    case FUZZ_VALUES:
      word.p = tagged_values(value);
      break;
    case FUZZ_BUFFER:
      list_length = (int64_t)fuzz_random(FUZZ_BUFFER_ITEMS + 1);
      list_is_null = chance(5);
      word.p = list_is_null ? NULL : call->buffer;
      break;
    case FUZZ_LENGTH:
      word.i = length_argument();
      break;
    case FUZZ_ARRAY_DIMS:
    case FUZZ_ARRAY_HANDLES:
    case FUZZ_ARRAY_F64S:
    case FUZZ_ARRAY_TEXTS:
      word.p = spl_list_argument(parameter);
      break;
    case FUZZ_ANYS:
      word.p = values_argument(value);
      break;
    case FUZZ_LOCATION:
    case FUZZ_CALLER:
    case FUZZ_ENDER:
    case FUZZ_INTERRUPTER:
    case FUZZ_CALLBACK:
    case FUZZ_FINISHER:
      word.function = function_argument(call->function, parameter);
      break;
    default:
      word.p = out_argument(call, index);
  }
  return word;
}

void fuzz_make_arguments(const FuzzFunction* function, FuzzValue value, FuzzCall* call) {
  used = 0;
  letters[0] = '\0';
  call->function = function;
  attack = value.letter != 0 ? ATTACK_MIXED : random_attack();

  memset(call->outs, FUZZ_PATTERN, sizeof call->outs);
  memset(call->buffer, FUZZ_PATTERN, sizeof call->buffer);
  for (int i = 0; i < function->count; ++i) {
    call->words[i] = argument(&function->parameters[i], value, call, i);
  }
}

/* --- a handle of every kind */

static void keep_tensors(void) {
  const int64_t sizes[] = {2, 3}, image[] = {1, 3, 4, 4};
  int64_t a = 0, b = 0;
  if (spt_zeros(sizes, 2, &a) == SPT_OK) {
    spt_set_requires_grad(a, true);
    if (spt_mul_scalar(a, 2, &b) == SPT_OK) {
      fuzz_keep(SPT_HANDLE_TENSOR, b);
    }
    fuzz_keep(SPT_HANDLE_TENSOR, a);
  }
  if (spt_arange_int(0, 3, 1, &a) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_TENSOR, a);
  }
  if (spt_full(NULL, 0, 1.5, &a) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_TENSOR, a);
  }
  if (spt_randn(image, 4, &a) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_TENSOR, a);
  }
}

static void keep_objects(void) {
  static const char* const kObjects[] = {
      "[1, 2, 3]",
      "{'key': 1}",
      "'\\udcff'",
      "b'x'",
      "2.5",
      "iter([1, 2])",
      "abs",
      "lambda *a, **k: a",
      "float",
      "10**30",
      "type('\\xff', (), {'__repr__': lambda s: '\\udcff', '__str__': lambda s: 1})()"};
  int64_t object = 0;
  for (int i = 0; i < 3; ++i) {
    if (spt_py_eval(ONE_OF(kObjects), "", NULL, NULL, 0, &object) == SPT_OK) {
      fuzz_keep(SPT_HANDLE_OBJECT, object);
    }
  }
  if (spt_py_function("f", 1, caller, ender, &object) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_OBJECT, object);
  }
  if (spt_py_instance("I", 1, caller, ender, &object) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_OBJECT, object);
  }
  if (spt_py_import("torch", &object) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_OBJECT, object);
  }
}

static void keep_graph(int64_t tensor) {
  int64_t handle = 0;
  if (spt_gradient_node(tensor, &handle) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_NODE, handle);
  }
  if (spt_optim_sgd_new(&tensor, 1, 0.1, 0, 0, 0, false, &handle) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_OPTIMIZER, handle);
  }
  if (spt_dlpack_export(tensor, true, &handle) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_DLPACK, handle);
  }
  if (spt_generator_new("cpu", &handle) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_GENERATOR, handle);
  }
}

static void write_safetensors(void) {
  static const char kHeader[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
  const uint64_t length = sizeof kHeader - 1;
  const float number = 1;
  FILE* file = fopen("w.st", "wb");
  if (file != NULL) {
    fwrite(&length, sizeof length, 1, file);
    fwrite(kHeader, length, 1, file);
    fwrite(&number, sizeof number, 1, file);
    fclose(file);
  }
}

static void keep_files(void) {
  int64_t handle = 0;
  if (spt_event_writer_new("events", 10, 120, "", &handle) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_EVENT_WRITER, handle);
  }
  write_safetensors();
  if (spt_safetensors_open("w.st", &handle) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_SAFETENSORS, handle);
  }
  if (spt_download_begin("http://127.0.0.1:9/x", "d.bin", false, 1, 1, &handle) == SPT_OK) {
    fuzz_keep(SPT_HANDLE_DOWNLOAD, handle);
  }
}

static void keep_datasets(void) {
  static const SptDataset kIterable = {SPT_DATASET_VERSION, NULL, -1, sample, begin, finish, NULL};
  int64_t dataset = 0, pass = 0;
  if (spt_dataset_new(&kIterable, &dataset) == SPT_OK) {
    if (spt_dataset_begin(dataset, 0, 1, &pass) == SPT_OK) {
      fuzz_keep(SPT_HANDLE_DATASET_PASS, pass);
    }
    fuzz_keep(SPT_HANDLE_DATASET, dataset);
  }
}

void fuzz_keep_samples(bool with_python) {
  keep_tensors();
  if (with_python) {
    keep_objects();
  }
  keep_graph(kept[SPT_HANDLE_TENSOR][0]);
  keep_files();
  keep_datasets();
}

/* --- one line for people */

static char* line;
static size_t capacity;

static void put(const char* format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int length = vsnprintf(line, capacity, format, list);
  va_end(list);
  const size_t step = length < 0 ? 0 : (size_t)length < capacity ? (size_t)length : capacity - (capacity > 0);
  line += step;
  capacity -= step;
}

static void put_text(const char* text) {
  if (text == NULL) {
    put("NULL");
    return;
  }
  put("\"");
  for (int i = 0; text[i] != '\0' && i < 40; ++i) {
    const unsigned char byte = (unsigned char)text[i];
    if (byte >= ' ' && byte < 0x7f) {
      put("%c", byte);
    } else {
      put("\\x%02x", byte);
    }
  }
  put(strlen(text) > 40 ? "\"..." : "\"");
}

static void put_array(const SplArray* array, int depth);

static void put_value(const SplValue* value, int depth) {
  put("%d:", value->tag);
  if (value->tag == SPL_STRING) {
    put_text(value->as_string);
  } else if (value->tag == SPL_FLOAT) {
    put("%g", value->as_float);
  } else if ((value->tag == SPL_ARRAY || value->tag == SPT_COMPLEX) && depth > 0) {
    put_array(value->as_array, depth - 1);
  } else {
    put("%lld", (long long)value->as_int);
  }
}

static void put_values(const SplValue* values, int64_t count, int depth) {
  put("[");
  for (int64_t i = 0; i < count && values != NULL && i < 12; ++i) {
    put(i == 0 ? "" : ", ");
    put_value(&values[i], depth);
  }
  put("]");
}

static void put_array(const SplArray* array, int depth) {
  if (array == NULL) {
    put("NULL");
  } else if (array->items == NULL || array->len < 0) {
    put("{items %s, len %lld}", array->items == NULL ? "NULL" : "set", (long long)array->len);
  } else {
    put_values(array->items, array->len, depth);
  }
}

static void put_list(FuzzKind kind, const FuzzWord* items, int64_t count) {
  if (items == NULL) {
    put("NULL");
    return;
  }
  put("[");
  for (int64_t i = 0; i < count && i < 5; ++i) {
    put(i == 0 ? "" : ", ");
    if (kind == FUZZ_TEXTS) {
      put_text(items[i].s);
    } else if (kind == FUZZ_F64S) {
      put("%g", items[i].f);
    } else {
      put("%lld", (long long)items[i].i);
    }
  }
  put("]");
}

static void put_argument(const FuzzCall* call, int index) {
  const FuzzParameter* parameter = &call->function->parameters[index];
  const FuzzWord* word = &call->words[index];
  put("%s%s=", index == 0 ? "" : ", ", parameter->name);
  switch (parameter->kind) {
    case FUZZ_TEXT:
    case FUZZ_LETTERS:
    case FUZZ_CODE:
    case FUZZ_OPERATOR:
      put_text(word->s);
      break;
    case FUZZ_F64:
      put("%g", word->f);
      break;
    case FUZZ_DIMS:
    case FUZZ_HANDLES:
    case FUZZ_F64S:
    case FUZZ_TEXTS:
      put_list(parameter->kind, word->p, call->words[index + 1].i);
      break;
    case FUZZ_VALUES:
      put_values(word->p, call->words[index + 1].i, 2);
      break;
    case FUZZ_ARRAY_DIMS:
    case FUZZ_ARRAY_HANDLES:
    case FUZZ_ARRAY_F64S:
    case FUZZ_ARRAY_TEXTS:
    case FUZZ_ANYS:
      put_array(word->p, 2);
      break;
    case FUZZ_HANDLE:
    case FUZZ_I64:
    case FUZZ_I32:
    case FUZZ_BOOL:
    case FUZZ_LENGTH:
      put("%lld", (long long)word->i);
      break;
    default:
      put(word->p == NULL ? "NULL" : "set");
  }
}

void fuzz_describe(const FuzzCall* call, char* out, size_t size) {
  line = out;
  capacity = size;
  put("%s(", call->function->name);
  for (int i = 0; i < call->function->count; ++i) {
    put_argument(call, i);
  }
  put(")");
}
