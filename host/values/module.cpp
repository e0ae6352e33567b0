// Name lookup through imports.
#include "host/values/module.h"

#include <cctype>

namespace spl {

SessionWatch session_watch;

uint32_t LoadedModule::slot(Symbol symbol) {
  const auto [found, added] = names.emplace(symbol, static_cast<uint32_t>(slots.size()));
  if (added) {
    slots.push_back(Value::missing());
    slot_names.push_back(symbol);
  }
  return found->second;
}

void ModuleNames::forget(Symbol name) {
  imports.erase(name);
  namespaces.erase(name);
  aliases.erase(name);
  fixed.erase(name);
  searches.erase(name);
  uniques.erase(name);
  variables.erase(name);
}

void LoadedModule::define(Symbol symbol, Value owned) {
  const uint32_t at = slot(symbol);
  assign(slots[at], owned);
}

void LoadedModule::note_change(uint32_t slot) {
  if (changed.size() <= slot) {
    changed.resize(slots.size());
  }
  changed[slot] = true;
  if (!session_watch.has_changes.exchange(true, std::memory_order_relaxed)) {
    if (void (*const on_change)() = session_watch.on_change.load()) {
      on_change();
    }
  }
}

Value LoadedModule::own(Symbol symbol) const {
  const auto found = names.find(symbol);
  return found == names.end() ? Value::missing() : slots[found->second];
}

void LoadedModule::release_variables() {
  for (size_t i = slots.size(); i-- > 0;) {
    if (binds(slot_names[i])) {
      assign(slots[i], Value::missing());
    }
  }
}

bool LoadedModule::is_public(Symbol symbol) const {
  if (!exports.empty()) {
    return exports.contains(symbol);
  }
  return !name_of(symbol).starts_with("_") && !imports.contains(symbol);
}

bool LoadedModule::knows(Symbol symbol) { return declares(symbol) || builtins().contains(symbol); }

Value LoadedModule::lookup_here(Symbol symbol) {
  if (const auto found = names.find(symbol); found != names.end() && !slots[found->second].is_missing()) {
    return slots[found->second];
  }
  if (in_lookup_) {
    return Value::missing();
  }
  in_lookup_ = true;
  Value value = Value::missing();
  if (const auto found = imports.find(symbol); found != imports.end()) {
    value = found->second.from->lookup_here(found->second.name);
  }
  for (size_t i = 0; i < wildcards.size() && value.is_missing(); ++i) {
    if (wildcards[i]->is_public(symbol)) {
      value = wildcards[i]->lookup_here(symbol);
    }
  }
  in_lookup_ = false;
  return value;
}

// Follows aliases and imports from `symbol`. Returns the last name; sets `type` to the type of the last
// alias.
Symbol LoadedModule::follow(Symbol symbol, const TypeExpr*& type) const {
  constexpr int kMaxChain = 16;
  const LoadedModule* module = this;
  for (int i = 0; i < kMaxChain; ++i) {
    if (const auto alias = module->aliases.find(symbol); alias != module->aliases.end()) {
      type = alias->second;
      if (type->kind != TypeKind::kName || type->path.size() != 1) {
        return symbol;
      }
      symbol = type->path[0];
    } else if (const auto import = module->imports.find(symbol); import != module->imports.end()) {
      module = import->second.from;
      symbol = import->second.name;
    } else {
      break;
    }
  }
  return symbol;
}

const TypeExpr& LoadedModule::unaliased(const TypeExpr& type) const {
  const TypeExpr* found = &type;
  if (type.kind == TypeKind::kName && type.path.size() == 1 && type.modifiers.empty()) {
    follow(type.path[0], found);
  }
  return *found;
}

Symbol LoadedModule::unaliased(Symbol symbol) const {
  const TypeExpr* ignored = nullptr;
  return follow(symbol, ignored);
}

Value LoadedModule::lookup(Symbol symbol) {
  const Value value = lookup_here(symbol);
  if (!value.is_missing()) {
    return value;
  }
  const auto found = builtins().find(symbol);
  return found == builtins().end() ? Value::missing() : found->second;
}

std::unordered_map<Symbol, Value>& builtins() {
  static std::unordered_map<Symbol, Value> names;
  return names;
}

namespace {

/// Whether the text has the name behind `//`, as in a comment of other languages.
bool is_behind_slashes(const std::string& text, const std::string& name) {
  for (size_t at = text.find("//"); at != std::string::npos; at = text.find("//", at + 2)) {
    const size_t word = text.find_first_not_of(" \t", at + 2);
    if (word == std::string::npos || text.compare(word, name.size(), name) != 0) {
      continue;
    }
    const size_t after = word + name.size();
    if (after == text.size() ||
        (std::isalnum(static_cast<unsigned char>(text[after])) == 0 && text[after] != '_')) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string LoadedModule::hidden_name_hint(Symbol name) const {
  if (bare_fields.contains(name)) {
    return "write 'self." + name_of(name) + "' for the field";
  }
  if (unit != nullptr && is_behind_slashes(unit->source.text, name_of(name))) {
    return "comments start with '#'";
  }
  const auto ended = ended_locals.find(name);
  return ended == ended_locals.end()
             ? ""
             : "the variable of line " + std::to_string(ended->second) +
                   " ends with its block; assign it without 'var' or 'val', or declare it before the block";
}

}  // namespace spl
