/* The values that a Simple runtime passes to native code, and the helper functions that it exports for them.
 *
 * A program that runs Simple (the host, or stock Simple's runtime) defines these functions in its executable.
 * libspl_torch.so contains weak definitions for other programs. */
#ifndef SIMPLE_TORCH_SPL_RUNTIME_H_
#define SIMPLE_TORCH_SPL_RUNTIME_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum SplTag {
  SPL_NIL = 0,
  SPL_BOOL = 1,
  SPL_INT = 2,
  SPL_FLOAT = 3,
  SPL_STRING = 4,
  SPL_ARRAY = 5,
  SPL_DICT = 6
};

typedef struct SplArray SplArray;

/* An unnamed union is C11, but every C99 compiler in use accepts it. This disables the warning. */
#if defined(__GNUC__)
#define SPL_EXTENSION __extension__
#else
#define SPL_EXTENSION
#endif

/* 16 bytes: a tag and a payload. */
typedef struct SplValue {
  int32_t tag; /* enum SplTag */
  SPL_EXTENSION union {
    bool as_bool;
    int64_t as_int;
    double as_float;
    char* as_string;    /* NUL-terminated, from malloc, owned by the array that holds it */
    SplArray* as_array; /* owned by the array that holds it */
    void* as_dict;
  };
} SplValue;

struct SplArray {
  SplValue* items;
  int64_t len;
  int64_t cap;
};

/* Return a new empty array; free it with spl_array_free. The two functions do the same. */
SplArray* spl_array_new(void);
SplArray* spl_array_new_i64(void);
/* Append a value. The array owns what the value points to. NULL for the array is ignored. */
void spl_array_push(SplArray* array, SplValue value);
void spl_array_push_i64(SplArray* array, int64_t value);
/* Returns the number of items; 0 for NULL. */
int64_t spl_array_len(const SplArray* array);
/* Returns an item; nil if the index is out of range. The array keeps ownership of what the item points to. */
SplValue spl_array_get(const SplArray* array, int64_t index);
/* Return the number in a value of tag INT, FLOAT or BOOL; 0 for other tags. */
int64_t spl_as_int(SplValue value);
double spl_as_float(SplValue value);
/* Returns a malloc'ed copy of the string, NULL for NULL; the caller frees it. */
char* spl_str_new(const char* text);

/* --- interrupts: of this project's host only. The host owns SIGINT; the library is its client for Python. */

/* What the host asks of its client; a set of bits. */
enum {
  SPL_INTERRUPT_FORWARD = 1,      /* send the signal to Python's main thread */
  SPL_INTERRUPT_STOP_MAIN = 2,    /* KeyboardInterrupt on Python's main thread */
  SPL_INTERRUPT_STOP_WORKERS = 4, /* KeyboardInterrupt in all other threads inside Python */
  SPL_INTERRUPT_END = 8           /* flush the streams and end the process, outside the signal handler */
};

/* What the host needs to know of Python when SIGINT arrives. Booleans are 0 or 1. */
typedef struct SplInterruptClientState {
  int32_t main_inside;          /* Python's main thread is inside Python */
  int32_t workers_inside;       /* the number of other threads inside Python */
  int32_t main_is_first_thread; /* Python's main thread is the first thread of the process */
  int32_t on_main_thread;       /* the calling thread is Python's main thread */
  int32_t main_requested;       /* the main thread was asked to stop and is still inside */
  int32_t workers_requested;
  int32_t is_ending;  /* SPL_INTERRUPT_END was performed */
  int32_t is_wake_up; /* the client itself sent this signal, to end a blocking call */
} SplInterruptClientState;

/* Writes UTF-8 text to standard output (`stream` 1) or standard error (2). Returns 0 on success. */
typedef int (*SplOutputWriter)(int stream, const char* text, size_t size);

/* Both functions are called in a signal handler. */
typedef struct SplInterruptClient {
  void (*read)(SplInterruptClientState* out);
  void (*perform)(uint32_t actions, SplInterruptClientState next);
} SplInterruptClient;

/* Lives as long as the process. */
typedef struct SplInterruptService {
  /* Sets the client, once. From then on SIGINT ends blocking system calls. 0, or 1 where SIGINT is ignored.
   */
  int32_t (*attach)(const SplInterruptClient* client);
  /* Installs the service's handler again after other code, such as Python's signal module, replaced it. */
  void (*reclaim)(void);
  /* Asks the program to call spt_py_check_signals soon, on the first thread of the process.
   * Async-signal-safe. NULL if the service cannot. */
  void (*request_signal_check)(void);
} SplInterruptService;

/* NULL in a process without the host. */
const SplInterruptService* spl_interrupt_service(void);

/* Frees the array and the strings and arrays in it. NULL is allowed. */
void spl_array_free(SplArray* array);

#ifdef __cplusplus
}
#endif
#endif /* SIMPLE_TORCH_SPL_RUNTIME_H_ */
