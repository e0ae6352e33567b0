// Tests and parts of values for patterns.
#pragma once

#include "host/compiler/bytecode.h"
#include "host/values/objects.h"
#include "host/vm/protocols.h"

namespace spl {

/// The elements of an array or tuple, borrowed; null for anything else.
inline const Elements* sequence_items(Value v) {
  if (v.is(Kind::kArray)) {
    return &as_object<Array>(v)->items;
  }
  if (v.is(Kind::kTuple)) {
    return &as_object<Tuple>(v)->items;
  }
  return nullptr;
}

/// Whether `a, b = v` iterates over the value: a generator, an iterator, or a range that ends.
bool is_unpacked_by_iteration(Value v);

/// Whether a value is a sequence of that form with `count` elements, or more where it may be longer.
inline bool fits_sequence(Value v, int32_t form, uint32_t count) {
  const auto* items = sequence_items(v);
  return items != nullptr && ((form & kOnlyTuples) == 0 || v.is(Kind::kTuple)) &&
         ((form & kOnlyArrays) == 0 || v.is(Kind::kArray)) &&
         ((form & kMayBeLonger) != 0 ? items->size() >= count : items->size() == count);
}

/// Whether a value is an instance with `count` fields, which `val (a, b) = …` can destructure.
inline bool has_fields(Value v, uint32_t count) {
  return v.is(Kind::kInstance) && as_object<Instance>(v)->record->fields.size() == count;
}

/// Whether a value is this variant. A plain value matches Some, nil matches None.
bool is_variant(Value v, const VariantPatternSpec& spec);
/// Whether a value is an instance of a type or of a class of another language. Fails for other values.
bool is_of_class(Value v, Value type);
/// Whether a value has the type with this name, built-in or declared. All integer types match each other, and
/// so do all float types.
bool is_of_type(Value v, Symbol type);
/// The same for a name in the code of a module, which may be a class of another language.
bool is_of_type(Value v, Symbol type, LoadedModule& module);
/// The payload, field or element at `index`; owned.
Value part_of(Value v, uint32_t index);

}  // namespace spl
