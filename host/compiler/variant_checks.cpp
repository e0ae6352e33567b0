// Patterns that never match: unknown variants and too many values.
#include "host/compiler/compiler.h"
#include "host/values/spelling_suggester.h"

namespace spl {

// The enum of a qualified pattern, or null if it is not known at compile time.
const Enum* FunctionCompiler::qualified_enum(const VariantPattern& pattern) {
  if (pattern.path.size() != 2 || find_local(pattern.path[0]) != nullptr) {
    return nullptr;
  }
  const Value type = module_.lookup(pattern.path[0]);
  return type.is(Kind::kEnum) ? as_object<Enum>(type) : nullptr;
}

// `Enum.Variant(…)` must name a variant and have at most as many parts.
void FunctionCompiler::check_variant(const VariantPattern& pattern) {
  const Enum* type = qualified_enum(pattern);
  if (type == nullptr) {
    return;
  }
  const std::string name = name_of(type->name);
  const int index = type->index_of(pattern.path.back());
  if (index < 0) {
    SpellingSuggester suggester(name_of(pattern.path.back()));
    for (const VariantInfo& variant : type->variants) {
      suggester.offer(name_of(variant.name));
    }
    error_at(pattern.span, "enum " + name + " has no variant '" + name_of(pattern.path.back()) + "'",
             suggester.hint());
  }
  const uint32_t arity = type->variants[static_cast<size_t>(index)].arity;
  if (pattern.fields.size() > arity) {
    error_at(pattern.span, name + "." + name_of(pattern.path.back()) + " has " + std::to_string(arity) +
                               (arity == 1 ? " value" : " values") + ", but the pattern has " +
                               std::to_string(pattern.fields.size()));
  }
}

// `Variant(…)` must name a variant or a type. All of them are known only after the whole module.
void FunctionCompiler::note_variant(const VariantPattern& pattern) {
  if (pattern.path.size() == 1 && find_local(pattern.path[0]) == nullptr) {
    module_.bare_variants.emplace(pattern.path[0], pattern.span);
  }
}

void warn_unknown_variants(LoadedModule& module) {
  for (const auto& [name, span] : module.bare_variants) {
    if (is_variant_name(name) || module.knows(module.unaliased(name))) {
      continue;
    }
    SpellingSuggester suggester(name_of(name));
    offer_variant_names(suggester);
    for (const auto& [known, slot] : module.names) {
      if (module.slots[slot].is(Kind::kRecord) || module.slots[slot].is(Kind::kEnum)) {
        suggester.offer(name_of(known));
      }
    }
    module.warnings.push_back({span,
                               "unknown variant or type '" + name_of(name) + "': the pattern never matches",
                               suggester.hint()});
  }
}

}  // namespace spl
