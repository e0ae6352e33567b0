/* The table of exported functions for fuzz_all.c. generated/fuzz_table.c has the rows. */
#ifndef TESTS_ABI_FUZZ_TABLE_H_
#define TESTS_ABI_FUZZ_TABLE_H_

#include <stdint.h>

#define FUZZ_MOST_PARAMETERS 24

/* The kind of a parameter or of a result. */
typedef enum FuzzKind {
  FUZZ_VOID,
  FUZZ_STATUS,
  /* numbers */
  FUZZ_HANDLE,
  FUZZ_I64,
  FUZZ_I32,
  FUZZ_BOOL,
  FUZZ_F64,
  /* strings; TEXT as a result is from malloc */
  FUZZ_TEXT,
  FUZZ_BORROWED_TEXT,
  FUZZ_LETTERS,  /* one letter for each value of the next parameter */
  FUZZ_CODE,     /* Python code */
  FUZZ_OPERATOR, /* a Python operator */
  /* addresses */
  FUZZ_ADDRESS, /* memory whose size another parameter states */
  FUZZ_VIEW,    /* memory for a DLTensor */
  FUZZ_DLPACK_VERSIONED,
  FUZZ_DLPACK_LEGACY,
  FUZZ_DLPACK_VERSIONED_IN,
  FUZZ_DLPACK_LEGACY_IN,
  FUZZ_DATASET_TABLE,
  /* a pointer; the next parameter is its LENGTH */
  FUZZ_DIMS,
  FUZZ_HANDLES,
  FUZZ_F64S,
  FUZZ_TEXTS,
  FUZZ_VALUES,
  FUZZ_BUFFER, /* memory for results */
  FUZZ_LENGTH,
  /* an SplArray */
  FUZZ_ARRAY_DIMS,
  FUZZ_ARRAY_HANDLES,
  FUZZ_ARRAY_F64S,
  FUZZ_ARRAY_TEXTS,
  FUZZ_ANYS,
  /* functions of the program */
  FUZZ_LOCATION,
  FUZZ_CALLER,
  FUZZ_ENDER,
  FUZZ_INTERRUPTER,
  FUZZ_CALLBACK,
  FUZZ_FINISHER,
  /* pointers that receive a result */
  FUZZ_OUT_HANDLE,
  FUZZ_OUT_I64,
  FUZZ_OUT_I32,
  FUZZ_OUT_BOOL,
  FUZZ_OUT_F64,
  FUZZ_OUT_TEXT,
  FUZZ_OUT_ADDRESS,
  FUZZ_OUT_ANYS,
  FUZZ_OUT_DIMS,
  FUZZ_OUT_HANDLES,
  FUZZ_OUT_F64S,
  FUZZ_OUT_LENGTH,
  FUZZ_OUT_DLPACK_VERSIONED,
  FUZZ_OUT_DLPACK_LEGACY
} FuzzKind;

/* An argument or a result in the type of its parameter. */
typedef union FuzzWord {
  int64_t i;
  double f;
  const char* s;
  void* p;
  void (*function)(void);
} FuzzWord;

typedef struct FuzzParameter {
  FuzzKind kind;
  int handle; /* enum SptHandleKind; 0 is any */
  const char* name;
} FuzzParameter;

typedef struct FuzzFunction {
  const char* name;
  const char* signature;
  void (*call)(const FuzzWord* arguments, FuzzWord* result);
  FuzzParameter result;
  int count;
  FuzzParameter parameters[FUZZ_MOST_PARAMETERS];
} FuzzFunction;

extern const FuzzFunction kFuzzFunctions[];
extern const int kFuzzFunctionCount;

#endif /* TESTS_ABI_FUZZ_TABLE_H_ */
