// The 16-byte tagged value, the header of every heap object, and reference counting.
//
// A Value is raw: it owns nothing, so that registers stay plain memory. Ref owns one reference. Counts are
// not atomic: the host lock guards them.
#pragma once

#include <cstdint>
#include <utility>

namespace spl {

enum class Tag : uint8_t {
  kNil,
  kBool,
  kInt,
  kFloat,
  kMissing,  // an omitted argument, or an unset variable
  kObject,
  kInt8,  // from here on: sized numbers, see sized.h
  kInt16,
  kInt32,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat32,
};

enum class Kind : uint8_t {
  kText,
  kArray,
  kTuple,
  kDict,
  kRange,
  kSlice,
  kInstance,
  kEnumValue,
  kClosure,
  kNative,
  kExtern,
  kBoundMethod,
  kRecord,
  kEnum,
  kTrait,
  kModule,
  kCell,
  kIterator,
  kGenerator,
  kThread,
  kCause,
  kSharedValues,
};
inline constexpr int kKindCount = static_cast<int>(Kind::kSharedValues) + 1;

struct Object {
  uint32_t refs = 1;
  Kind kind;
  union {
    bool dropped = false;  // of an instance: drop() has run
    uint8_t shape;         // of an array, a dict or a tuple, see shape.h
  };
  uint16_t mark = 0;  // used by the cycle collector

  explicit Object(Kind k) : kind(k) {}
};

struct Value {
  Tag tag = Tag::kNil;
  union {
    bool as_bool;
    int64_t as_int;
    double as_float;
    Object* as_object;
  };

  Value() : as_int(0) {}
  static Value nil() { return Value(); }
  static Value missing() {
    Value v;
    v.tag = Tag::kMissing;
    return v;
  }
  /// Missing because a method has moved the value out of its variable to change it.
  static Value taken() {
    Value v = missing();
    v.as_int = 1;
    return v;
  }
  static Value boolean(bool b) {
    Value v;
    v.tag = Tag::kBool;
    v.as_int = b;
    return v;
  }
  static Value integer(int64_t i) {
    Value v;
    v.tag = Tag::kInt;
    v.as_int = i;
    return v;
  }
  static Value number(double f) {
    Value v;
    v.tag = Tag::kFloat;
    v.as_float = f;
    return v;
  }
  static Value object(Object* o) {
    Value v;
    v.tag = Tag::kObject;
    v.as_object = o;
    return v;
  }

  bool is_nil() const { return tag == Tag::kNil; }
  bool is_bool() const { return tag == Tag::kBool; }
  bool is_int() const { return tag == Tag::kInt; }
  bool is_float() const { return tag == Tag::kFloat; }
  bool is_number() const { return tag == Tag::kInt || tag == Tag::kFloat; }
  bool is_sized() const { return tag > Tag::kObject; }
  bool is_missing() const { return tag == Tag::kMissing; }
  bool is_taken() const { return tag == Tag::kMissing && as_int == 1; }
  bool is_object() const { return tag == Tag::kObject; }
  bool is(Kind kind) const { return tag == Tag::kObject && as_object->kind == kind; }
  double to_double() const { return tag == Tag::kInt ? static_cast<double>(as_int) : as_float; }
};
static_assert(sizeof(Value) == 16);

/// Destroys an object after its last reference is released; runs drop().
void destroy(Object* object);

inline Value retained(Value v) {
  if (v.is_object()) {
    ++v.as_object->refs;
  }
  return v;
}
inline void release(Value v) {
  if (v.is_object() && --v.as_object->refs == 0) {
    destroy(v.as_object);
  }
}
/// Stores an owned value in a slot. The old value is released after the slot has its new value.
inline void assign(Value& slot, Value owned) {
  const Value old = slot;
  slot = owned;
  release(old);
}

/// Owns one reference.
class Ref {
 public:
  Ref() = default;
  static Ref owned(Value v) {
    Ref r;
    r.value_ = v;
    return r;
  }
  static Ref shared(Value v) { return owned(retained(v)); }
  Ref(const Ref& other) : value_(retained(other.value_)) {}
  Ref(Ref&& other) noexcept : value_(std::exchange(other.value_, Value())) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Ref() { release(value_); }

  Value get() const { return value_; }
  /// The value as an array of one, for a call. A copy that get() makes costs a wait for the stores before it.
  const Value* address() const { return &value_; }
  Value& slot() { return value_; }
  Value take() { return std::exchange(value_, Value()); }

 private:
  Value value_;
};

}  // namespace spl
