// Protocols of values that native functions use: indexes, iteration, type tests.
#pragma once

#include <cstddef>

#include "host/values/objects.h"

namespace spl {

/// Makes the value fit the type that the field declares.
void check_width(const FieldInfo& field, Value& value);

/// The position that `index` denotes in `what` of length `size`; negative indexes count from the end. Fails
/// if it is no integer or out of range.
size_t checked_index(Value index, size_t size, const char* what);

/// The positions that a slice selects among `size` elements, in the slice's order.
std::vector<size_t> slice_positions(Value slice, size_t size);
/// The name of the method that `@x.setter` declares for the property x.
Symbol setter_of(Symbol property);
/// The source of a loop's elements: an array, or an Iterator. Owned. Fails for values that
/// cannot be iterated over.
Value make_iterator(Value source);
/// The method of an object that returns its iterator: __iter__, as in Python, or iter; null without one.
const Method* iterator_method(Value source);
/// Whether a value is an instance of a type or of one of its descendants.
bool is_of_type(Value v, const Type* type);
/// The same for a class of another language, which is an object with __instancecheck__.
bool is_of_foreign_class(Value v, Value foreign);

}  // namespace spl
