/* Arguments for fuzz_all.c, and the handles that the calls have returned. */
#ifndef TESTS_ABI_FUZZ_ARGUMENTS_H_
#define TESTS_ABI_FUZZ_ARGUMENTS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simple_torch/types.h"
#include "tests/abi/fuzz_table.h"

#define FUZZ_CELL 16 /* the bytes behind an out pointer */
#define FUZZ_BUFFER_ITEMS 8
#define FUZZ_PATTERN 0xA5
#define FUZZ_HANDLE_KINDS 17 /* one more than the greatest SptHandleKind */

/* One value with its letter, for a function that accepts values: what `letter_values()` in fuzz_all.c
 * combines. */
typedef struct FuzzValue {
  char letter; /* 0: arguments are random */
  int32_t tag;
  int payload; /* 0 NULL, 1 plausible, 2 invalid (see fuzz_arguments.c) */
} FuzzValue;

/* The arguments of one call. `outs` is filled with FUZZ_PATTERN before the call. */
typedef struct FuzzCall {
  const FuzzFunction* function;
  FuzzWord words[FUZZ_MOST_PARAMETERS];
  unsigned char outs[FUZZ_MOST_PARAMETERS][FUZZ_CELL];
  SplValue buffer[FUZZ_BUFFER_ITEMS];
} FuzzCall;

void fuzz_seed(uint64_t seed);

/* A number from 0 to bound - 1. */
uint64_t fuzz_random(uint64_t bound);

/* Fills the arguments. The memory that they point to is valid until the next call. */
void fuzz_make_arguments(const FuzzFunction* function, FuzzValue value, FuzzCall* call);

/* Writes the arguments as one line. */
void fuzz_describe(const FuzzCall* call, char* out, size_t size);

/* Stores a handle for later calls and releases the one in its place. */
void fuzz_keep(int kind, int64_t handle);

/* Creates a handle of every kind; those of Python objects only with Python. */
void fuzz_keep_samples(bool with_python);

/* Releases all kept handles. */
void fuzz_release_kept(void);

#endif /* TESTS_ABI_FUZZ_ARGUMENTS_H_ */
