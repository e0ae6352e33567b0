// Every kind of heap object.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/syntax/source.h"
#include "host/values/tracking.h"
#include "host/values/value.h"

namespace spl {

class Thread;
struct Proto;
struct LoadedModule;

/// UTF-8. Its length, and where every 64th character begins, are remembered once asked for: `text[i]` costs
/// the same for each character, whatever its alphabet.
class Text : public Object {
 public:
  explicit Text(std::string text) : Object(Kind::kText), text_(std::move(text)) {}
  const std::string& text() const { return text_; }
  size_t length() const;  // in characters
  bool is_ascii() const { return length() == text_.size(); }
  /// Where character `which` (< length()) begins.
  size_t byte_of(size_t which) const;
  /// Only for a text that nobody else holds.
  void append(const std::string& more);

 private:
  static constexpr size_t kUnknown = SIZE_MAX;
  std::string text_;
  mutable size_t length_ = kUnknown;
  mutable std::vector<size_t> marks_;  // where characters 0, 64, 128… begin, as far as anybody asked
};

struct Array : Object {
  std::vector<Value> items;  // owned
  Array() : Object(Kind::kArray) {}
};

struct Tuple : Object {
  std::vector<Value> items;   // owned
  std::vector<Symbol> names;  // (x: 1, y: 2); else empty
  Tuple() : Object(Kind::kTuple) {}
};

/// Open addressing over an entry list. Its order is that of its keys, found when somebody looks.
struct Dict : Object {
  struct Entry {
    Value key, value;  // owned; a missing key marks a removed entry
    uint64_t hash;
  };
  std::vector<Entry> entries;
  std::vector<int32_t> index;  // into entries; -1 free
  uint32_t live = 0;
  bool sorted = true;

  Dict() : Object(Kind::kDict) {}
  Value* find(Value key);
  void set(Value owned_key, Value owned_value);
  bool remove(Value key);
  void sort();  // also drops removed entries
  void rebuild(size_t capacity);
};

struct Range : Object {
  Value start, end;  // int or nil
  bool inclusive = false;
  Range() : Object(Kind::kRange) {}
};

struct Slice : Object {
  Value start, stop, step;  // owned; nil where omitted
  Slice() : Object(Kind::kSlice) {}
};

struct Closure : Object {
  const Proto* proto;
  std::vector<Value> captured;  // owned; cells for shared variables
  explicit Closure(const Proto* p) : Object(Kind::kClosure), proto(p) {}
};

/// `args` are borrowed; the result is owned. A mutating builtin method may change args[0] in place.
using NativeFn = Value (*)(Thread& thread, Value* args, int count);
struct Native : Object {
  const char* name;
  NativeFn fn;
  int least, most;  // arguments, a method's self among them; most -1: any number
  bool is_method = false;
  Native(const char* n, NativeFn f, int l, int m)
      : Object(Kind::kNative), name(n), fn(f), least(l), most(m) {}
};

struct BoundMethod : Object {
  Value self, function;  // owned
  BoundMethod(Value s, Value f) : Object(Kind::kBoundMethod), self(s), function(f) {}
};

/// Whose method it is; a nearer one hides those further away.
enum class Origin : uint8_t { kBody, kImpl, kTraitImpl, kDefault };
struct Method {
  Value function;  // Closure, owned for ever
  bool is_static = false;
  bool is_mutating = false;
  Origin origin = Origin::kBody;
  bool takes_class = false;  // static; its first parameter is the class that it is called on
};
struct Trait;

/// What records and enums share: named methods. Types live for ever.
struct Type : Object {
  Symbol name = kNoSymbol;
  LoadedModule* module = nullptr;
  std::unordered_map<Symbol, Method> methods;
  std::unordered_map<Symbol, Value> statics;
  /// The values that the declaration itself gives, seen bare in its methods: whether they are constants.
  std::unordered_map<Symbol, bool> declared_statics;
  std::vector<const Type*> parents;  // traits, and classes that it is built on; theirs too
  explicit Type(Kind k) : Object(k) {}

  void add(Symbol called, const Method& method) {
    const auto [known, is_new] = methods.emplace(called, method);
    if (!is_new && method.origin <= known->second.origin) {
      known->second = method;
    }
  }
  bool is_constant(Symbol value) const {
    const auto found = declared_statics.find(value);
    return found != declared_statics.end() && found->second;
  }
  const Method* find(Symbol method) const {
    const auto found = methods.find(method);
    return found == methods.end() ? nullptr : &found->second;
  }
};

struct Trait : Type {
  Trait() : Type(Kind::kTrait) {}
};

struct FieldInfo {
  Symbol name = kNoSymbol;
  Value default_value;  // used when `initializer` is null
  const Proto* initializer = nullptr;
};
struct Record : Type {
  bool is_class = false;
  std::vector<FieldInfo> fields;
  std::unordered_map<Symbol, uint32_t> field_index;
  const Method* drop = nullptr;
  const Method* replaced = nullptr;  // __on_replace__: asked before a field lets go of such an object
  int32_t order_index = -1;     // of the field __order__, where objects note which fields got objects first
  bool awaits_parents = false;  // until its class statement runs
  bool has_objects = false;
  struct DirectCalls* direct = nullptr;  // of @[direct(…)]; lives for ever, like the type
  Record() : Type(Kind::kRecord) {}
  void note_own_hooks();  // once the methods are there
};
struct Instance : Object {
  Record* record;
  explicit Instance(Record* r) : Object(Kind::kInstance), record(r) {}
  Value* fields() { return reinterpret_cast<Value*>(this + 1); }
};
Instance* new_instance(Record* record);
/// Calls the class's drop(), once; what fails in it is told on standard error.
void run_drop(Instance* instance);

struct VariantInfo {
  Symbol name = kNoSymbol;
  std::vector<Symbol> field_names;
  uint32_t arity = 0;
  Value value;      // = 3
  Value singleton;  // of a variant without fields
};
struct Enum : Type {
  std::vector<VariantInfo> variants;
  bool is_strong = false;  // #[strong]: matches name its variants
  Enum() : Type(Kind::kEnum) {}
  int index_of(Symbol variant) const;
};
struct EnumValue : Object {
  Enum* type;
  uint32_t variant;
  EnumValue(Enum* t, uint32_t v) : Object(Kind::kEnumValue), type(t), variant(v) {}
  const VariantInfo& info() const { return type->variants[variant]; }
  Value* payload() { return reinterpret_cast<Value*>(this + 1); }
};
/// The payload is filled with nil.
EnumValue* new_enum_value(Enum* type, uint32_t variant);

struct Cell : Object {
  Value value;  // owned
  explicit Cell(Value v) : Object(Kind::kCell), value(v) {}
  static void* operator new(size_t bytes) { return allocate_tracked(bytes); }
  static void operator delete(void* cell) { free_tracked(cell); }
};

/// What a `for` loop holds of a container that is no plain array or range.
struct Iterator : Object {
  Value source;  // owned
  int64_t position = 0, count = 0;
  explicit Iterator(Value s) : Object(Kind::kIterator), source(s) {}

  // A program that keeps what iter() gave may close a cycle through it.
  static void* operator new(size_t bytes) { return allocate_tracked(bytes); }
  static void operator delete(void* iterator) { free_tracked(iterator); }
};

struct ThreadHandle;  // vm/threads.h

// ---- Making and reading -------------------------------------------------------------------------------

Value make_closure(const Proto* proto);
Value make_text(std::string text);
inline Array* new_array() { return new Array(); }
inline Tuple* new_tuple() { return new Tuple(); }
Value make_array(std::vector<Value> owned_items);
Value make_tuple(std::vector<Value> owned_items);
Value make_range(Value start, Value end, bool inclusive);

template <class T>
T* as_object(Value v) {
  return static_cast<T*>(v.as_object);
}
/// Whether a field that holds `value` asks it before it is given another one.
inline bool has_replace_hook(Value value) {
  return value.is(Kind::kInstance) && as_object<Instance>(value)->record->replaced != nullptr;
}
/// Whether a field that gets `value` is noted in the order of its object's fields.
inline bool notes_order(const Record* record, Value value) {
  return record->order_index >= 0 && value.is_object();
}
inline const std::string& text_of(Value v) { return as_object<Text>(v)->text(); }

/// The built-in enums.
struct CoreTypes {
  Enum* option;
  Enum* result;
  Record* failure;  // what attempt() gives in Err
  Enum* ellipsis;   // of the one value that `...` is in a subscript
};
CoreTypes& core_types();
enum : uint32_t { kNone = 0, kSome = 1, kErr = 0, kOk = 1 };
Value make_some(Value owned);
Value make_none();
Value make_ok(Value owned);
Value make_err(Value owned);
bool is_none(Value v);  // nil or None

/// A value's own copy before it is changed: afterwards `slot` holds the only reference.
void make_unique(Value& slot);

bool truthy(Value v);
bool equals(Value a, Value b);
/// -1, 0, 1; fails for values without an order between them.
int compare(Value a, Value b);
uint64_t hash_of(Value v);
std::string type_name(Value v);
std::string display(Value v);
std::string display_float(double value);
std::string format_value(Value v, const std::string& spec);

}  // namespace spl
