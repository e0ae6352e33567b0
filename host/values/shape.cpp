#include "host/values/shape.h"

#include <algorithm>

#include "host/values/error.h"
#include "host/values/objects.h"

namespace spl {

namespace {

constexpr size_t kMaxShapes = 255;
constexpr int64_t kExactInSingle = INT64_C(1) << 24;  // an f32 has all integers up to this one

std::vector<Shape>& shapes() {
  static std::vector<Shape> known(1);
  return known;
}

void to_single(Value& value) {
  const bool is_large = value.is_int() && (value.as_int > kExactInSingle || value.as_int < -kExactInSingle);
  if (value.is_float() || is_large) {
    value = single(value.to_double());
  }
}

bool is_width(ShapeId id) { return id != 0 && shapes()[id].form == Shape::Form::kWidth; }

// The elements are changed only where that is needed, so that a compact array stays compact.
void conform_elements(Value& value, ShapeId part, const std::string& what) {
  const std::string element = "an element of " + what;
  if (is_width(part)) {
    for (Value item : as_object<Array>(value)->items) {
      conform(item, part, element);
    }
    make_unique(value);
    return;
  }
  make_unique(value);
  Elements& items = as_object<Array>(value)->items;
  for (size_t i = 0; i < items.size(); ++i) {
    conform(items.slot(i), part, element);
  }
}

void conform_entries(Value& value, const Shape& shape, const std::string& what) {
  const std::string key = "a key of " + what, held = "a value of " + what;
  make_unique(value);
  for (auto& entry : as_object<Dict>(value)->entries) {
    if (entry.key.is_missing()) {
      continue;
    }
    if (is_width(shape.parts[0])) {
      conform(entry.key, shape.parts[0], key);
    }
    conform(entry.value, shape.parts[1], held);
  }
}

void conform_parts(Value& value, const Shape& shape, const std::string& what) {
  const std::string part = "an element of " + what;
  make_unique(value);
  for (size_t i = 0; i < shape.parts.size() && i < as_object<Tuple>(value)->items.size(); ++i) {
    Ref item = Ref::shared(as_object<Tuple>(value)->items[i]);
    const Value before = item.get();
    conform(item.slot(), shape.parts[i], part);
    if (before.tag != item.get().tag || before.as_int != item.get().as_int) {
      as_object<Tuple>(value)->items.set(i, item.take());
    }
  }
}

// Some(v) of an optional number.
bool is_some(Value value) {
  return value.is(Kind::kEnumValue) && as_object<EnumValue>(value)->type == core_types().option &&
         as_object<EnumValue>(value)->variant == kSome;
}

}  // namespace

bool Shape::is_plain() const {
  return width == 0 && form != Form::kSingle &&
         std::all_of(parts.begin(), parts.end(), [](ShapeId part) { return part == 0; });
}

ShapeId id_of_shape(const Shape& shape) {
  std::vector<Shape>& known = shapes();
  const auto found = std::find(known.begin() + 1, known.end(), shape);
  if (found == known.end() && known.size() > kMaxShapes) {
    fail("the program declares too many types of collections of narrow numbers");
  }
  const auto id = static_cast<ShapeId>(found - known.begin());
  if (found == known.end()) {
    known.push_back(shape);
  }
  return id;
}

void conform(Value& value, ShapeId id, const std::string& what) {
  if (id == 0) {
    return;
  }
  const Shape& shape = shapes()[id];
  const bool is_scalar = shape.form == Shape::Form::kWidth || shape.form == Shape::Form::kSingle;
  if (is_scalar && is_some(value)) {
    Value number = as_object<EnumValue>(value)->payload()[0];
    conform(number, id, what);
    if (shape.form == Shape::Form::kSingle && number.is_sized()) {
      assign(value, make_some(number));
    }
    return;
  }
  switch (shape.form) {
    case Shape::Form::kWidth:
      if (!fits_width(value, shape.width)) {
        fail_width(what, value, shape.width);
      }
      return;
    case Shape::Form::kSingle:
      to_single(value);
      return;
    case Shape::Form::kTuple:
      if (value.is(Kind::kTuple) && value.as_object->shape != id) {
        conform_parts(value, shape, what);
        value.as_object->shape = id;
      }
      return;
    case Shape::Form::kArray:
    case Shape::Form::kDict:
      break;
  }
  const bool is_array = shape.form == Shape::Form::kArray;
  const ShapeId kept = shape.is_plain() ? 0 : id;
  if (!value.is(is_array ? Kind::kArray : Kind::kDict) || value.as_object->shape == kept) {
    return;
  }
  if (kept == 0) {
    make_unique(value);
  } else {
    is_array ? conform_elements(value, shape.parts[0], what) : conform_entries(value, shape, what);
  }
  value.as_object->shape = kept;
}

void meet(Value& value, Demand demand, const std::string& what) {
  if (demand >= kShapes) {
    conform(value, static_cast<ShapeId>(demand - kShapes), what);
  } else if (!fits_width(value, demand)) {
    fail_width(what, value, demand);
  }
}

void conform_element(const Object& collection, Value& element) {
  const Shape& shape = shapes()[collection.shape];
  const bool is_array = shape.form == Shape::Form::kArray;
  conform(element, shape.parts[is_array ? 0 : 1],
          is_array ? "an element of the array" : "a value of the dict");
}

void conform_part(const Object& tuple, size_t at, Value& part) {
  const Shape& shape = shapes()[tuple.shape];
  if (at < shape.parts.size()) {
    conform(part, shape.parts[at], "an element of the tuple");
  }
}

void conform_key(const Object& dict, Value key) {
  const ShapeId part = shapes()[dict.shape].parts[0];
  if (is_width(part)) {
    conform(key, part, "a key of the dict");
  }
}

}  // namespace spl
