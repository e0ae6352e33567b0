# simple_torch::warnings: the warnings of all our targets.
add_library(simple_torch_warnings INTERFACE)
add_library(simple_torch::warnings ALIAS simple_torch_warnings)
target_compile_options(simple_torch_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wvla -Wundef
  # In a batch the local names of one file shadow those of another; builds file by file check this.
  $<$<NOT:$<BOOL:${SIMPLE_UNITY_BUILD}>>:-Wshadow>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi>
  # GCC 12 sees overlaps in std::string's own operator+ (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>>:-Wno-restrict>)
