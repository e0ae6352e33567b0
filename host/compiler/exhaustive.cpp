// Exhaustiveness of a match on an enum: a warning, or an error for a wildcard on a #[strong] enum.
//
// The subject's type is inferred from the arms: the only enum that has all the variants that they name.
#include <algorithm>
#include <cctype>
#include <set>

#include "host/compiler/compiler.h"
#include "host/values/spelling_suggester.h"

namespace spl {
namespace {

using EnumsByVariant = std::unordered_map<Symbol, std::vector<const Enum*>>;

EnumsByVariant& enums_by_variant() {
  static EnumsByVariant table = [] {
    EnumsByVariant made;
    for (const Enum* type : {core_types().option, core_types().result}) {
      for (const VariantInfo& variant : type->variants) {
        made[variant.name].push_back(type);
      }
    }
    return made;
  }();
  return table;
}

/// The variant that one alternative of an arm covers.
struct Test {
  Symbol type = kNoSymbol;     // of a qualified variant
  Symbol variant = kNoSymbol;  // none: a wildcard
  bool covers_all = false;     // every value of that variant
};

/// Whether a pattern inside a variant's matches any value.
bool matches_anything(const Pattern& pattern) {
  if (pattern.kind == PatternKind::kTuple) {
    const auto& elements = as<TuplePattern>(pattern).elements;
    return std::all_of(elements.begin(), elements.end(), [](const auto& e) { return matches_anything(*e); });
  }
  if (pattern.kind == PatternKind::kBinding) {
    return !as<BindingPattern>(pattern).type && !names_variant(as<BindingPattern>(pattern).name);
  }
  return pattern.kind == PatternKind::kWildcard;
}

bool match_anything(const std::vector<FieldPattern>& fields) {
  return std::all_of(fields.begin(), fields.end(),
                     [](const auto& f) { return matches_anything(*f.pattern); });
}

/// Reads one alternative. Returns false if it does not test an enum.
bool read_test(const Pattern& pattern, Test& test) {
  switch (pattern.kind) {
    case PatternKind::kWildcard:
      test.covers_all = true;
      return true;
    case PatternKind::kBinding: {
      const auto& binding = as<BindingPattern>(pattern);
      if (names_variant(binding.name)) {
        test.variant = binding.name;
      }
      test.covers_all = !binding.type;
      return !binding.type;
    }
    case PatternKind::kVariant: {
      const auto& variant = as<VariantPattern>(pattern);
      test.variant = variant.path.back();
      if (variant.path.size() > 1) {
        test.type = variant.path[variant.path.size() - 2];
      }
      test.covers_all = match_anything(variant.fields);
      return true;
    }
    case PatternKind::kStruct: {
      const auto& record = as<StructPattern>(pattern);
      if (record.path.empty()) {
        return false;
      }
      test.variant = record.path.back();
      test.covers_all = match_anything(record.fields);
      return true;
    }
    case PatternKind::kLiteral:
      test.variant = intern("None");
      test.covers_all = true;
      return as<LiteralPattern>(pattern).value->kind == ExprKind::kNil;
    default:
      return false;
  }
}

/// Reads all alternatives of an arm. Returns false if one does not test an enum.
bool read_tests(const Pattern& pattern, std::vector<Test>& tests) {
  if (pattern.kind == PatternKind::kOr) {
    const auto& alternatives = as<OrPattern>(pattern).alternatives;
    return std::all_of(alternatives.begin(), alternatives.end(),
                       [&](const auto& alternative) { return read_tests(*alternative, tests); });
  }
  return read_test(pattern, tests.emplace_back());
}

bool could_be(const Enum& type, const std::vector<Test>& tests, const LoadedModule& module) {
  return std::all_of(tests.begin(), tests.end(), [&](const Test& test) {
    return test.variant == kNoSymbol ||
           (type.index_of(test.variant) >= 0 &&
            (test.type == kNoSymbol || module.unaliased(test.type) == type.name));
  });
}

/// The only enum that fits the tests, or null.
const Enum* enum_of(const std::vector<Test>& tests, const LoadedModule& module) {
  const auto named =
      std::find_if(tests.begin(), tests.end(), [](const Test& test) { return test.variant != kNoSymbol; });
  if (named == tests.end()) {
    return nullptr;
  }
  const auto found = enums_by_variant().find(named->variant);
  if (found == enums_by_variant().end()) {
    return nullptr;
  }
  const Enum* one = nullptr;
  for (const Enum* type : found->second) {
    if (!could_be(*type, tests, module)) {
      continue;
    }
    if (one != nullptr) {
      return nullptr;
    }
    one = type;
  }
  return one;
}

}  // namespace

void note_variants(Enum& type) {
  for (const VariantInfo& variant : type.variants) {
    enums_by_variant()[variant.name].push_back(&type);
  }
}

void offer_variant_names(SpellingSuggester& suggester) {
  for (const auto& [name, enums] : enums_by_variant()) {
    suggester.offer(name_of(name));
  }
}

bool is_variant_name(Symbol name) { return enums_by_variant().contains(name); }

bool names_variant(Symbol name) {
  return is_variant_name(name) || std::isupper(static_cast<unsigned char>(name_of(name)[0])) != 0;
}

void FunctionCompiler::check_arms(const MatchExpr& match) {
  std::vector<Test> tests;
  std::vector<Symbol> covered;
  std::set<Symbol> partly;  // several partial arms of a variant are assumed to cover it together
  const Pattern* wildcard = nullptr;
  bool has_catch_all = false;
  for (const MatchArm& arm : match.arms) {
    std::vector<Test> own;
    if (!read_tests(*arm.pattern, own)) {
      return;
    }
    for (const Test& test : own) {
      if (test.variant == kNoSymbol) {
        wildcard = arm.pattern.get();
        has_catch_all = has_catch_all || !arm.guard;
      } else if (!arm.guard && (test.covers_all || !partly.insert(test.variant).second)) {
        covered.push_back(test.variant);
      }
    }
    tests.insert(tests.end(), own.begin(), own.end());
  }
  const Enum* type = enum_of(tests, module_);
  if (type == nullptr) {
    return;
  }
  if (type->is_strong && wildcard != nullptr) {
    error_at(wildcard->span, "'_' in a match on #[strong] enum " + name_of(type->name), "list its variants");
  }
  if (has_catch_all || module_.is_library) {
    return;
  }
  std::string missing;
  for (const VariantInfo& variant : type->variants) {
    if (std::find(covered.begin(), covered.end(), variant.name) == covered.end()) {
      missing += (missing.empty() ? "" : ", ") + name_of(variant.name);
    }
  }
  const auto known = [&](const Diagnostic& warning) { return warning.span.start == match.span.start; };
  if (!missing.empty() && std::none_of(module_.warnings.begin(), module_.warnings.end(), known)) {
    module_.warnings.push_back({match.span, "non-exhaustive match: " + missing + " not covered",
                                "the match evaluates to nil for the rest; add an arm '_'"});
  }
}

}  // namespace spl
