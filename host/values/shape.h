// The demands of declared types on numbers, also on those in collections: a u8 has 8 bits, an f32 the
// precision of an f32.
//
// An array, a dict or a tuple that a variable or field of such a type holds keeps the type's shape: every
// later change is checked, through any name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/values/sized.h"

namespace spl {

/// The number of a shape; 0 stands for no demand.
using ShapeId = uint8_t;

struct Shape {
  enum class Form : uint8_t { kWidth, kSingle, kArray, kDict, kTuple };
  Form form = Form::kWidth;
  IntegerWidth width = 0;      // of kWidth
  std::vector<ShapeId> parts;  // of the elements; of keys and values; of each part

  bool operator==(const Shape&) const = default;
  bool is_plain() const;
};

/// The demand of a declared type: 0, the IntegerWidth of a number, or kShapes + the id of a shape.
using Demand = int;
inline constexpr Demand kShapes = 256;

/// The id of a shape, which is made if it is new.
ShapeId id_of_shape(const Shape& shape);

/// Makes `value` fit the shape: a float that an f32 stands for becomes one, an array and a dict keep the
/// shape. Fails if an integer does not fit; the error calls the value `what`.
void conform(Value& value, ShapeId shape, const std::string& what);
void meet(Value& value, Demand demand, const std::string& what);
/// Makes `element`, and its key in a dict, fit the shape that the array or dict keeps.
void conform_element(const Object& collection, Value& element);
void conform_part(const Object& tuple, size_t at, Value& part);
void conform_key(const Object& dict, Value key);

}  // namespace spl
