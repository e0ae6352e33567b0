// Finds, reads, compiles and runs modules, each once.
#pragma once

#include <string>
#include <vector>

#include "host/compiler/compiler.h"
#include "host/modules/module.h"

namespace spl {

/// A file that cannot be used: its diagnostics as text for stderr.
struct LoadError {
  std::string report;
};

/// Where the .spl library lies: SIMPLE_LIB (a list), then share/simple beside the executable's folder.
const std::vector<std::string>& library_roots();

/// The started program. Throws LoadError, SimpleError.
LoadedModule& load_program(const std::string& path);
/// A module that is no file, with values that it finds there under their names.
LoadedModule& load_source(const std::string& name, std::string text,
                          const std::vector<std::pair<Symbol, Value>>& given = {});

/// Carries out a use declaration for a module. Throws LoadError, SimpleError.
void import_into(LoadedModule& module, const UseDecl& use);

/// The file with this path, if it was loaded: for error reports.
const SourceFile* loaded_source(const std::string& path);

}  // namespace spl
