#include "host/malloc_tuning.h"

#include <malloc.h>

#include <cstdlib>
#include <initializer_list>

namespace spl {

void tune_malloc() {
  constexpr int kMiB = 1 << 20;
  for (const char* variable : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"}) {
    if (std::getenv(variable) != nullptr) {
      return;
    }
  }
  mallopt(M_MMAP_THRESHOLD, 32 * kMiB);  // the maximum that glibc accepts
  mallopt(M_TRIM_THRESHOLD, 512 * kMiB);
}

}  // namespace spl
