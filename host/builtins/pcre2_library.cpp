#include "host/builtins/pcre2_library.h"

#include "host/builtins/system_library.h"

namespace spl {
namespace {

constexpr uint32_t kMatchLimit = 100'000'000;  // of steps: a second or two
constexpr uint32_t kHeapLimitKib = 512 * 1024;
constexpr size_t kFirstJitStack = size_t{64} * 1024, kMaxJitStack = size_t{16} * 1024 * 1024;

Pcre2Library opened() {
  const SystemLibrary library("a regular expression", "PCRE2 (libpcre2-8.so.0; Debian package libpcre2-8-0)",
                              {"libpcre2-8.so.0"}, "libsimple_torch_pcre2.so");
  Pcre2Library made{};
  library.find(made.compile, "pcre2_compile_8");
  library.find(made.code_free, "pcre2_code_free_8");
  library.find(made.compile_context_create, "pcre2_compile_context_create_8");
  library.find(made.set_newline, "pcre2_set_newline_8");
  library.find(made.jit_compile, "pcre2_jit_compile_8");
  library.find(made.jit_stack_create, "pcre2_jit_stack_create_8");
  library.find(made.jit_stack_assign, "pcre2_jit_stack_assign_8");
  library.find(made.jit_stack_free, "pcre2_jit_stack_free_8");
  library.find(made.match_context_free, "pcre2_match_context_free_8");
  library.find(made.match_data_create_for, "pcre2_match_data_create_8");
  library.find(made.pattern_info, "pcre2_pattern_info_8");
  library.find(made.match_context_create, "pcre2_match_context_create_8");
  library.find(made.set_match_limit, "pcre2_set_match_limit_8");
  library.find(made.set_heap_limit, "pcre2_set_heap_limit_8");
  library.find(made.match_data_create, "pcre2_match_data_create_from_pattern_8");
  library.find(made.match_data_free, "pcre2_match_data_free_8");
  library.find(made.match, "pcre2_match_8");
  library.find(made.get_ovector, "pcre2_get_ovector_pointer_8");
  library.find(made.get_error_message, "pcre2_get_error_message_8");
  made.compile_context = made.compile_context_create(nullptr);
  made.set_newline(made.compile_context, PCRE2_NEWLINE_LF);
  made.match_context = made.match_context_create(nullptr);
  made.set_match_limit(made.match_context, kMatchLimit);
  made.set_heap_limit(made.match_context, kHeapLimitKib);
  made.jit_stack_assign(made.match_context, nullptr,
                        made.jit_stack_create(kFirstJitStack, kMaxJitStack, nullptr));
  return made;
}

}  // namespace

const Pcre2Library& pcre2() {
  static const Pcre2Library library = opened();
  return library;
}

}  // namespace spl
