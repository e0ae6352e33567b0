/* The host embedded in another program's process, such as Python's. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives what Simple prints. `stream`: 1 for standard output, 2 for standard error. Called on any thread,
 * without locks. Returns 0 on success; any other value makes the print statement raise an error. */
typedef int (*SplWriter)(int stream, const char* text, size_t size);

/* Starts the host and runs the file; then calls the file's function `register`, which registers functions
 * with the program. A later call replaces the writer and calls `register` again. Calls must not overlap.
 * Returns NULL, or an error message that stays valid until the next call. */
const char* spl_embedded_start(const char* file, SplWriter writer);

/* An interrupt: running Simple code stops at its next safepoint, as by exit(130). Async-signal-safe. */
void spl_embedded_interrupt(void);

/* Running Simple code on the first thread calls spt_py_check_signals at its next safepoint.
 * Async-signal-safe. */
void spl_embedded_signal(void);

/* Sets the function that is called when Simple code changes a variable of a session. It may be called on any
 * thread; once until the changes are taken. */
void spl_embedded_on_session_change(void (*note)(void));

/* Called before the process exits. Afterwards no Simple code runs; threads of Simple stay blocked. */
void spl_embedded_end(void);

#ifdef __cplusplus
}
#endif
