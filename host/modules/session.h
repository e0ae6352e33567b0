// Sessions: modules whose source arrives in cells, such as those of a notebook.
#pragma once

#include <string>

#include "host/values/module.h"

namespace spl {

/// A new session. It lives as long as the process, because its functions may.
LoadedModule& add_session(const std::string& name);

/// Compiles and runs a cell in the session's names. Returns the value of its last statement, if that is an
/// expression; otherwise nil. A cell that does not compile leaves the session unchanged. Throws LoadError,
/// SimpleError.
Value run_cell(LoadedModule& session, std::string text, const std::string& name);

/// Whether `use` in a cell bound the name, so that other values of this name do not replace it.
bool is_imported(const LoadedModule& session, Symbol name);

}  // namespace spl
