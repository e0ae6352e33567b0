// Resolves module names to files: by the library's table, then by path.
#include "host/modules/loader.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <tuple>
#include <unordered_map>

#include "host/compiler/root_packages.h"
#include "host/installation.h"
#include "host/modules/package_exports.h"
#include "host/output.h"
#include "host/sdn/sdn.h"
#include "host/values/error.h"
#include "host/values/spelling_suggester.h"
#include "host/vm/hints.h"
#include "host/vm/thread.h"

namespace spl {

namespace fs = std::filesystem;

namespace {

std::map<std::string, std::unique_ptr<LoadedModule>>& modules() {
  static auto& loaded = *new std::map<std::string, std::unique_ptr<LoadedModule>>;  // used until exit
  return loaded;
}

// The canonical path of a file or folder. Cached per folder, because each component costs a system call.
const std::string& real_path(const std::string& path) {
  static std::unordered_map<std::string, std::string> known;
  if (const auto found = known.find(path); found != known.end()) {
    return found->second;
  }
  std::error_code ignored;
  const fs::path whole(path);
  const bool plain = whole.has_parent_path() && whole.has_filename() && whole.filename() != ".." &&
                     whole.filename() != "." && !fs::is_symlink(whole, ignored);
  // The root folder is its own parent.
  std::string real = plain && whole.parent_path() != whole
                         ? (fs::path(real_path(whole.parent_path().string())) / whole.filename()).string()
                         : fs::weakly_canonical(whole, ignored).string();
  return known[path] = std::move(real);
}

/// Reads the whole file. Returns the reason if it cannot be read, else "".
std::string read_file(const std::string& path, std::string& text) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return std::strerror(EISDIR);
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return std::strerror(errno);
  }
  // Pipes and files in /proc have no size, so the rest is read until end of file.
  const auto size = fs::file_size(path, ignored);
  if (!ignored && size > 0) {
    text.resize(size);
    file.read(text.data(), static_cast<std::streamsize>(size));
    text.resize(static_cast<size_t>(file.gcount()));
  }
  std::ostringstream rest;
  if (file && rest << file.rdbuf()) {
    text += rest.str();
  }
  return "";
}

// Module name to file, for all roots. Earlier roots take precedence.
const std::map<std::string, std::string>& aliases() {
  static const std::map<std::string, std::string> table = [] {
    std::map<std::string, std::string> made;
    for (const std::string& root : library_roots()) {
      std::string text;
      if (!read_file(root + "/modules.sdn", text).empty()) {
        continue;
      }
      const std::string file = root + "/modules.sdn";
      const sdn::Document document = sdn::parse(text);
      if (const auto& problem = document.problem) {
        throw LoadError{file + ":" + std::to_string(problem->line) + ":" + std::to_string(problem->column) +
                        ": error: " + problem->message + "\n"};
      }
      const sdn::Node* rows = document.root.get("modules");
      if (rows == nullptr || rows->kind != sdn::Node::Kind::kTable || rows->names.size() < 2) {
        throw LoadError{file + ": error: missing table 'modules |name, file|'\n"};
      }
      for (const sdn::Node& row : rows->items) {
        made.emplace(row.items[0].text, root + "/" + row.items[1].text);
      }
    }
    return made;
  }();
  return table;
}

// The folder of the program. Its modules are searched there, whatever the working directory is.
fs::path& program_folder() {
  static fs::path folder;
  return folder;
}

// The path of the program's file.
std::string& program_file() {
  static std::string file;
  return file;
}

std::string file_of_path(const fs::path& base) {
  for (const char* ending : {".spl", "/mod.spl", "/__init__.spl"}) {
    const std::string path = base.string() + ending;
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) {
      return fs::path(path).lexically_normal().string();
    }
  }
  return "";
}

std::string join(const std::vector<Symbol>& path, size_t first, const char* separator) {
  std::string text;
  for (size_t i = first; i < path.size(); ++i) {
    text += (i == first ? "" : separator) + name_of(path[i]);
  }
  return text;
}

// Upstream's folders of std for kinds of memory management.
constexpr const char* kFamilies[] = {"common", "nogc_sync_mut", "nogc_async_mut", "gc_async_mut",
                                     "nogc_async_mut_noalloc"};

// The rest of `std.common.a`, `lib.common.a` and `common.a` from the returned index, which are std.a; 0 for
// other names.
size_t after_family(const UseDecl& use) {
  const std::string& head = name_of(use.path[0]);
  const size_t family = head == "std" || head == "lib" ? 1 : 0;
  const bool is_family = use.parents == 0 && use.path.size() > family + 1 &&
                         std::any_of(std::begin(kFamilies), std::end(kFamilies),
                                     [&](const char* name) { return name_of(use.path[family]) == name; });
  return is_family ? family + 1 : 0;
}

void add_library_paths(const UseDecl& use, std::vector<fs::path>& paths) {
  const std::string& head = name_of(use.path[0]);
  for (const std::string& root : library_roots()) {
    paths.push_back(fs::path(root) / join(use.path, 0, "/"));
  }
  if (const size_t rest = after_family(use); rest > 0) {
    for (const std::string& root : library_roots()) {
      paths.push_back(fs::path(root) / "std" / join(use.path, rest, "/"));
    }
  }
  if (use.path.size() > 1 && (head == "lib" || head == "std")) {
    for (const std::string& root : library_roots()) {
      paths.push_back(fs::path(root) / join(use.path, 1, "/"));
    }
  }
}

// The folders of a project in upstream's layout: `use std.x` and `use lib.x` mean lib/x or src/lib/x, also
// in a folder for a kind of memory management, and `use app.x` means src/app/x.
void add_project_paths(const fs::path& folder, const UseDecl& use, std::vector<fs::path>& paths) {
  const std::string& head = name_of(use.path[0]);
  if (use.path.size() > 1 && (head == "lib" || head == "std")) {
    const std::string inner = join(use.path, 1, "/");
    for (const char* root : {"lib", "src/lib"}) {
      paths.push_back(folder / root / inner);
      for (const char* family : kFamilies) {
        paths.push_back(folder / root / family / inner);
      }
    }
  }
  if (const size_t rest = after_family(use); rest > 0) {
    paths.push_back(folder / "lib" / join(use.path, rest, "/"));
    paths.push_back(folder / "src/lib" / join(use.path, rest, "/"));
  }
  const std::string path = join(use.path, 0, "/");
  paths.push_back(folder / "src" / path);
  paths.push_back(folder / "src/lib" / path);
}

// The possible paths of a module's file without extension, in search order.
std::vector<fs::path> candidates(const LoadedModule& from, const UseDecl& use) {
  const fs::path here = fs::path(from.source().path).parent_path();
  const std::string path = join(use.path, 0, "/");
  if (use.parents > 0) {
    fs::path base = here;
    for (uint32_t i = 1; i < use.parents; ++i) {
      base /= "..";
    }
    return {(base / path).lexically_normal()};
  }
  // Modules of the library are resolved in the library first, whatever the working directory contains.
  std::vector<fs::path> found;
  if (from.is_library) {
    add_library_paths(use, found);
  }
  found.push_back(here / path);
  if (!from.is_library) {
    found.push_back(program_folder() / path);
  }
  static const fs::path working_folder = [] {  // programs cannot change it; it may have been removed
    std::error_code gone;
    const fs::path folder = fs::current_path(gone);
    return gone ? fs::path(".") : folder;
  }();
  found.push_back(working_folder / path);
  found.push_back(working_folder / "lib" / path);
  if (!from.is_library) {
    add_library_paths(use, found);
    add_project_paths(working_folder, use, found);
  }
  return found;
}

// Searches the paths. Returns "" if there is no such module.
std::string search_module(const LoadedModule& from, const UseDecl& use) {
  for (const fs::path& base : candidates(from, use)) {
    if (std::string file = file_of_path(base); !file.empty()) {
      return file;
    }
  }
  return "";
}

// Searches the library's table, then the paths. Successful searches are cached.
const std::string& find_module(const LoadedModule& from, const UseDecl& use) {
  static std::map<std::tuple<std::string, uint32_t, std::string>, std::string> known;
  const std::string dotted = join(use.path, 0, ".");
  const std::string folder = fs::path(from.source().path).parent_path().string();
  std::string& file = known[{folder, use.parents, dotted}];
  if (!file.empty()) {
    return file;
  }
  const size_t rest = after_family(use);
  const auto alias = use.parents == 0 ? aliases().find(rest > 0 ? "std." + join(use.path, rest, ".") : dotted)
                                      : aliases().end();
  file = alias != aliases().end() ? fs::path(alias->second).lexically_normal().string()
                                  : search_module(from, use);
  return file;
}

// Suggests a module with a similar name, from the searched folders or the library's table.
std::string suggested_module(const LoadedModule& from, const UseDecl& use) {
  const std::string dotted = join(use.path, 0, ".");
  const std::string& last = name_of(use.path.back());
  const std::string before(dotted, 0, dotted.size() - last.size());
  SpellingSuggester sibling(last);
  for (const fs::path& base : candidates(from, use)) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(base.parent_path(), ignored)) {
      if (entry.path().extension() == ".spl" || !file_of_path(entry.path()).empty()) {
        sibling.offer(entry.path().stem().string());
      }
    }
  }
  if (!sibling.name().empty()) {
    return "did you mean '" + before + sibling.name() + "'?";
  }
  SpellingSuggester known(dotted);
  if (use.parents == 0) {
    for (const auto& [name, file] : aliases()) {
      known.offer(name);
    }
  }
  return known.hint();
}

std::string missing_module_hint(const LoadedModule& from, const UseDecl& use) {
  if (use.path.empty()) {
    return "";
  }
  std::string hint = suggested_module(from, use);
  if (!hint.empty()) {
    return hint;
  }
  std::string folders;
  std::set<std::string> listed;
  for (const fs::path& base : candidates(from, use)) {
    if (const std::string folder = base.parent_path().string(); listed.insert(folder).second) {
      folders += (folders.empty() ? "" : ", ") + (folder.empty() ? "." : folder);
    }
  }
  const std::string& name = name_of(use.path.back());
  return "searched for " + name + ".spl, " + name + "/mod.spl and " + name + "/__init__.spl in " + folders +
         "; import a Python package with 'use python as py' and py.import(\"" + join(use.path, 0, ".") +
         "\")";
}

void collect_uses(const std::vector<StmtPtr>& statements, std::vector<const UseDecl*>& uses) {
  for (const auto& stmt : statements) {
    if (stmt->kind == StmtKind::kUse) {
      uses.push_back(&as<UseDecl>(*stmt));
    }
  }
}

bool below_library(const std::string& path) {
  const std::string& real = real_path(path);
  return std::any_of(library_roots().begin(), library_roots().end(),
                     [&real](const std::string& root) { return real.starts_with(real_path(root) + "/"); });
}

// Sets the error's position to `span` in the module.
void locate(SimpleError& error, const LoadedModule& module, const SourceSpan& span) {
  error.stack = current_thread().stack();
  error.stack.insert(error.stack.begin(), {"module", module.source().path, span.line, span.column,
                                           module.is_library, &module.source()});
  error.located = true;
}

void bind_import(LoadedModule& module, LoadedModule& from, Symbol name, Symbol alias) {
  module.imports[alias] = {&from, name};
}

// The modules that other ones import by a name instead of a file.
std::unordered_map<std::string, LoadedModule*>& text_modules() {
  static auto& loaded = *new std::unordered_map<std::string, LoadedModule*>;
  return loaded;
}

// Cells of a notebook share a module, which an earlier cell may have let import torch.
Literals literals_of(const LoadedModule& module) {
  return module.is_library   ? Literals::kSimple
         : module.uses_torch ? Literals::kPython
                             : Literals::kPythonIfTorch;
}

}  // namespace

const Proto* prepare(LoadedModule& module) {
  module.tree() = parse(module.source(), literals_of(module));
  if (!module.tree().ok()) {
    std::string report;
    for (const Diagnostic& diagnostic : module.tree().diagnostics) {
      report += render(diagnostic, module.source());
    }
    throw LoadError{report};
  }
  if (module.source().path.ends_with("_spec.spl")) {
    UseDecl spec;
    spec.path = {intern("std"), intern("spec")};
    spec.everything = true;
    import_into(module, spec);
  }
  note_torch(module);
  bind_root_packages(module);
  std::vector<const UseDecl*> uses;
  collect_uses(module.tree().module.statements, uses);
  for (const UseDecl* use : uses) {
    import_into(module, *use);
  }
  import_exported_siblings(module);
  const Proto* body = nullptr;
  try {
    body = compile_module(module);
  } catch (const CompileError& error) {
    throw LoadError{render({error.span, error.message, error.hint}, module.source())};
  }
  std::stable_sort(module.warnings.begin(), module.warnings.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.span.start < b.span.start; });
  for (const Diagnostic& warning : module.warnings) {
    print_diagnostic(render(warning, module.source(), "warning"));
  }
  return body;
}

LoadedModule& add_module(const std::string& key, std::string name, std::string path, std::string text) {
  auto module = std::make_unique<LoadedModule>();
  module->name = std::move(name);
  module->source().id = static_cast<uint32_t>(modules().size());
  module->source().path = std::move(path);
  module->source().text = std::move(text);
  module->is_library = below_library(module->source().path);
  module->is_program = key == program_file();
  module->file = key.starts_with('/') ? key : "";
  LoadedModule& added = *module;
  modules()[key] = std::move(module);
  return added;
}

namespace {

// Imports come first, then the module itself.
void start(LoadedModule& module) {
  try {
    module.body = prepare(module);
    module.state = LoadedModule::State::kRunning;
    const Ref body = Ref::owned(make_closure(module.body));
    release(current_thread().call(body.get(), nullptr, 0));
    module.state = LoadedModule::State::kReady;
  } catch (...) {
    module.state = LoadedModule::State::kFailed;
    throw;
  }
}

// Renames a failed module, so that an embedding program can load the corrected file. Functions of the failed
// module may still be in use.
void rename_failed(const std::string& key) {
  auto failed = modules().extract(key);
  failed.key() += " before module " + std::to_string(modules().size());
  modules().insert(std::move(failed));
}

LoadedModule& load_file(const std::string& path, const std::string& name) {
  const std::string& key = real_path(path);
  if (const auto found = modules().find(key); found != modules().end()) {
    if (found->second->state != LoadedModule::State::kFailed) {
      found->second->is_imported = true;
      return *found->second;
    }
    if (!is_embedded()) {
      fail("module '" + found->second->name + "' failed to load earlier");
    }
    rename_failed(key);
  }
  std::string text;
  if (const std::string reason = read_file(path, text); !reason.empty()) {
    throw LoadError{path + ": error: cannot read file: " + reason + "\n"};
  }
  LoadedModule& module = add_module(key, name, path, std::move(text));
  start(module);
  return module;
}

}  // namespace

const std::vector<std::string>& library_roots() {
  static const std::vector<std::string> roots = [] {
    std::vector<std::string> made;
    if (const char* list = std::getenv("SIMPLE_LIB")) {
      std::istringstream parts(list);
      for (std::string part; std::getline(parts, part, ':');) {
        if (!part.empty()) {
          made.push_back(part);
        }
      }
    }
    made.push_back((fs::path(installation_folder()) / "share/simple").string());
    return made;
  }();
  return roots;
}

namespace {

LoadedModule& library_module(const std::string& path) {
  for (const std::string& root : library_roots()) {
    if (const std::string file = file_of_path(fs::path(root) / path); !file.empty()) {
      return load_file(file, path);
    }
  }
  throw LoadError{path + ".spl: error: the library does not have this file\n"};
}

}  // namespace

Value library_function(const char* path, const char* name) {
  // Builtins call such functions in loops, and the search for a file takes longer than most calls.
  static auto& ready = *new std::unordered_map<std::string, LoadedModule*>;
  if (const auto found = ready.find(path); found != ready.end()) {
    return found->second->member(intern(name));
  }
  LoadedModule& module = library_module(path);
  if (module.state == LoadedModule::State::kReady) {
    ready[path] = &module;
  }
  return module.member(intern(name));
}

LoadedModule& load_program(const std::string& path) {
  program_folder() = fs::path(path).parent_path();
  program_file() = real_path(path);
  return load_module_file(path);
}

const std::string& program_path() { return program_file(); }

LoadedModule& load_module_file(const std::string& path) {
  return load_file(path, fs::path(path).stem().string());
}

LoadedModule& load_source(const std::string& name, std::string text,
                          const std::vector<std::pair<Symbol, Value>>& globals) {
  LoadedModule& module = add_module(name, name, name, std::move(text));
  for (const auto& [symbol, value] : globals) {
    module.define(symbol, retained(value));
  }
  start(module);
  return module;
}

void make_importable(LoadedModule& module, const std::string& name) { text_modules()[name] = &module; }

namespace {

// `from . import a, b`: each name is a module in the same folder.
void import_siblings(LoadedModule& module, const UseDecl& use) {
  for (const ImportName& name : use.names) {
    UseDecl one;
    one.span = name.span;
    one.parents = use.parents;
    one.path = {name.name};
    one.alias = name.alias;
    import_into(module, one);
  }
}

// Adds the importing statement to an error that loading the module raises.
LoadedModule& load_for(const LoadedModule& module, const UseDecl& use, const std::string& file,
                       const std::string& name) {
  const StackEntry entry{"module",        module.source().path, use.span.line,
                         use.span.column, module.is_library,    &module.source()};
  try {
    return load_file(file, name);
  } catch (SimpleError& error) {
    if (!error.located) {
      locate(error, module, use.span);
      throw;
    }
    const auto callers = static_cast<std::ptrdiff_t>(current_thread().stack().size());
    error.stack.insert(error.stack.end() - std::min(callers, std::ssize(error.stack)), entry);
    throw;
  } catch (LoadError& error) {
    error.report += "  imported by " + entry.file + ":" + std::to_string(entry.line) + "\n";
    throw;
  }
}

// Imports a name that the module does not define from its __getattr__.
void import_computed(LoadedModule& module, LoadedModule& from, const ImportName& name, Symbol alias) {
  try {
    module.define(alias, current_thread().module_member(from, name.name));
  } catch (SimpleError& error) {
    if (!error.located) {
      locate(error, module, name.span);
    }
    throw;
  }
}

// The module of text with this name, as sys.modules of Python comes before files; null without one.
LoadedModule* text_module(const LoadedModule& module, const UseDecl& use, const std::string& dotted) {
  if (module.is_library || use.parents > 0) {
    return nullptr;
  }
  const auto found = text_modules().find(dotted);
  return found == text_modules().end() ? nullptr : found->second;
}

// `import math` of a program that comes from Python is `use std.math` if nothing else has the name. Empty if
// std has none either.
std::string file_in_library(LoadedModule& module, const UseDecl& use) {
  UseDecl library;
  library.path = {intern("std")};
  library.path.insert(library.path.end(), use.path.begin(), use.path.end());
  return use.parents == 0 ? find_module(module, library) : "";
}

// The module that `use` refers to, after it was loaded.
ResolvedImport load_imported(LoadedModule& module, const UseDecl& use) {
  const std::string dotted = std::string(use.parents, '.') + join(use.path, 0, ".");
  if (LoadedModule* text = text_module(module, use, dotted)) {
    return {text};
  }
  const std::string file = find_module(module, use);
  if (!file.empty()) {
    return {&load_for(module, use, file, dotted)};
  }
  if (use.path.size() > 1 && use.names.empty() && !use.everything) {
    // `use a.b.name` without braces: the last part may be a name in the module a.b.
    UseDecl outer;
    outer.parents = use.parents;
    outer.path.assign(use.path.begin(), use.path.end() - 1);
    if (LoadedModule* text = text_module(module, outer, join(outer.path, 0, "."))) {
      return {text, use.path.back()};
    }
    const std::string outer_file = find_module(module, outer);
    if (!outer_file.empty()) {
      return {&load_for(module, use, outer_file, join(outer.path, 0, ".")), use.path.back()};
    }
  }
  if (const std::string in_library = file_in_library(module, use); !in_library.empty()) {
    return {&load_for(module, use, in_library, "std." + dotted)};
  }
  SimpleError error("no module named '" + dotted + "'", missing_module_hint(module, use));
  locate(error, module, use.span);
  throw error;
}

void bind_namespace(LoadedModule& module, LoadedModule& from, const UseDecl& use) {
  const Symbol binding = use.alias != kNoSymbol ? use.alias : use.path.back();
  const bool imports_names = !use.names.empty() || use.everything;
  const bool is_taken =
      module.names.contains(binding) || module.imports.contains(binding) || builtins().contains(binding);
  // `from random import *` of a program that comes from Python imports the function random().
  const bool is_replaced =
      use.everything && module.uses_torch && !module.is_library && !from.member(binding).is_missing();
  if (!imports_names || !(is_taken || is_replaced)) {
    module.namespaces.insert(binding);
    module.define(binding, Value::object(&from));
  }
}

Symbol alias_of(const ImportName& name) { return name.alias == kNoSymbol ? name.name : name.alias; }

void import_name(LoadedModule& module, LoadedModule& from, const ImportName& name) {
  const Symbol alias = alias_of(name);
  if (from.state == LoadedModule::State::kReady && from.member(name.name).is_missing()) {
    import_computed(module, from, name, alias);
    return;
  }
  bind_import(module, from, name.name, alias);
  // The imported name replaces a namespace of the same name.
  if (const auto found = module.names.find(alias); found != module.names.end()) {
    assign(module.slots[found->second], Value::missing());
  }
}

void reexport(LoadedModule& module, const LoadedModule& from, const UseDecl& use) {
  for (const ImportName& name : use.names) {
    module.exports.insert(alias_of(name));
  }
  if (use.everything) {
    module.exports.insert(from.exports.begin(), from.exports.end());
  }
}

void bind_imported(LoadedModule& module, const UseDecl& use, const ResolvedImport& imported) {
  LoadedModule* from = imported.module;
  const Symbol member = imported.member;
  if (member != kNoSymbol) {
    import_name(module, *from, {.name = member, .alias = use.alias, .span = use.span});
    return;
  }
  bind_namespace(module, *from, use);
  if (use.everything) {
    module.wildcards.push_back(from);
  }
  for (const ImportName& name : use.names) {
    import_name(module, *from, name);
  }
  if (use.reexport) {
    reexport(module, *from, use);
  }
}

}  // namespace

void import_into(LoadedModule& module, const UseDecl& use) {
  if (use.path.empty()) {
    import_siblings(module, use);
  } else {
    bind_imported(module, use, load_imported(module, use));
  }
}

void run_import(const Proto& proto, size_t index) {
  const UseDecl& use = *proto.uses[index];
  proto.resolved_uses.resize(proto.uses.size());
  ResolvedImport& resolved = proto.resolved_uses[index];
  if (resolved.module != nullptr) {
    bind_imported(*proto.module, use, resolved);
    return;
  }
  if (use.path.empty()) {
    import_siblings(*proto.module, use);
    return;
  }
  const ResolvedImport imported = load_imported(*proto.module, use);
  bind_imported(*proto.module, use, imported);
  if (imported.module->state == LoadedModule::State::kReady) {
    proto.resolved_uses[index] = imported;
  }
}

}  // namespace spl
