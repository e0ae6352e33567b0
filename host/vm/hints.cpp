// Hints of errors about names.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "host/vm/hints.h"

#include "host/compiler/bytecode.h"
#include "host/syntax/parse.h"
#include "host/values/conversions.h"
#include "host/values/error.h"
#include "host/values/module.h"
#include "host/values/spelling_suggester.h"
#include "host/vm/failure.h"
#include "host/vm/machine_hooks.h"
#include "host/vm/natives.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

void offer_methods(SpellingSuggester& nearest, const Type& type) {
  for (const auto& [name, method] : type.methods) {
    nearest.offer(name_of(name));
  }
  for (const auto& [name, value] : type.statics) {
    nearest.offer(name_of(name));
  }
}

void offer_variants(SpellingSuggester& nearest, const Enum& type) {
  for (const VariantInfo& variant : type.variants) {
    nearest.offer(name_of(variant.name));
  }
}

void offer_globals(SpellingSuggester& nearest, LoadedModule& module) {
  for (const auto& [name, slot] : module.names) {
    if (!module.slots[slot].is_missing()) {
      nearest.offer(name_of(name));
    }
  }
  for (const auto& [name, import] : module.imports) {
    nearest.offer(name_of(name));
  }
}

}  // namespace

std::string wrong_count(int64_t min, int64_t max, int64_t count) {
  std::string expected = max < 0 ? "takes at least " + std::to_string(min) : "takes " + std::to_string(min);
  if (max > min) {
    expected += " to " + std::to_string(max);
  }
  return expected + (std::max(min, max) == 1 ? " argument, got " : " arguments, got ") +
         std::to_string(count);
}

namespace {

// Names of modules that programs use without importing them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kImports{
    {{"torch", "use torch"},
     {"copy", "use std.copy"},
     {"datetime", "use std.datetime"},
     {"json", "use std.json"},
     {"math", "use std.math"},
     {"random", "use std.random"},
     {"re", "use std.regex as re"},
     {"regex", "use std.regex"},
     {"time", "use std.time"},
     {"nn", "use torch.nn"},
     {"optim", "use torch.optim"},
     {"F", "use torch.nn.functional as F"},
     {"vision", "use vision"},
     {"python", "use python"},
     {"py", "use python as py"}}};

// Statements and functions of other languages, and what is written instead.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kStatements{
    {{"puts", "use print"},
     {"echo", "use print"},
     {"printf", "use print, with the values in braces: print \"{x:.2f}\""},
     {"foreach", "use for"},
     {"throw", "use raise"},
     {"del", "memory is freed with the last reference; xs.remove(i) and d.remove(key) remove an element"}}};

std::string import_hint(std::string_view name) {
  for (const auto& [module, statement] : kImports) {
    if (module == name) {
      return "add '" + std::string(statement) + "' at the top";
    }
  }
  for (const auto& [keyword, instead] : kStatements) {
    if (keyword == name) {
      return std::string(instead);
    }
  }
  return "";
}

}  // namespace

std::string name_hint(LoadedModule& module, Symbol name) {
  if (std::string hint = module.hidden_name_hint(name); !hint.empty()) {
    return hint;
  }
  if (std::string hint = import_hint(name_of(name)); !hint.empty()) {
    return hint;
  }
  SpellingSuggester nearest(name_of(name));
  if (const auto local = module.near_locals.find(name); local != module.near_locals.end()) {
    nearest.offer(local->second);
  }
  offer_globals(nearest, module);
  for (LoadedModule* other : module.wildcards) {
    for (const auto& [theirs, slot] : other->names) {
      if (other->is_public(theirs)) {
        nearest.offer(name_of(theirs));
      }
    }
  }
  for (const auto& [builtin, value] : builtins()) {
    nearest.offer(name_of(builtin));
  }
  if (!nearest.name().empty()) {
    return nearest.hint();
  }
  const std::string_view keyword = closest_keyword(name_of(name));
  return keyword.empty() ? "" : "did you mean '" + std::string(keyword) + "'?";
}

std::string member_hint(Value object, Symbol name) {
  if (is_none(object)) {
    return "the value is nil; ?. returns nil for a member of nil";
  }
  SpellingSuggester nearest(name_of(name));
  if (object.is(Kind::kInstance)) {
    const Record& record = *as_object<Instance>(object)->record;
    for (const FieldInfo& field : record.fields) {
      nearest.offer(name_of(field.name));
    }
    offer_methods(nearest, record);
  } else if (object.is(Kind::kEnumValue)) {
    for (const Symbol field : as_object<EnumValue>(object)->info().field_names) {
      nearest.offer(name_of(field));
    }
    offer_methods(nearest, *as_object<EnumValue>(object)->type);
  }
  offer_builtin_methods(object, nearest);
  return nearest.hint();
}

std::string static_hint(const Type& type, Symbol name) {
  if (type.kind == Kind::kRecord && static_cast<const Record&>(type).field_index.contains(name)) {
    return "each instance has a field of this name; 'static val " + name_of(name) +
           " = …' declares a value of the class";
  }
  SpellingSuggester nearest(name_of(name));
  if (type.kind == Kind::kEnum) {
    offer_variants(nearest, static_cast<const Enum&>(type));
  }
  offer_methods(nearest, type);
  return nearest.hint();
}

std::string parameter_hint(const Proto& proto, Symbol name) {
  SpellingSuggester nearest(name_of(name));
  for (size_t i = proto.is_method ? 1 : 0; i < proto.parameters.size(); ++i) {
    nearest.offer(name_of(proto.parameters[i]));
  }
  return nearest.hint();
}

std::string parameters_hint(const Proto& proto) {
  std::string all;
  for (int i = proto.is_method ? 1 : 0; i < static_cast<int>(proto.parameters.size()); ++i) {
    const std::string& name = name_of(proto.parameters[static_cast<size_t>(i)]);
    const bool may_miss = proto.has_default[static_cast<size_t>(i)];
    all += all.empty() ? "" : ", ";
    all += i == proto.only_named ? "*, " : "";
    all += i == proto.rest ? name + "..." : i == proto.named ? "**" + name : may_miss ? name + "?" : name;
  }
  return all.empty() ? "it takes no arguments" : "it takes (" + all + ")";
}

std::string field_hint(const Record& record, Symbol name) {
  SpellingSuggester nearest(name_of(name));
  for (const FieldInfo& field : record.fields) {
    nearest.offer(name_of(field.name));
  }
  return nearest.hint();
}

namespace {

// The names of a module's __getattr__, which its function __dir__ lists.
void offer_computed(SpellingSuggester& nearest, LoadedModule& module) {
  static const Symbol hook = intern("__dir__");
  const Value lists = module.own(hook);
  if (lists.is_missing()) {
    return;
  }
  const Ref names = Ref::owned(current_thread().call(lists, nullptr, 0));
  current_thread().each(names.get(), [&](Value name) {
    nearest.offer(expect_text(name, "a name of __dir__"));
    return true;
  });
}

}  // namespace

std::string export_hint(LoadedModule& module, Symbol name) {
  SpellingSuggester nearest(name_of(name));
  for (const auto& [theirs, slot] : module.names) {
    if (module.is_public(theirs) && !module.slots[slot].is_missing()) {
      nearest.offer(name_of(theirs));
    }
  }
  for (const Symbol exported : module.exports) {
    nearest.offer(name_of(exported));
  }
  offer_computed(nearest, module);
  return nearest.hint();
}

void fail_taken(Symbol name) {
  fail("'" + name_of(name) + "' is being changed by one of its methods", "use self in that method");
}

namespace {

// In a circular import, the module that was imported first finishes last.
void fail_if_unfinished(const LoadedModule& from, Symbol name) {
  if (from.state == LoadedModule::State::kLoading || from.state == LoadedModule::State::kRunning) {
    fail("cannot import '" + name_of(name) + "' from module " + from.name + ": it is not initialized yet",
         "circular import: use the name in a function, or move it to a third module");
  }
}

}  // namespace

void fail_undefined(LoadedModule& module, Symbol name) {
  if (const auto import = module.imports.find(name); import != module.imports.end()) {
    fail_if_unfinished(*import->second.from, import->second.name);
  }
  if (module.binds(name)) {
    fail("'" + name_of(name) + "' is used before assignment");
  }
  fail("'" + name_of(name) + "' is not defined", name_hint(module, name));
}

std::string reason_of_absence(const std::string& owner, Symbol name) {
  const Value function = machine_hooks().library_function("torch/absent_names", "reason");
  const Ref arguments[] = {Ref::owned(make_text(owner)), Ref::owned(make_text(name_of(name)))};
  const Value values[] = {arguments[0].get(), arguments[1].get()};
  const Ref reason = Ref::owned(current_thread().call(function, values, 2));
  return reason.get().is_nil() ? "" : " (" + expect_text(reason.get(), "the reason of an absent name") + ")";
}

void fail_no_member(LoadedModule& module, Symbol name, const std::string& module_name) {
  const bool is_of_torch = module.is_library && (module_name + ".").starts_with("torch.");
  const std::string reason = is_of_torch ? reason_of_absence(module_name, name) : "";
  if (reason.empty() && module.hides(name) && module.has(name)) {
    fail("module " + module_name + " does not export " + name_of(name));
  }
  fail_if_unfinished(module, name);
  fail("module " + module_name + " has no " + name_of(name) + reason, export_hint(module, name));
}

}  // namespace spl
