// What a match on an enum leaves out: a warning, or an error where a #[strong] enum is matched by a wildcard.
//
// The subject's type is not known, so it is read off the arms: the one enum that has all variants they name.
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

/// One alternative of one arm, as far as it matters here.
struct Test {
  Symbol type = kNoSymbol;     // where it is written
  Symbol variant = kNoSymbol;  // none: takes everything
  bool takes_all = false;      // … of that variant
};

/// Whether a pattern below a variant's fits any value.
bool takes_anything(const Pattern& pattern) {
  if (pattern.kind == PatternKind::kTuple) {
    const auto& elements = as<TuplePattern>(pattern).elements;
    return std::all_of(elements.begin(), elements.end(), [](const auto& e) { return takes_anything(*e); });
  }
  if (pattern.kind == PatternKind::kBinding) {
    return !as<BindingPattern>(pattern).type && !names_variant(as<BindingPattern>(pattern).name);
  }
  return pattern.kind == PatternKind::kWildcard;
}

bool take_anything(const std::vector<FieldPattern>& fields) {
  return std::all_of(fields.begin(), fields.end(), [](const auto& f) { return takes_anything(*f.pattern); });
}

/// Reads one alternative; false: it speaks of something else than an enum.
bool read_test(const Pattern& pattern, Test& test) {
  switch (pattern.kind) {
    case PatternKind::kWildcard:
      test.takes_all = true;
      return true;
    case PatternKind::kBinding: {
      const auto& binding = as<BindingPattern>(pattern);
      if (names_variant(binding.name)) {
        test.variant = binding.name;
      }
      test.takes_all = !binding.type;
      return !binding.type;
    }
    case PatternKind::kVariant: {
      const auto& variant = as<VariantPattern>(pattern);
      test.variant = variant.path.back();
      if (variant.path.size() > 1) {
        test.type = variant.path[variant.path.size() - 2];
      }
      test.takes_all = take_anything(variant.fields);
      return true;
    }
    case PatternKind::kStruct: {
      const auto& record = as<StructPattern>(pattern);
      if (record.path.empty()) {
        return false;
      }
      test.variant = record.path.back();
      test.takes_all = take_anything(record.fields);
      return true;
    }
    case PatternKind::kLiteral:
      test.variant = intern("None");
      test.takes_all = true;
      return as<LiteralPattern>(pattern).value->kind == ExprKind::kNil;
    default:
      return false;
  }
}

/// The alternatives of an arm; false as above.
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

/// The one enum that the tests can be about, or null.
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

void offer_variant_names(SpellingSuggester& nearest) {
  for (const auto& [name, enums] : enums_by_variant()) {
    nearest.offer(name_of(name));
  }
}

bool is_variant_name(Symbol name) { return enums_by_variant().contains(name); }

bool names_variant(Symbol name) {
  return is_variant_name(name) || std::isupper(static_cast<unsigned char>(name_of(name)[0])) != 0;
}

void FunctionCompiler::check_arms(const MatchExpr& match) {
  std::vector<Test> tests;
  std::vector<Symbol> taken;
  std::set<Symbol> partly;  // several arms for parts of a variant may take all of it together
  const Pattern* wildcard = nullptr;
  bool takes_rest = false;
  for (const MatchArm& arm : match.arms) {
    std::vector<Test> own;
    if (!read_tests(*arm.pattern, own)) {
      return;
    }
    for (const Test& test : own) {
      if (test.variant == kNoSymbol) {
        wildcard = arm.pattern.get();
        takes_rest = takes_rest || !arm.guard;
      } else if (!arm.guard && (test.takes_all || !partly.insert(test.variant).second)) {
        taken.push_back(test.variant);
      }
    }
    tests.insert(tests.end(), own.begin(), own.end());
  }
  const Enum* type = enum_of(tests, module_);
  if (type == nullptr) {
    return;
  }
  if (type->is_strong && wildcard != nullptr) {
    refuse(wildcard->span, name_of(type->name) + " is #[strong]: name its variants instead of '_'");
  }
  if (takes_rest || module_.is_library) {
    return;
  }
  std::string missing;
  for (const VariantInfo& variant : type->variants) {
    if (std::find(taken.begin(), taken.end(), variant.name) == taken.end()) {
      missing += (missing.empty() ? "" : ", ") + name_of(variant.name);
    }
  }
  const auto known = [&](const Diagnostic& warning) { return warning.span.start == match.span.start; };
  if (!missing.empty() && std::none_of(module_.warnings.begin(), module_.warnings.end(), known)) {
    module_.warnings.push_back(
        {match.span, "no arm takes " + missing, "the match is nil then; '_' takes the rest"});
  }
}

}  // namespace spl
