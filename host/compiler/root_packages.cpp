// Python's `import a.b` binds `a`, and ours `b`.
#include "host/compiler/root_packages.h"

#include <algorithm>
#include <array>

namespace spl {

namespace {

bool is_plain_import(const Stmt& stmt) {
  if (stmt.kind != StmtKind::kUse) {
    return false;
  }
  const auto& use = as<UseDecl>(stmt);
  return use.parents == 0 && use.alias == kNoSymbol && use.names.empty() && !use.everything && !use.reexport;
}

}  // namespace

void note_torch(LoadedModule& module) {
  static const Symbol torch = intern("torch");
  for (const auto& stmt : module.tree().module.statements) {
    const bool imports = stmt->kind == StmtKind::kUse && !as<UseDecl>(*stmt).path.empty();
    module.uses_torch = module.uses_torch || (imports && as<UseDecl>(*stmt).path[0] == torch);
  }
}

void bind_root_packages(LoadedModule& module) {
  static const std::array<Symbol, 2> packages = {intern("torch"), intern("os")};
  if (!module.uses_torch || module.is_library) {
    return;
  }
  std::vector<StmtPtr>& statements = module.tree().module.statements;
  for (const Symbol package : packages) {
    const auto imports = [&](const StmtPtr& stmt, bool whole) {
      return is_plain_import(*stmt) && as<UseDecl>(*stmt).path[0] == package &&
             (as<UseDecl>(*stmt).path.size() == 1) == whole;
    };
    const auto part = std::find_if(statements.begin(), statements.end(),
                                   [&](const StmtPtr& stmt) { return imports(stmt, false); });
    const bool has_whole = std::any_of(statements.begin(), statements.end(),
                                       [&](const StmtPtr& stmt) { return imports(stmt, true); });
    if (part == statements.end() || has_whole) {
      continue;
    }
    auto use = std::make_unique<UseDecl>();
    use->span = (*part)->span;
    use->path.push_back(package);
    statements.insert(part, std::move(use));
  }
}

}  // namespace spl
