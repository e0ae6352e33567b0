// Truth, equality, order and hashes of values.
#include <algorithm>
#include <cmath>
#include <functional>

#include "host/values/error.h"
#include "host/values/nesting.h"
#include "host/values/object_hooks.h"
#include "host/values/objects.h"
#include "host/values/sized.h"

namespace spl {

namespace {

constexpr int kMaxNesting = 200;

bool truthy_object(Value v) {
  switch (v.as_object->kind) {
    case Kind::kText:
      return !text_of(v).empty();
    case Kind::kArray:
      return !as_object<Array>(v)->items.empty();
    case Kind::kTuple:
      return !as_object<Tuple>(v)->items.empty();
    case Kind::kDict:
      return as_object<Dict>(v)->live != 0;
    case Kind::kEnumValue:
      return !is_none(v);
    case Kind::kInstance:
      return object_hooks().truth(v);
    default:
      return true;
  }
}

}  // namespace

bool truthy(Value v) {
  switch (v.tag) {
    case Tag::kNil:
    case Tag::kMissing:
      return false;
    case Tag::kBool:
      return v.as_bool;
    case Tag::kInt:
      return v.as_int != 0;
    case Tag::kFloat:
      return v.as_float != 0;
    case Tag::kObject:
      return truthy_object(v);
    default:
      return is_single(v) ? v.as_float != 0 : v.as_int != 0;
  }
}

// ---- Equality --------------------------------------------------------------------------------------------

namespace {

bool is_option(Value v) {
  return v.is(Kind::kEnumValue) && as_object<EnumValue>(v)->type == core_types().option;
}
bool is_some(Value v) { return is_option(v) && as_object<EnumValue>(v)->variant == kSome; }

// An item equals itself, as in Python, where an array of NumPy has no single truth value.
bool items_equal(const Elements& a, const Elements& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), are_one_key);
}

bool dicts_equal(Dict& a, Dict& b) {
  if (a.live != b.live) {
    return false;
  }
  for (const auto& entry : a.entries) {
    if (entry.key.is_missing()) {
      continue;
    }
    const Value* other = b.find(entry.key);
    if (other == nullptr || !are_one_key(entry.value, *other)) {
      return false;
    }
  }
  return true;
}

bool ranges_equal(const Range& a, const Range& b) {
  return equals(a.start, b.start) && equals(a.end, b.end) && a.inclusive == b.inclusive;
}

bool slices_equal(const Slice& a, const Slice& b) {
  return equals(a.start, b.start) && equals(a.stop, b.stop) && equals(a.step, b.step);
}

bool enum_values_equal(EnumValue& a, EnumValue& b) {
  return a.type == b.type && a.variant == b.variant &&
         std::equal(a.payload(), a.payload() + a.info().arity, b.payload(), equals);
}

const Elements* sequence_of(Value v) {
  return v.is(Kind::kArray)   ? &as_object<Array>(v)->items
         : v.is(Kind::kTuple) ? &as_object<Tuple>(v)->items
                              : nullptr;
}

bool same_kind_equal(Value a, Value b) {
  switch (a.as_object->kind) {
    case Kind::kDict:
      return dicts_equal(*as_object<Dict>(a), *as_object<Dict>(b));
    case Kind::kRange:
      return ranges_equal(*as_object<Range>(a), *as_object<Range>(b));
    case Kind::kSlice:
      return slices_equal(*as_object<Slice>(a), *as_object<Slice>(b));
    case Kind::kEnumValue:
      return enum_values_equal(*as_object<EnumValue>(a), *as_object<EnumValue>(b));
    case Kind::kInstance:
      return object_hooks().equal(a, b);
    case Kind::kBoundMethod:
      return equals(as_object<BoundMethod>(a)->self, as_object<BoundMethod>(b)->self) &&
             equals(as_object<BoundMethod>(a)->function, as_object<BoundMethod>(b)->function);
    default:
      return false;
  }
}

bool objects_equal(Value a, Value b) {
  if (a.as_object == b.as_object && a.as_object->kind != Kind::kInstance) {
    return true;
  }
  if (a.is(Kind::kText) && b.is(Kind::kText)) {
    return text_of(a) == text_of(b);
  }
  const Nesting nesting(kMaxNesting, "compared");
  // A plain value equals Some of itself.
  if (is_some(a) && !is_option(b)) {
    return equals(as_object<EnumValue>(a)->payload()[0], b);
  }
  if (is_some(b) && !is_option(a)) {
    return equals(b, a);
  }
  const auto* left = sequence_of(a);
  const auto* right = sequence_of(b);
  if (left != nullptr && right != nullptr) {  // `x.shape == (2, 3)`
    return items_equal(*left, *right);
  }
  if (a.as_object->kind == b.as_object->kind) {
    return same_kind_equal(a, b);
  }
  return (a.is(Kind::kInstance) || b.is(Kind::kInstance)) && object_hooks().equal(a, b);
}

// `true` is 1, as in arithmetic.
Value as_number(Value v) { return v.is_bool() ? Value::integer(v.as_bool ? 1 : 0) : v; }

}  // namespace

bool equals(Value a, Value b) {
  if (a.is_number() && b.is_number()) {
    return a.is_int() && b.is_int() ? a.as_int == b.as_int : a.to_double() == b.to_double();
  }
  if (a.is_object() && b.is_object()) {
    return objects_equal(a, b);
  }
  if (is_any_number(a) && is_any_number(b)) {
    return numbers_equal(a, b);
  }
  if ((a.is_bool() && is_any_number(b)) || (is_any_number(a) && b.is_bool())) {
    return numbers_equal(as_number(a), as_number(b));
  }
  if (a.is_nil() || b.is_nil()) {
    if (is_none(a) && is_none(b)) {
      return true;
    }
    if (!a.is(Kind::kInstance) && !b.is(Kind::kInstance)) {
      return false;
    }
  }
  if (a.is_bool() && b.is_bool()) {
    return a.as_bool == b.as_bool;
  }
  if (is_some(a)) {
    return equals(as_object<EnumValue>(a)->payload()[0], b);
  }
  if (is_some(b)) {
    return equals(a, as_object<EnumValue>(b)->payload()[0]);
  }
  return (a.is(Kind::kInstance) || b.is(Kind::kInstance)) && object_hooks().equal(a, b);
}

bool is_same(Value a, Value b) {
  if (!a.is(Kind::kInstance) || !b.is_object()) {
    return equals(a, b);
  }
  if (a.as_object == b.as_object) {
    return true;
  }
  const Record* record = as_object<Instance>(a)->record;
  if (record->same == nullptr || !b.is(Kind::kInstance) || as_object<Instance>(b)->record != record) {
    return false;
  }
  return truthy(Ref::owned(object_hooks().call_method(a, *record->same, &b, 1)).get());
}

bool are_one_key(Value a, Value b) {
  return (a.is(Kind::kInstance) && b.is(Kind::kInstance) && is_same(a, b)) || equals(a, b);
}

// ---- Order -----------------------------------------------------------------------------------------------

namespace {

int compare_items(const Elements& a, const Elements& b) {
  const Nesting nesting(kMaxNesting, "compared");
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (const int order = compare(a[i], b[i]); order != 0) {
      return order;
    }
  }
  return a.size() < b.size() ? -1 : a.size() > b.size();
}

}  // namespace

int compare(Value a, Value b) {
  if (a.is_int() && b.is_int()) {
    return a.as_int < b.as_int ? -1 : a.as_int > b.as_int;
  }
  if (a.is_number() && b.is_number()) {
    return a.to_double() < b.to_double() ? -1 : a.to_double() > b.to_double();
  }
  if (is_any_number(a) && is_any_number(b)) {
    return compare_numbers(a, b);
  }
  if ((a.is_bool() || is_any_number(a)) && (b.is_bool() || is_any_number(b))) {
    return compare_numbers(as_number(a), as_number(b));
  }
  if (a.is(Kind::kText) && b.is(Kind::kText)) {
    const int order = text_of(a).compare(text_of(b));
    return order < 0 ? -1 : order > 0;
  }
  const auto* left = sequence_of(a);
  const auto* right = sequence_of(b);
  if (left != nullptr && right != nullptr) {
    return compare_items(*left, *right);
  }
  if (a.is(Kind::kInstance) || b.is(Kind::kInstance)) {
    return object_hooks().compare(a, b);
  }
  fail("cannot order " + type_name(a) + " and " + type_name(b));
}

// ---- Hashes ----------------------------------------------------------------------------------------------

namespace {

uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 29;
  return x;
}

uint64_t hash_of_pointer(const void* pointer) { return mix(reinterpret_cast<uintptr_t>(pointer)); }

// Numbers hash as in Python: by their value modulo this prime. Equal numbers of different types are one key,
// also those of Python such as Decimal.
constexpr int kHashBits = 61;
constexpr int64_t kHashModulus = (INT64_C(1) << kHashBits) - 1;

uint64_t hash_of_reduced(int64_t reduced) { return mix(static_cast<uint64_t>(reduced == -1 ? -2 : reduced)); }

uint64_t hash_of_integer(int64_t value) {
  const bool is_reduced = value > -kHashModulus && value < kHashModulus;
  return hash_of_reduced(is_reduced ? value : value % kHashModulus);
}

uint64_t hash_of_float(double value) {
  constexpr int64_t kOfInfinity = 314159;
  constexpr int kChunk = 28;
  if (!std::isfinite(value)) {
    return std::isnan(value) ? hash_of_reduced(0) : hash_of_reduced(value > 0 ? kOfInfinity : -kOfInfinity);
  }
  int exponent;
  double fraction = std::frexp(std::fabs(value), &exponent);
  uint64_t reduced = 0;
  while (fraction != 0) {
    reduced = ((reduced << kChunk) & kHashModulus) | reduced >> (kHashBits - kChunk);
    fraction = std::ldexp(fraction, kChunk);
    exponent -= kChunk;
    const auto chunk = static_cast<uint64_t>(fraction);
    fraction -= static_cast<double>(chunk);
    reduced += chunk;
    if (reduced >= static_cast<uint64_t>(kHashModulus)) {
      reduced -= static_cast<uint64_t>(kHashModulus);
    }
  }
  // Multiplication by a power of two rotates the bits.
  const int turn = exponent >= 0 ? exponent % kHashBits : kHashBits - 1 - ((-1 - exponent) % kHashBits);
  reduced = ((reduced << turn) & kHashModulus) | reduced >> (kHashBits - turn);
  const auto signed_value = static_cast<int64_t>(reduced);
  return hash_of_reduced(value < 0 ? -signed_value : signed_value);
}

uint64_t hash_of_values(uint64_t seed, const Value* values, size_t count) {
  uint64_t hash = seed;
  for (size_t i = 0; i < count; ++i) {
    hash = mix(hash * 31 + hash_of(values[i]));
  }
  return hash;
}

uint64_t hash_of_items(const Elements& items) {
  return hash_of_values(items.size(), items.data(), items.size());
}

uint64_t hash_of_enum_value(Value v) {
  auto* value = as_object<EnumValue>(v);
  if (is_none(v)) {
    return 1;
  }
  if (is_some(v)) {
    return hash_of(value->payload()[0]);
  }
  return hash_of_values(reinterpret_cast<uintptr_t>(value->type) + value->variant, value->payload(),
                        value->info().arity);
}

uint64_t hash_of_instance(Instance* instance) {
  if (const Method* hash = instance->record->hash) {
    return hash_of(Ref::owned(object_hooks().call_method(Value::object(instance), *hash, nullptr, 0)).get());
  }
  if (instance->record->is_class) {
    return hash_of_pointer(instance);
  }
  return hash_of_values(reinterpret_cast<uintptr_t>(instance->record), instance->fields(),
                        instance->record->fields.size());
}

uint64_t hash_seed(Value v) { return static_cast<uint64_t>(v.as_object->kind); }

uint64_t hash_of_object(Value v) {
  if (v.is(Kind::kText)) {
    return std::hash<std::string>()(text_of(v));
  }
  const Nesting nesting(kMaxNesting, "a key");
  switch (v.as_object->kind) {
    case Kind::kArray:
      return hash_of_items(as_object<Array>(v)->items);
    case Kind::kTuple:
      return hash_of_items(as_object<Tuple>(v)->items);
    case Kind::kEnumValue:
      return hash_of_enum_value(v);
    case Kind::kInstance:
      return hash_of_instance(as_object<Instance>(v));
    case Kind::kRange: {
      const auto* range = as_object<Range>(v);
      const Value parts[] = {range->start, range->end, Value::boolean(range->inclusive)};
      return hash_of_values(hash_seed(v), parts, std::size(parts));
    }
    case Kind::kSlice: {
      const auto* slice = as_object<Slice>(v);
      const Value parts[] = {slice->start, slice->stop, slice->step};
      return hash_of_values(hash_seed(v), parts, std::size(parts));
    }
    case Kind::kBoundMethod: {
      const auto* method = as_object<BoundMethod>(v);
      const Value parts[] = {method->self, method->function};
      return hash_of_values(hash_seed(v), parts, std::size(parts));
    }
    case Kind::kDict:
      fail("a dict cannot be a key");
    default:
      return hash_of_pointer(v.as_object);
  }
}

}  // namespace

uint64_t hash_of(Value v) {
  switch (v.tag) {
    case Tag::kNil:
    case Tag::kMissing:
      return 1;
    case Tag::kBool:
      return hash_of_integer(v.as_bool ? 1 : 0);  // Python's True equals 1
    case Tag::kInt:
      return hash_of_integer(v.as_int);
    case Tag::kFloat:
      return hash_of_float(v.as_float);
    case Tag::kObject:
      return hash_of_object(v);
    case Tag::kUint64:  // plain() keeps the bits, which are negative for large numbers
      return hash_of_reduced(
          static_cast<int64_t>(static_cast<uint64_t>(v.as_int) % static_cast<uint64_t>(kHashModulus)));
    default:
      return hash_of(plain(v));
  }
}

}  // namespace spl
