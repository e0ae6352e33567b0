// PCRE2, opened at the first regular expression.
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace spl {

struct Pcre2Library {
  decltype(&pcre2_compile_8) compile;
  decltype(&pcre2_code_free_8) code_free;
  decltype(&pcre2_compile_context_create_8) compile_context_create;
  decltype(&pcre2_set_newline_8) set_newline;
  decltype(&pcre2_jit_compile_8) jit_compile;
  decltype(&pcre2_jit_stack_create_8) jit_stack_create;
  decltype(&pcre2_jit_stack_assign_8) jit_stack_assign;
  decltype(&pcre2_jit_stack_free_8) jit_stack_free;
  decltype(&pcre2_match_context_free_8) match_context_free;
  decltype(&pcre2_match_data_create_8) match_data_create_for;
  decltype(&pcre2_pattern_info_8) pattern_info;
  decltype(&pcre2_match_context_create_8) match_context_create;
  decltype(&pcre2_set_match_limit_8) set_match_limit;
  decltype(&pcre2_set_heap_limit_8) set_heap_limit;
  decltype(&pcre2_match_data_create_from_pattern_8) match_data_create;
  decltype(&pcre2_match_data_free_8) match_data_free;
  decltype(&pcre2_match_8) match;
  decltype(&pcre2_get_ovector_pointer_8) get_ovector;
  decltype(&pcre2_get_error_message_8) get_error_message;

  pcre2_compile_context_8* compile_context;
  pcre2_match_context_8* match_context;  // used under the host lock
};

/// Fails if the system has no PCRE2.
const Pcre2Library& pcre2();

}  // namespace spl
