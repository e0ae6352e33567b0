// Where native functions are looked for.
#pragma once

#include <string>

namespace spl {

struct FoundSymbol {
  void* address;      // null: nobody has it
  std::string tried;  // a line for each library
};

/// Looks in the files of SIMPLE_TORCH_RUNTIME_PATH and SIMPLE_RUNTIME_PATH, in the folders of
/// SIMPLE_SFFI_PATH, beside the host, and where the system looks: `rt_<lib>_x` in libspl_<lib>.so first. A
/// library that opened stays open.
FoundSymbol find_native(const std::string& symbol);

/// Opens a library for the program, with dlopen's flags: a bare name is looked for beside the host first.
/// Null: nobody has it.
void* open_library_named(const std::string& name, int flags);

/// The program ends: each library that exports `spl_program_ends` is told, once. The caller does not hold the
/// host lock, because a library may still call the program back.
void tell_libraries_of_the_end();

}  // namespace spl
