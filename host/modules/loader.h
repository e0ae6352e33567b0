// Finds, reads, compiles and runs modules, each of them once.
#pragma once

#include <string>
#include <vector>

#include "host/compiler/compiler.h"
#include "host/values/module.h"

namespace spl {

/// A file that cannot be loaded, with its diagnostics as printed on stderr.
struct LoadError {
  std::string report;
};

/// The folders of the .spl library: SIMPLE_LIB (a list separated by colons), then the installation's
/// share/simple.
const std::vector<std::string>& library_roots();

/// Loads and runs the program. Throws LoadError, SimpleError.
LoadedModule& load_program(const std::string& path);
/// The canonical path of the program; empty without one.
const std::string& program_path();
/// The module of a file, which is loaded once; it is not the program.
LoadedModule& load_module_file(const std::string& path);
/// Loads and runs a module that is not a file, with `globals` predefined.
LoadedModule& load_source(const std::string& name, std::string text,
                          const std::vector<std::pair<Symbol, Value>>& globals = {});

/// Lets modules that are not of the library import this one by the name; the last one of a name counts.
void make_importable(LoadedModule& module, const std::string& name);

/// Adds a module that is neither compiled nor run. `key`: its real path, or a name that no path has.
LoadedModule& add_module(const std::string& key, std::string name, std::string path, std::string text);
/// Parses and compiles a module's source, after its imports, and prints warnings. Returns the module's body.
/// Throws LoadError, SimpleError.
const Proto* prepare(LoadedModule& module);

/// Executes a use declaration of a module. Throws LoadError, SimpleError.
void import_into(LoadedModule& module, const UseDecl& use);

/// Executes a use declaration of a function, which resolves its module once. Throws LoadError, SimpleError.
void run_import(const Proto& proto, size_t index);

/// A function of the library: of the module `path`, a path without its ending. Borrowed. Throws LoadError.
Value library_function(const char* path, const char* name);

}  // namespace spl
