// Alternatives in patterns: `A(x) | B(x)`. All of them bind the same names, to the same registers.
#include <algorithm>

#include "host/compiler/compiler.h"

namespace spl {

namespace {

struct BoundName {
  Symbol name;
  bool may_be_variant;  // a bare name that some enum has as a variant may test instead of binding
};
using BoundNames = std::vector<BoundName>;

void collect_names(const Pattern& pattern, BoundNames& names);

void collect_names(const std::vector<PatternPtr>& patterns, BoundNames& names) {
  for (const auto& pattern : patterns) {
    collect_names(*pattern, names);
  }
}

void collect_names(const std::vector<FieldPattern>& fields, BoundNames& names) {
  for (const FieldPattern& field : fields) {
    collect_names(*field.pattern, names);
  }
}

void collect_names(const Pattern& pattern, BoundNames& names) {
  if (pattern.alias != kNoSymbol) {
    names.push_back({pattern.alias, false});
  }
  switch (pattern.kind) {
    case PatternKind::kWildcard:
    case PatternKind::kLiteral:
      return;
    case PatternKind::kBinding: {
      const auto& binding = as<BindingPattern>(pattern);
      names.push_back({binding.name, !binding.type && names_variant(binding.name)});
      return;
    }
    case PatternKind::kVariant:
      return collect_names(as<VariantPattern>(pattern).fields, names);
    case PatternKind::kStruct:
      return collect_names(as<StructPattern>(pattern).fields, names);
    case PatternKind::kTuple:
      return collect_names(as<TuplePattern>(pattern).elements, names);
    case PatternKind::kArray:
      collect_names(as<ArrayPattern>(pattern).elements, names);
      if (as<ArrayPattern>(pattern).rest != kNoSymbol) {
        names.push_back({as<ArrayPattern>(pattern).rest, false});
      }
      return;
    case PatternKind::kOr:  // its own alternatives are checked when it is compiled
      return collect_names(*as<OrPattern>(pattern).alternatives.front(), names);
  }
}

bool binds(const BoundNames& names, Symbol name) {
  return std::any_of(names.begin(), names.end(), [&](const BoundName& bound) { return bound.name == name; });
}

// Fails if `names` lacks a name that `others` binds.
void require_names(const Pattern& alternative, const BoundNames& names, const BoundNames& others) {
  for (const BoundName& other : others) {
    if (!other.may_be_variant && !binds(names, other.name)) {
      throw CompileError{alternative.span,
                         "alternative does not bind '" + name_of(other.name) + "', which another one binds",
                         "all alternatives of a pattern bind the same names"};
    }
  }
}

void check_names(const OrPattern& pattern) {
  BoundNames first;
  collect_names(*pattern.alternatives.front(), first);
  for (size_t i = 1; i < pattern.alternatives.size(); ++i) {
    BoundNames names;
    collect_names(*pattern.alternatives[i], names);
    require_names(*pattern.alternatives[i], names, first);
    require_names(*pattern.alternatives.front(), first, names);
  }
}

bool bind_same_names(const OrPattern& pattern) {
  try {
    check_names(pattern);
    return true;
  } catch (const CompileError&) {
    return false;
  }
}

}  // namespace

// Whether `x, y` is Python's pattern of a sequence: as alternatives its parts would have to bind the same
// names.
bool FunctionCompiler::is_sequence(const OrPattern& pattern) const {
  return is_port() && pattern.has_commas && !bind_same_names(pattern);
}

void FunctionCompiler::test(const OrPattern& pattern, const PatternTest& to) {
  if (is_sequence(pattern)) {
    test_parts(pattern.alternatives, 0, to);
    return;
  }
  check_names(pattern);
  std::vector<size_t> matched;
  const size_t first_local = locals_.size();
  for (size_t i = 0; i < pattern.alternatives.size(); ++i) {
    std::vector<size_t> failures;
    test_pattern(*pattern.alternatives[i], to.value, failures);
    if (i == 0) {
      bound_before_.emplace_back(first_local, locals_.size());
    }
    if (i + 1 == pattern.alternatives.size()) {
      to.failures.insert(to.failures.end(), failures.begin(), failures.end());
    } else {
      matched.push_back(emit_jump(Op::kJump));
      patch_all(failures);
    }
  }
  bound_before_.pop_back();
  patch_all(matched);
}

// The register of a name in a pattern: that of an earlier alternative if there is one.
Register FunctionCompiler::declare_in_pattern(Symbol name, const void* key) {
  for (const auto& [first, end] : bound_before_) {
    for (size_t i = first; i < end; ++i) {
      if (locals_[i].name == name) {
        return locals_[i].reg;
      }
    }
  }
  return declare(name, key);
}

}  // namespace spl
