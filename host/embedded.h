/* The host in a process that is another program's, such as Python's. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What Simple prints: 1 is standard output, 2 what is for standard error. Called on any thread, without
 * locks. Gives 0, or another number where the text could not be written: what printed it fails. */
typedef int (*SplWriter)(int stream, const char* text, size_t size);

/* Starts the host, once, and runs the file, which gives its functions to the program. NULL, or why it failed:
 * text that lives as long as the process. */
const char* spl_embedded_start(const char* file, SplWriter writer);

/* An interrupt: running Simple code stops at its next safepoint, as by exit(130). Async-signal-safe. */
void spl_embedded_interrupt(void);

/* The process is about to end: no Simple code runs any more, and threads of Simple stay where they are. */
void spl_embedded_end(void);

#ifdef __cplusplus
}
#endif
