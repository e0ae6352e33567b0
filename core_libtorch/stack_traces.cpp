#include "core_libtorch/stack_traces.h"

#include <c10/util/Logging.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

namespace simple_torch::core {

void omit_stack_traces() {
  const char* setting = std::getenv("TORCH_SHOW_CPP_STACKTRACES");
  if (setting == nullptr || std::strcmp(setting, "1") != 0) {
    c10::SetStackTraceFetcher(std::function<std::string()>([] { return std::string(); }));
  }
}

}  // namespace simple_torch::core
