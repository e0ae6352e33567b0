/* The types of the C ABI of simple_torch, and the conventions of its functions (c_api.h, simple_api.h). C99.
 *
 * Status: a function of c_api.h returns SPT_OK or the kind of its error. After an error, the message and the
 * fields are in the error record of the thread (library.h), and no out parameter was written.
 *
 * Handles: int64_t; 0 is no handle. The use of a released handle is an error and never a crash.
 *
 * Lists: a pointer and a length. The pointer may be NULL when the length is 0.
 *
 * Availability: without PyTorch, each function that needs it returns SPT_UNAVAILABLE, and the message states
 * the reason.
 *
 * Threads: all functions may be called from any thread. */
#ifndef SIMPLE_TORCH_TYPES_H_
#define SIMPLE_TORCH_TYPES_H_

#include <stdbool.h>
#include <stdint.h>

#include "simple_torch/kinds.h"
#include "simple_torch/spl_runtime.h"

#if defined(__GNUC__)
#define SPT_API __attribute__((visibility("default")))
#else
#define SPT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Tags of an SplValue in calls of operators (spt_op_call), in addition to enum SplTag. */
enum SptTag {
  SPT_TENSOR = 16,   /* as_int: its handle; 0 is no tensor. An array of these is a list of tensors. */
  SPT_COMPLEX = 17,  /* as_array: two FLOATs, the real and the imaginary part */
  SPT_GENERATOR = 18 /* as_int: its handle */
};

/* The current source location of the calling program, as a malloc'ed string that the library frees; NULL
 * where it is unknown. */
typedef char* (*SptLocation)(void);

/* A function of the program that Python calls, on any thread. `key` identifies the function. `kinds` has a
 * letter for each of the values. v: None, bool, float, an int of 64 bits, or a str without NUL, as a plain
 * value; t: a tensor handle; o: an object handle; f: the key of a function or object that was created with
 * the same SptPyCall (others are objects). The last values are keyword arguments with these names. All
 * arrays belong to the library; the function releases the handles.
 *
 * Returns a new array of a letter and a value: v, t or o, whose handle the library releases. After
 * spt_py_raise it returns NULL or an empty array. The library frees the array. The function may end its
 * thread by pthread_exit; what the calling Python code holds then leaks. A request of pthread_cancel
 * stays pending while the function runs. A process that forks here may not return to Python in the child,
 * which then ends with a message. */
typedef SplArray* (*SptPyCall)(int64_t key, const char* kinds, const SplArray* values, const SplArray* names);

/* Called once Python has released the function. It must not end its thread. */
typedef void (*SptPyEnd)(int64_t key);

/* Stops what the program runs for Python, as soon as possible. Called inside a signal handler. */
typedef void (*SptPyInterrupt)(void);

/* A function of the program that LibTorch's engine calls, on any thread. `key` is the key that it was
 * registered with; `argument` is a handle or a number, see the function that accepts the callback. Returns 0
 * on failure, after spt_autograd_callback_failed has recorded the error: the operation or the backward pass
 * that called it fails with that error. */
typedef int64_t (*SptAutogradCall)(int64_t key, int64_t argument);

/* Called once, on any thread, when the key is no longer used. */
typedef void (*SptAutogradEnd)(int64_t key);

#define SPT_DATASET_VERSION 1
#define SPT_MAX_SAMPLE_TENSORS 32 /* the maximum number of tensors of one sample */

/* A dataset in native code, for spt_dataset_new. Its functions are called on any thread, and on several
 * threads at once; a pass is used by one thread at a time. A function reports its error by
 * spt_autograd_callback_failed. */
typedef struct SptDataset {
  int64_t version; /* SPT_DATASET_VERSION */
  void* context;   /* the first argument of the functions */
  int64_t size;    /* the number of samples; -1 for an iterable dataset */
  /* Writes the tensors of a sample, new handles which the library then owns, into `tensors`, and returns
   * their number; -1 on failure. For an iterable dataset `context` is the result of begin(), `index` counts
   * from 0, and 0 tensors end the pass. */
  int64_t (*sample)(void* context, int64_t index, int64_t* tensors);
  /* For an iterable dataset: begin() returns the context of a pass over one worker's part, or NULL on
   * failure; finish() ends the pass. Otherwise both are NULL. */
  void* (*begin)(void* context, int64_t worker, int64_t workers);
  void (*finish)(void* pass);
  void (*end)(void* context); /* called once, when the dataset is no longer used; may be NULL */
} SptDataset;

/* Types of DLPack 1. Callers of the functions that use them include dlpack/dlpack.h. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

#ifdef __cplusplus
}
#endif
#endif /* SIMPLE_TORCH_TYPES_H_ */
