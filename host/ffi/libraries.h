// Search for native functions in shared libraries.
#pragma once

#include <cstdint>
#include <string>

namespace spl {

struct FoundSymbol {
  void* address;      // null if no library has the symbol
  std::string tried;  // one line for each library
};

/// Searches the files of SIMPLE_TORCH_RUNTIME_PATH and SIMPLE_RUNTIME_PATH, the directories of
/// SIMPLE_SFFI_PATH, the host's own lib directory, then the system's path. `rt_<lib>_x` is searched in
/// libspl_<lib>.so first. Libraries stay open.
FoundSymbol find_native(const std::string& symbol);

/// Opens a library with the flags of dlopen(). A name without a slash is searched in the host's lib directory
/// first. Null if it cannot be opened.
void* open_library_named(const std::string& name, int flags);

/// Calls `spl_program_ends` once in each open library that exports it. The caller must not hold the host
/// lock, because a library may call back.
void notify_libraries_of_exit();

/// Looks for a library that knows the process's coroutines: one that exports `spl_current_coroutine`.
void find_coroutines();
/// The coroutine that this native thread runs; 0 outside coroutines. The caller must not hold the host lock.
uint64_t current_coroutine();

}  // namespace spl
