// Tests and parts of values for patterns.
#include "host/vm/patterns.h"

#include <algorithm>

#include "host/compiler/type_names.h"
#include "host/values/error.h"
#include "host/values/module.h"
#include "host/vm/protocols.h"
#include "host/vm/thread.h"
#include "host/vm/type_links.h"

namespace spl {

bool is_unpacked_by_iteration(Value v) {
  return v.is(Kind::kGenerator) || v.is(Kind::kIterator) ||
         (v.is(Kind::kRange) && !as_object<Range>(v)->end.is_nil());
}

bool is_variant(Value v, const VariantPatternSpec& spec) {
  static const Symbol some = intern("Some"), none = intern("None");
  if (v.is(Kind::kEnumValue)) {
    const auto* value = as_object<EnumValue>(v);
    return value->info().name == spec.variant && (spec.type == kNoSymbol || value->type->name == spec.type) &&
           spec.arity <= value->info().arity;
  }
  if (spec.variant == none) {
    return v.is_nil();
  }
  if (spec.variant == some) {
    return !v.is_nil();
  }
  return v.is(Kind::kInstance) && as_object<Instance>(v)->record->name == spec.variant &&
         spec.arity <= as_object<Instance>(v)->record->fields.size();
}

bool is_of_type(Value v, Symbol type, LoadedModule& module) {
  const bool is_foreign = v.is(Kind::kInstance) && subclass_maker(v) != nullptr;
  if (is_foreign && builtin_type(name_of(type)).empty()) {
    const Value named = module.lookup(type);
    if (named.is(Kind::kInstance)) {
      return is_of_foreign_class(v, named);
    }
    if (named.is(Kind::kRecord) || named.is(Kind::kTrait)) {
      return is_of_type(v, as_object<Type>(named));
    }
  }
  return is_of_type(v, type);
}

bool is_of_type(Value v, Symbol type) {
  const std::string& name = name_of(type);
  if (v.is(Kind::kInstance)) {
    const Record* record = as_object<Instance>(v)->record;
    return record->name == type || std::any_of(record->parents.begin(), record->parents.end(),
                                               [&](const Type* parent) { return parent->name == type; });
  }
  const std::string found = type_name(v);
  const std::string_view expected = builtin_type(name);  // numbers match regardless of their width
  if (is_integer_type(builtin_type(found))) {
    return is_integer_type(expected);
  }
  if (is_float_type(builtin_type(found))) {
    return is_float_type(expected);
  }
  return found == name;
}

bool is_of_class(Value v, Value type) {
  if (type.is(Kind::kRecord) || type.is(Kind::kTrait) || type.is(Kind::kEnum)) {
    return is_of_type(v, as_object<Type>(type));
  }
  if (type.is(Kind::kInstance)) {
    return is_of_foreign_class(v, type);
  }
  fail("a pattern needs a type after ':', got " + type_name(type));
}

Value part_of(Value v, uint32_t index) {
  if (index == kPayloadOfSome) {
    return retained(v.is(Kind::kEnumValue) ? as_object<EnumValue>(v)->payload()[0] : v);
  }
  if (const auto* items = sequence_items(v)) {
    return retained((*items)[index]);
  }
  if (v.is(Kind::kEnumValue)) {
    return retained(as_object<EnumValue>(v)->payload()[index]);
  }
  if (v.is(Kind::kInstance)) {
    return retained(as_object<Instance>(v)->fields()[index]);
  }
  return retained(v);
}

}  // namespace spl
