// Names that a package exports from the other files of its folder.
#pragma once

#include "host/values/module.h"

namespace spl {

/// If the module is a package (`mod.spl`, `__init__.spl`), imports the names that it exports without
/// declaring them: a name of another file of the folder, or a file of the folder itself. Throws LoadError,
/// SimpleError.
void import_exported_siblings(LoadedModule& module);

}  // namespace spl
