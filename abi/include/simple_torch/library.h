/* The functions of the library that return no status: the error record, memory and shutdown. C99. */
#ifndef SIMPLE_TORCH_LIBRARY_H_
#define SIMPLE_TORCH_LIBRARY_H_

#include "simple_torch/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The status, message and fields of the calling thread's latest error. The strings belong to the library, are
 * valid until the thread's next error and are never NULL. Reading clears nothing. Fields: "op", "expected",
 * "got", "requested_bytes", "available_bytes", "type", "traceback"; "" where a field does not apply. */
SPT_API int32_t spt_last_error_kind(void);
SPT_API const char* spt_last_error_message(void);
SPT_API const char* spt_last_error_field(const char* name);

/* The same for Simple's `extern fn`. The strings are malloc'ed; the caller frees them. */
SPT_API int64_t rt_torch_last_error_kind(void);
SPT_API char* rt_torch_last_error_message(void);
SPT_API char* rt_torch_last_error_field(const char* name);

/* Frees a list or a string that a function returned. NULL is allowed. */
SPT_API void spt_free(void* memory);

/* For programs that end without exit(): if Python runs, ends its threads, runs its exit functions and flushes
 * its streams. */
SPT_API void spl_program_ends(void);

/* Identifies the coroutine with a C stack of its own, a greenlet of Python, that the calling thread runs; 0
 * outside coroutines. A runtime needs one stack for each, because coroutines return in any order. */
SPT_API uint64_t spl_current_coroutine(void);

/* Where a runtime writes what its program prints while Python code has replaced sys.stdout (`stream` 1) or
 * sys.stderr (2); NULL while it has not. The writer returns 0, 1 after a Python exception, or -1 if Python
 * cannot be called. The caller must not hold a lock that a thread with the GIL may wait for. */
SPT_API SplOutputWriter spl_output_writer(int stream);

#ifdef __cplusplus
}
#endif
#endif /* SIMPLE_TORCH_LIBRARY_H_ */
