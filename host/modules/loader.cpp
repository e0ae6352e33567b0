// Module names become files by the library's table, then by their path.
#include "host/modules/loader.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <tuple>
#include <unordered_map>

#include "host/installation.h"
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
  static auto& loaded = *new std::map<std::string, std::unique_ptr<LoadedModule>>;  // used to the very end
  return loaded;
}

// The one name of a file or folder, links followed; asked once per folder, as each part costs a call of the
// system.
const std::string& real_path(const std::string& path) {
  static std::unordered_map<std::string, std::string> known;
  if (const auto found = known.find(path); found != known.end()) {
    return found->second;
  }
  std::error_code ignored;
  const fs::path whole(path);
  const bool plain = whole.has_parent_path() && whole.has_filename() && whole.filename() != ".." &&
                     whole.filename() != "." && !fs::is_symlink(whole, ignored);
  // The root of paths is its own parent.
  std::string real = plain && whole.parent_path() != whole
                         ? (fs::path(real_path(whole.parent_path().string())) / whole.filename()).string()
                         : fs::weakly_canonical(whole, ignored).string();
  return known[path] = std::move(real);
}

bool read_file(const std::string& path, std::string& text) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || fs::is_directory(path, ignored)) {
    return false;
  }
  // Not every file tells its size: what a pipe or /proc/ holds is read to its end.
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
  return true;
}

// name -> file, of all roots; earlier roots win.
const std::map<std::string, std::string>& aliases() {
  static const std::map<std::string, std::string> table = [] {
    std::map<std::string, std::string> made;
    for (const std::string& root : library_roots()) {
      std::string text;
      if (!read_file(root + "/modules.sdn", text)) {
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
        throw LoadError{file + ": error: there is no table `modules |name, file|`\n"};
      }
      for (const sdn::Node& row : rows->items) {
        made.emplace(row.items[0].text, root + "/" + row.items[1].text);
      }
    }
    return made;
  }();
  return table;
}

// Where the started program lies: its modules are found from there, whichever folder it was started in.
fs::path& program_folder() {
  static fs::path folder;
  return folder;
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

void add_library_places(const UseDecl& use, std::vector<fs::path>& places) {
  const std::string& head = name_of(use.path[0]);
  for (const std::string& root : library_roots()) {
    places.push_back(fs::path(root) / join(use.path, 0, "/"));
  }
  if (use.path.size() > 1 && (head == "lib" || head == "std")) {
    for (const std::string& root : library_roots()) {
      places.push_back(fs::path(root) / join(use.path, 1, "/"));
    }
  }
}

// Where a module's file may lie, without its ending; in the order in which they are looked at.
std::vector<fs::path> candidates(const LoadedModule& from, const UseDecl& use) {
  const fs::path here = fs::path(from.source.path).parent_path();
  const std::string path = join(use.path, 0, "/");
  if (use.parents > 0) {
    fs::path base = here;
    for (uint32_t i = 1; i < use.parents; ++i) {
      base /= "..";
    }
    return {(base / path).lexically_normal()};
  }
  // The library's own modules mean each other, whatever lies in the folder that a program was started in.
  std::vector<fs::path> found;
  if (from.is_library) {
    add_library_places(use, found);
  }
  found.push_back(here / path);
  if (!from.is_library) {
    found.push_back(program_folder() / path);
  }
  static const fs::path started_in = [] {  // no program changes it; its folder may be gone
    std::error_code gone;
    const fs::path folder = fs::current_path(gone);
    return gone ? fs::path(".") : folder;
  }();
  found.push_back(started_in / path);
  found.push_back(started_in / "lib" / path);
  if (!from.is_library) {
    add_library_places(use, found);
  }
  return found;
}

// "" when nobody has it.
std::string look_for_module(const LoadedModule& from, const UseDecl& use) {
  for (const fs::path& base : candidates(from, use)) {
    if (std::string file = file_of_path(base); !file.empty()) {
      return file;
    }
  }
  return "";
}

// As above, by the library's table first; what was found is remembered.
const std::string& find_module(const LoadedModule& from, const UseDecl& use) {
  static std::map<std::tuple<std::string, uint32_t, std::string>, std::string> known;
  const std::string dotted = join(use.path, 0, ".");
  const std::string folder = fs::path(from.source.path).parent_path().string();
  std::string& file = known[{folder, use.parents, dotted}];
  if (!file.empty()) {
    return file;
  }
  const auto alias = use.parents == 0 ? aliases().find(dotted) : aliases().end();
  file = alias != aliases().end() ? fs::path(alias->second).lexically_normal().string()
                                  : look_for_module(from, use);
  return file;
}

// A module of nearly that name: beside where the file would lie, or in the library's table.
std::string nearest_module(const LoadedModule& from, const UseDecl& use) {
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
  std::string hint = nearest_module(from, use);
  if (!hint.empty()) {
    return hint;
  }
  std::string places;
  std::set<std::string> told;
  for (const fs::path& base : candidates(from, use)) {
    if (const std::string folder = base.parent_path().string(); told.insert(folder).second) {
      places += (places.empty() ? "" : ", ") + (folder.empty() ? "." : folder);
    }
  }
  return "looked for " + name_of(use.path.back()) + ".spl, " + name_of(use.path.back()) + "/mod.spl and " +
         name_of(use.path.back()) + "/__init__.spl in " + places +
         "; a Python package is reached by `use python as py` and py.import(\"" + join(use.path, 0, ".") +
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

// The error is told at a place of the module's text.
void locate(SimpleError& error, const LoadedModule& module, const SourceSpan& span) {
  error.stack = current_thread().stack();
  error.stack.insert(error.stack.begin(),
                     {"module", module.source.path, span.line, span.column, module.is_library});
  error.located = true;
}

void bind_import(LoadedModule& module, LoadedModule& from, Symbol name, Symbol alias) {
  module.imports[alias] = {&from, name};
}

// Imports come first, then the module itself.
void start(LoadedModule& module) {
  try {
    module.tree = parse(module.source);
    if (!module.tree.ok()) {
      std::string report;
      for (const Diagnostic& diagnostic : module.tree.diagnostics) {
        report += render(diagnostic, module.source);
      }
      throw LoadError{report};
    }
    if (module.source.path.ends_with("_spec.spl")) {
      UseDecl spec;
      spec.path = {intern("std"), intern("spec")};
      spec.everything = true;
      import_into(module, spec);
    }
    std::vector<const UseDecl*> uses;
    collect_uses(module.tree.module.statements, uses);
    for (const UseDecl* use : uses) {
      import_into(module, *use);
    }
    try {
      module.body = compile_module(module);
    } catch (const CompileError& error) {
      throw LoadError{render({error.span, error.message, error.hint}, module.source)};
    }
    for (const Diagnostic& warning : module.warnings) {
      tell(render(warning, module.source, "warning"));
    }
    module.state = LoadedModule::State::kRunning;
    const Ref body = Ref::owned(make_closure(module.body));
    release(current_thread().call(body.get(), nullptr, 0));
    module.state = LoadedModule::State::kReady;
  } catch (...) {
    module.state = LoadedModule::State::kFailed;
    throw;
  }
}

LoadedModule& add_module(const std::string& key, std::string name, std::string path, std::string text) {
  auto module = std::make_unique<LoadedModule>();
  module->name = std::move(name);
  module->source.id = static_cast<uint32_t>(modules().size());
  module->source.path = std::move(path);
  module->source.text = std::move(text);
  module->is_library = below_library(module->source.path);
  LoadedModule& added = *module;
  modules()[key] = std::move(module);
  return added;
}

// Another program may mend a file and run it again; functions of the one that failed may be in use.
void put_aside(const std::string& key) {
  auto failed = modules().extract(key);
  failed.key() += " before file " + std::to_string(modules().size());
  modules().insert(std::move(failed));
}

LoadedModule& load_file(const std::string& path, const std::string& name) {
  const std::string& key = real_path(path);
  if (const auto found = modules().find(key); found != modules().end()) {
    if (found->second->state != LoadedModule::State::kFailed) {
      return *found->second;
    }
    if (!is_embedded()) {
      fail("module " + found->second->name + " failed when it was loaded first");
    }
    put_aside(key);
  }
  std::string text;
  if (!read_file(path, text)) {
    throw LoadError{path + ": error: cannot be read\n"};
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

const SourceFile* loaded_source(const std::string& path) {
  for (const auto& [key, module] : modules()) {
    if (module->source.path == path) {
      return &module->source;
    }
  }
  return nullptr;
}

LoadedModule& load_program(const std::string& path) {
  program_folder() = fs::path(path).parent_path();
  return load_file(path, fs::path(path).stem().string());
}

LoadedModule& load_source(const std::string& name, std::string text,
                          const std::vector<std::pair<Symbol, Value>>& given) {
  LoadedModule& module = add_module(name, name, name, std::move(text));
  for (const auto& [symbol, value] : given) {
    module.define(symbol, retained(value));
  }
  start(module);
  return module;
}

namespace {

// `from . import a, b`: each name is a module beside this one.
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

// What fails while a module is loaded tells who asked for it.
LoadedModule& load_for(const LoadedModule& module, const UseDecl& use, const std::string& file,
                       const std::string& name) {
  const StackEntry entry{"module", module.source.path, use.span.line, use.span.column, module.is_library};
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
    error.report += "  loaded by " + entry.file + ":" + std::to_string(entry.line) + "\n";
    throw;
  }
}

// A name that the module does not have: its __getattr__ may give a value.
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

}  // namespace

void import_into(LoadedModule& module, const UseDecl& use) {
  if (use.path.empty()) {
    import_siblings(module, use);
    return;
  }
  const std::string dotted = std::string(use.parents, '.') + join(use.path, 0, ".");
  const std::string file = find_module(module, use);
  LoadedModule* from = nullptr;
  Symbol single = kNoSymbol;
  if (!file.empty()) {
    from = &load_for(module, use, file, dotted);
  } else if (use.path.size() > 1 && use.names.empty() && !use.everything) {
    // `use a.b.name` without braces: the last part may be a name of the module before it.
    UseDecl outer;
    outer.parents = use.parents;
    outer.path.assign(use.path.begin(), use.path.end() - 1);
    const std::string outer_file = find_module(module, outer);
    if (!outer_file.empty()) {
      from = &load_for(module, use, outer_file, join(outer.path, 0, "."));
      single = use.path.back();
    }
  }
  if (from == nullptr) {
    SimpleError error("there is no module " + dotted, missing_module_hint(module, use));
    locate(error, module, use.span);
    throw error;
  }
  if (single != kNoSymbol) {
    bind_import(module, *from, single, use.alias != kNoSymbol ? use.alias : single);
    return;
  }
  const Symbol binding = use.alias != kNoSymbol ? use.alias : use.path.back();
  const bool names_given = !use.names.empty() || use.everything;
  if (!names_given || !module.names.contains(binding)) {
    if (!(names_given && module.imports.contains(binding))) {
      module.define(binding, Value::object(from));
    }
  }
  if (use.everything) {
    module.wildcards.push_back(from);
  }
  for (const ImportName& name : use.names) {
    const Symbol alias = name.alias == kNoSymbol ? name.name : name.alias;
    if (from->state == LoadedModule::State::kReady && from->member(name.name).is_missing()) {
      import_computed(module, *from, name, alias);
      continue;
    }
    bind_import(module, *from, name.name, alias);
    // The namespace of the same name gives way to what was asked for.
    if (const auto found = module.names.find(alias); found != module.names.end()) {
      assign(module.slots[found->second], Value::missing());
    }
  }
  if (use.reexport) {
    for (const ImportName& name : use.names) {
      module.exports.insert(name.alias == kNoSymbol ? name.name : name.alias);
    }
    if (use.everything) {
      for (const Symbol symbol : from->exports) {
        module.exports.insert(symbol);
      }
    }
  }
}

}  // namespace spl
