// What patterns ask of a value; called by the machine's loop.
#pragma once

#include "host/compiler/bytecode.h"
#include "host/values/objects.h"

namespace spl {

/// The elements of an array or tuple, borrowed; null for anything else.
inline const std::vector<Value>* sequence_items(Value v) {
  if (v.is(Kind::kArray)) {
    return &as_object<Array>(v)->items;
  }
  if (v.is(Kind::kTuple)) {
    return &as_object<Tuple>(v)->items;
  }
  return nullptr;
}

/// Whether a value is an object of that many fields, which `val (a, b) = …` binds in their order.
inline bool has_fields(Value v, uint32_t count) {
  return v.is(Kind::kInstance) && as_object<Instance>(v)->record->fields.size() == count;
}

/// Whether a value is this variant; a plain value is Some of itself, nil is None.
bool is_variant(Value v, const VariantPatternSpec& spec);
/// Whether a value is of the type with this name: a built-in's of today, or a declared one's.
bool is_of_type(Value v, Symbol type);
/// In place of an index: what Some(x) holds, which for a plain value is the value itself.
constexpr uint32_t kWhatSomeHolds = 0xFFFF;
/// The payload, field or element at `index`; owned.
Value part_of(Value v, uint32_t index);

}  // namespace spl
