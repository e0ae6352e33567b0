// Upstream's packages list the public names of their folder (`export Heap, heap_init`) and import nothing.
#include "host/modules/package_exports.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/modules/loader.h"
#include "host/syntax/visit.h"

namespace spl {

namespace {

namespace fs = std::filesystem;

// Adds the names that a statement of a module declares.
struct DeclaredNames {
  std::unordered_set<Symbol>& names;

  void operator()(const Stmt&) const {}
  void operator()(const FunctionDecl& decl) const { names.insert(decl.info.name); }
  void operator()(const RecordDecl& decl) const { names.insert(decl.info.name); }
  void operator()(const EnumDecl& decl) const { names.insert(decl.info.name); }
  void operator()(const TraitDecl& decl) const { names.insert(decl.info.name); }
  void operator()(const TypeAliasDecl& decl) const { names.insert(decl.info.name); }
  void operator()(const BindStmt& bind) const {
    if (bind.pattern->kind == PatternKind::kBinding) {
      names.insert(as<BindingPattern>(*bind.pattern).name);
    }
  }
  void operator()(const AssignStmt& assign) const {
    for (const auto& target : assign.targets) {
      if (target->kind == ExprKind::kName) {
        names.insert(as<NameExpr>(*target).name);
      }
    }
  }
};

std::unordered_set<Symbol> declared_names(const Module& module) {
  std::unordered_set<Symbol> names;
  for (const auto& stmt : module.statements) {
    visit(*stmt, DeclaredNames{names});
  }
  return names;
}

bool is_package(const fs::path& file) { return file.stem() == "mod" || file.stem() == "__init__"; }

bool is_module_of(const fs::path& folder, Symbol name) {
  const fs::path base = folder / name_of(name);
  std::error_code ignored;
  return fs::is_regular_file(base.string() + ".spl", ignored) ||
         fs::is_regular_file(base / "mod.spl", ignored) ||
         fs::is_regular_file(base / "__init__.spl", ignored);
}

struct Sibling {
  Symbol name;
  std::unordered_set<Symbol> declares;
};

// The other files of the folder, by name, without those that do not parse.
std::vector<Sibling> siblings_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".spl" && !is_package(entry.path())) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<Sibling> siblings;
  for (const fs::path& file : files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    const SourceFile source{0, file.string(), text.str()};
    if (const ParseResult tree = parse(source); tree.ok()) {
      siblings.push_back({intern(file.stem().string()), declared_names(tree.module)});
    }
  }
  return siblings;
}

// Imports a file of the folder, or one name of it.
void import_sibling(LoadedModule& module, Symbol sibling, const ImportName& name, bool whole) {
  UseDecl use;
  use.span = name.span;
  use.parents = 1;
  use.path = {sibling};
  if (!whole) {
    use.names = {name};
  }
  import_into(module, use);
}

std::vector<ImportName> undeclared_exports(LoadedModule& module) {
  std::vector<ImportName> names;
  std::unordered_set<Symbol> declared;
  for (const auto& stmt : module.tree().module.statements) {
    if (stmt->kind != StmtKind::kExport) {
      continue;
    }
    for (const ImportName& name : as<ExportDecl>(*stmt).names) {
      if (declared.empty()) {
        declared = declared_names(module.tree().module);
      }
      if (!declared.contains(name.name) && !module.knows(name.name)) {
        names.push_back(name);
        declared.insert(name.name);
      }
    }
  }
  return names;
}

}  // namespace

void import_exported_siblings(LoadedModule& module) {
  const fs::path file(module.source().path);
  if (!is_package(file)) {
    return;
  }
  const std::vector<ImportName> names = undeclared_exports(module);
  if (names.empty()) {
    return;
  }
  const fs::path folder = file.parent_path();
  const std::vector<Sibling> siblings = siblings_in(folder);
  for (const ImportName& name : names) {
    const auto owner = std::find_if(siblings.begin(), siblings.end(), [&](const Sibling& sibling) {
      return sibling.declares.contains(name.name);
    });
    if (owner != siblings.end()) {
      import_sibling(module, owner->name, name, false);
    } else if (is_module_of(folder, name.name)) {
      import_sibling(module, name.name, name, true);
    }
  }
}

}  // namespace spl
