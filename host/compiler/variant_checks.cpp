// Patterns that can never fit: variants that their enum does not have, or that have fewer values.
#include "host/compiler/compiler.h"
#include "host/values/spelling_suggester.h"

namespace spl {

// The enum that a qualified pattern names, if it is known already.
const Enum* FunctionCompiler::qualified_enum(const VariantPattern& pattern) {
  if (pattern.path.size() != 2 || find_local(pattern.path[0]) != nullptr) {
    return nullptr;
  }
  const Value type = module_.lookup(pattern.path[0]);
  return type.is(Kind::kEnum) ? as_object<Enum>(type) : nullptr;
}

// `Enum.Variant(…)` must name a variant, and no more parts than that has.
void FunctionCompiler::check_variant(const VariantPattern& pattern) {
  const Enum* type = qualified_enum(pattern);
  if (type == nullptr) {
    return;
  }
  const std::string name = name_of(type->name);
  const int index = type->index_of(pattern.path.back());
  if (index < 0) {
    SpellingSuggester nearest(name_of(pattern.path.back()));
    for (const VariantInfo& variant : type->variants) {
      nearest.offer(name_of(variant.name));
    }
    refuse(pattern.span, name + " has no variant " + name_of(pattern.path.back()), nearest.hint());
  }
  const uint32_t arity = type->variants[static_cast<size_t>(index)].arity;
  if (pattern.fields.size() > arity) {
    refuse(pattern.span, name + "." + name_of(pattern.path.back()) + " has " + std::to_string(arity) +
                             (arity == 1 ? " value" : " values") + ", the pattern takes " +
                             std::to_string(pattern.fields.size()));
  }
}

// `Variant(…)` must be of some enum, or a type; which there are is known only at the module's end.
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
    SpellingSuggester nearest(name_of(name));
    offer_variant_names(nearest);
    for (const auto& [known, slot] : module.names) {
      if (module.slots[slot].is(Kind::kRecord) || module.slots[slot].is(Kind::kEnum)) {
        nearest.offer(name_of(known));
      }
    }
    module.warnings.push_back(
        {span, "no enum has a variant " + name_of(name) + " and no type that name: this never fits",
         nearest.hint()});
  }
}

}  // namespace spl
