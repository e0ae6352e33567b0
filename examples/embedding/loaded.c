/* Opens libspl_torch.so at run time, as a program does for which PyTorch is optional. Usage: loaded [LIBRARY]
 */
#include <dlfcn.h>
#include <simple_torch/c_api.h>
#include <stdio.h>
#include <string.h>

static void* library;
static int missing;

/* Stores the address of a function. POSIX permits the copy from an object pointer. */
static void find(const char* name, void* function, size_t size) {
  void* address = dlsym(library, name);
  if (address == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    ++missing;
    return;
  }
  memcpy(function, &address, size);
}

#define FIND(name) find(#name, &name##_, sizeof name##_)

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "libspl_torch.so.0";
  /* The types of the functions are those of the header. */
  int32_t (*spt_available_)(bool*) = NULL;
  int32_t (*spt_why_unavailable_)(char**) = NULL;
  int32_t (*spt_arange_)(double, double, double, int64_t*) = NULL;
  int32_t (*spt_sum_value_)(int64_t, double*) = NULL;
  int32_t (*spt_release_)(int64_t) = NULL;
  void (*spt_free_)(void*) = NULL;
  bool available = false;
  int64_t numbers = 0;
  double sum = 0;

  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("without PyTorch: %s\n", dlerror());
    return 0;
  }
  FIND(spt_available);
  FIND(spt_why_unavailable);
  FIND(spt_arange);
  FIND(spt_sum_value);
  FIND(spt_release);
  FIND(spt_free);
  if (missing != 0) {
    return 1;
  }
  if (spt_available_(&available) != SPT_OK || !available) {
    char* reason = NULL;
    spt_why_unavailable_(&reason);
    printf("without PyTorch: %s\n", reason == NULL ? "" : reason);
    spt_free_(reason);
    return 0;
  }
  if (spt_arange_(1, 101, 1, &numbers) != SPT_OK || spt_sum_value_(numbers, &sum) != SPT_OK ||
      spt_release_(numbers) != SPT_OK) {
    return 1;
  }
  printf("1 + 2 + ... + 100 = %.0f\n", sum);
  return 0;
}
