/* For LD_PRELOAD: a system without the libraries that std modules open. dlopen() finds none of them by its name; a path
   is opened, and so is what a library depends on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

static const char *const hidden[] = {"libcurl", "libpcre2", "libcrypto", "libsqlite3"};

void *dlopen(const char *file, int mode) {
  static void *(*original)(const char *, int);
  if (original == 0) {
    *(void **)&original = dlsym(RTLD_NEXT, "dlopen");
  }
  for (size_t i = 0; file != 0 && i < sizeof hidden / sizeof *hidden; i++) {
    if (strncmp(file, hidden[i], strlen(hidden[i])) == 0) {
      return original("a-library-that-this-system-does-not-have.so", mode);
    }
  }
  return original(file, mode);
}
