// Every kind of heap object.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/syntax/source.h"
#include "host/values/elements.h"
#include "host/values/tracking.h"
#include "host/values/value.h"

namespace spl {

struct DeclInfo;
struct TypeExpr;

class Thread;
struct Proto;
struct LoadedModule;

/// UTF-8. The length and the offset of every 64th character are cached at first use, so that `text[i]` takes
/// constant time.
class Text : public Object {
 public:
  explicit Text(std::string text) : Object(Kind::kText), text_(std::move(text)) {}
  const std::string& text() const { return text_; }
  size_t length() const { return length_ == kUnknown ? count_characters() : length_; }
  bool is_ascii() const { return length() == text_.size(); }
  /// The byte offset of character `index` (< length()).
  size_t byte_of(size_t index) const;
  /// The caller must hold the only reference.
  void append(const std::string& more);

 private:
  static constexpr size_t kUnknown = SIZE_MAX;
  size_t count_characters() const;
  std::string text_;
  mutable size_t length_ = kUnknown;
  // Byte offsets of characters 0, 64, 128…, as far as they were needed; null for most texts.
  mutable std::unique_ptr<std::vector<size_t>> marks_;
};

struct Array : Object {
  Elements items;
  Array() : Object(Kind::kArray) {}
  explicit Array(Elements elements) : Object(Kind::kArray), items(std::move(elements)) {}
};

struct Tuple : Object {
  Elements items;
  std::vector<Symbol> names;  // (x: 1, y: 2); else empty
  Tuple() : Object(Kind::kTuple) {}
  explicit Tuple(Elements elements) : Object(Kind::kTuple), items(std::move(elements)) {}
};

/// Open addressing over an entry list, which keeps the order in which the keys were inserted.
struct Dict : Object {
  struct Entry {
    Value key, value;  // owned; a missing key marks a removed entry
    uint64_t hash;
  };
  std::vector<Entry> entries;
  std::vector<int32_t> index;  // into entries; -1 free
  uint32_t live = 0;

  Dict() : Object(Kind::kDict) {}
  Value* find(Value key) { return index.empty() ? nullptr : find(key, hash_of_key(key)); }
  void set(Value owned_key, Value owned_value);
  bool remove(Value key);
  void compact();  // erases removed entries; call it before an iteration by index
  void rebuild(size_t capacity);

 private:
  static uint64_t hash_of_key(Value key);
  Value* find(Value key, uint64_t hash);
};

struct Range : Object {
  Value start, end;  // int or nil
  bool inclusive = false;
  bool from_function = false;  // made by range(), not by a..b
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

/// `args` are borrowed; the result is owned. A mutating method may change args[0] in place.
using NativeFn = Value (*)(Thread& thread, Value* args, int count);
struct Native : Object {
  const char* name;
  NativeFn fn;
  int min_arguments, max_arguments;  // including a method's self; the maximum is -1 for any number
  NativeFn with_names = nullptr;     // for calls with named arguments: they are a dict after self
  bool is_method = false;
  Native(const char* n, NativeFn f, int l, int m)
      : Object(Kind::kNative), name(n), fn(f), min_arguments(l), max_arguments(m) {}
};

/// A row of a table of native functions; the fields are those of Native.
struct NativeEntry {
  const char* name;
  NativeFn fn;
  int min_arguments, max_arguments;
  NativeFn with_names = nullptr;
};

struct BoundMethod : Object {
  Value self, function;  // owned
  BoundMethod(Value s, Value f) : Object(Kind::kBoundMethod), self(s), function(f) {}
};

/// Where a method was declared, in order of precedence.
enum class Origin : uint8_t { kBody, kImpl, kTraitImpl, kDefault };
struct Method {
  Value function;  // Closure, never released
  bool is_static = false;
  bool is_mutating = false;
  Origin origin = Origin::kBody;
  bool takes_class = false;   // a class method: static, with the class as first parameter
  bool is_decorated = false;  // the function forwards to the decorated value, which it captures
};
struct Trait;

/// Base of records, enums and traits: named methods and statics. Types are immortal.
struct Type : Object {
  Symbol name = kNoSymbol;
  LoadedModule* module = nullptr;
  std::unordered_map<Symbol, Method> methods;
  std::unordered_map<Symbol, Value> statics;
  /// The statics of the declaration itself, which its methods see without a prefix. True for constants.
  std::unordered_map<Symbol, bool> declared_statics;
  std::unordered_map<Symbol, int> static_demands;  // of their types, see Demand
  std::vector<const Type*> parents;                // all ancestors: traits and parent classes
  mutable bool has_foreign_children = false;       // a class of another language has it as a parent
  explicit Type(Kind k) : Object(k) {}

  void add(Symbol method_name, const Method& method) {
    const auto [existing, is_new] = methods.emplace(method_name, method);
    if (!is_new && method.origin <= existing->second.origin) {
      existing->second = method;
    }
  }
  bool is_constant(Symbol value) const {
    const auto found = declared_statics.find(value);
    return found != declared_statics.end() && found->second;
  }
  /// The static of this name, which classes that inherit a variable share; null if there is none.
  Value* static_value(Symbol static_name);
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
  Value default_value;  // used if `initializer` is null
  const Proto* initializer = nullptr;
  bool has_default = false;        // the declaration has a default value
  bool is_declared = true;         // in the class body; else by an assignment to self.name
  const TypeExpr* type = nullptr;  // as declared
  int demand = 0;                  // of the type, see Demand
  Symbol convertible = kNoSymbol;  // of the declared type, if values of another language are converted to it
  bool replaces_method = false;  // assigned by `self.forward = …`, where forward is a method: nil until then
};
struct Record : Type {
  bool is_class = false;
  std::vector<FieldInfo> fields;
  std::unordered_map<Symbol, uint32_t> field_index;
  const Method* drop = nullptr;         // drop(), or __drop__() of a class that leaves its names to others
  const Method* hash = nullptr;         // __hash__(): a value whose hash is the object's
  const Method* native_form = nullptr;  // __native__(): the value that native functions receive
  const Method* same = nullptr;         // __is__(other): whether both stand for one object
  const Method* as_declared = nullptr;  // __as_declared__(type): the value for a parameter of a built-in type
  const Method* on_replace =
      nullptr;                      // __on_replace__: called before a field that holds such an object changes
  const Method* on_read = nullptr;  // __on_read__(): what the field of an object that computes fields returns
  Record* plain = nullptr;          // of objects that compute fields: their class; else null
  bool defines_equality = true;     // __eq__() or __ne__()
  const Method* initializer = nullptr;  // init(), or __init__()
  const Method* post_init = nullptr;    // __post_init__(), after the fields are set
  const Method* maker = nullptr;        // new()
  const Method* constructor = nullptr;  // __new__()
  int32_t order_index = -1;     // of the field __order__, which records the order of first assignments
  bool checks_widths = false;   // the type of a field has a Demand
  bool is_frozen = false;       // @dataclass(frozen: true): an assignment to a field is an error
  bool has_attributes = false;  // objects have attributes of their own, see Instance::attributes()
  std::unordered_set<Symbol> replaced_methods;  // names of fields and attributes of objects, too
  bool awaits_statement = false;                // true until the class statement runs
  bool has_objects = false;
  const DeclInfo* declaration = nullptr;
  int64_t key = 0;                   // key_of_class() of its statement
  bool has_several_parents = false;  // it, or an ancestor: super() depends on the class of the object
  Value foreign;  // the class of another language that the class statement created, see type_links.cpp; else
                  // nil
  // While the statement creates a class of another language: the values of types that are no names of the
  // module.
  const std::unordered_map<const TypeExpr*, Ref>* type_values = nullptr;
  struct DirectCalls* direct = nullptr;  // from @[direct(…)]; immortal, like the type
  char packed_letter = 0;     // from @[packed(…)]: how an operator receives an instance as an argument
  int32_t packed_field = -1;  // the field that it receives
  Record() : Type(Kind::kRecord) {}
  void cache_hooks();       // call it after the methods have changed
  void allow_attributes();  // before the class has objects
  size_t slot_count() const { return fields.size() + (has_attributes ? 1 : 0); }
  /// Whether an object may have another value where the class has this method.
  bool replaces(Symbol method) const {
    return !replaced_methods.empty() && replaced_methods.contains(method);
  }
  inline static bool has_foreign_classes = false;  // whether a class has __as_declared__
};
struct Instance : Object {
  Record* record;
  explicit Instance(Record* r) : Object(Kind::kInstance), record(r) {}
  Value* fields() { return reinterpret_cast<Value*>(this + 1); }
  /// What was assigned to names that the class does not have: a dict, or nil. Only if record->has_attributes.
  Value& attributes() { return fields()[record->fields.size()]; }
  /// The attribute of this name, or null.
  Value* attribute(Symbol name);
  void set_attribute(Symbol name, Value owned);
};
Instance* new_instance(Record* record);
/// Calls the class's drop() once. An error in it goes to standard error.
void run_drop(Instance* instance);

struct VariantInfo {
  Symbol name = kNoSymbol;
  std::vector<Symbol> field_names;
  uint32_t arity = 0;
  Value value;                 // of `Name = 3`, else nil
  Value singleton;             // the value of a variant without fields
  std::vector<int> demands{};  // of the types of the payload, see Demand; empty without any
};
struct Enum : Type {
  std::vector<VariantInfo> variants;
  bool is_strong = false;     // #[strong]: matches must name its variants
  bool is_of_python = false;  // class Color(Enum)
  Enum() : Type(Kind::kEnum) {}
  int index_of(Symbol variant) const;
};
struct EnumValue : Object {
  Enum* type;
  uint32_t variant;
  bool has_attachment;
  EnumValue(Enum* t, uint32_t v, bool attachment)
      : Object(Kind::kEnumValue), type(t), variant(v), has_attachment(attachment) {}
  const VariantInfo& info() const { return type->variants[variant]; }
  Value* payload() { return reinterpret_cast<Value*>(this + 1); }
  /// A value of the library that patterns, comparison and display do not see; it follows the payload.
  Value& attachment() { return payload()[info().arity]; }
  uint32_t part_count() const { return info().arity + (has_attachment ? 1 : 0); }
};
/// The payload and the attachment are filled with nil.
EnumValue* new_enum_value(Enum* type, uint32_t variant, bool has_attachment = false);

struct Cell : Object {
  Value value;  // owned
  explicit Cell(Value v) : Object(Kind::kCell), value(v) {}
  static void* operator new(size_t bytes) { return allocate_tracked(bytes); }
  static void operator delete(void* cell) { free_tracked(cell); }
};

/// The state of a `for` loop over a container other than a plain array or range.
struct Iterator : Object {
  Value source;  // owned
  int64_t position = 0, count = 0;
  explicit Iterator(Value s) : Object(Kind::kIterator), source(s) {}

  // A program can store the result of iter() and so close a cycle.
  static void* operator new(size_t bytes) { return allocate_tracked(bytes); }
  static void operator delete(void* iterator) { free_tracked(iterator); }
};

// ---- Construction and access ---------------------------------------------------------------------------

Value make_closure(const Proto* proto);
Value make_text(std::string text);
/// The text of one character, `bytes` long. The texts of ASCII characters are shared. Owned.
extern std::array<Object*, 128> ascii_texts;  // made when they are needed
Value make_first_character(const std::string& text, size_t at, size_t bytes);
inline Value make_character(const std::string& text, size_t at, size_t bytes) {
  const auto code = static_cast<unsigned char>(text[at]);
  const bool is_known = bytes == 1 && code < ascii_texts.size() && ascii_texts[code] != nullptr;
  return is_known ? retained(Value::object(ascii_texts[code])) : make_first_character(text, at, bytes);
}
/// A text of the program, which is never changed in place. Owned.
Value make_text_constant(const std::string& text);
Value make_array(std::vector<Value> owned_items);
Value make_tuple(std::vector<Value> owned_items);
Value make_range(Value start, Value end, bool inclusive);
/// An array of the integers start, start + step, … before `end`, which are computed when they are read.
Value integers_with_step(int64_t start, int64_t end, int64_t step, bool includes_end);

template <class T>
T* as_object(Value v) {
  return static_cast<T*>(v.as_object);
}
/// Whether reading a field of an object of `owner` that holds `value` calls __on_read__.
inline bool has_read_hook(const Record* owner, Value value) {
  return owner->plain != nullptr && value.is(Kind::kInstance) &&
         as_object<Instance>(value)->record->on_read != nullptr;
}
/// Whether a field that holds `value` must call __on_replace__ before it changes.
inline bool has_replace_hook(Value value) {
  return value.is(Kind::kInstance) && as_object<Instance>(value)->record->on_replace != nullptr;
}
/// Whether an assignment of `value` to a field is recorded in __order__.
inline bool records_order(const Record* record, Value value) {
  return record->order_index >= 0 && value.is_object();
}
/// Whether the value is an object of another language, which declared types convert.
inline bool is_foreign_object(Value value) {
  return value.is(Kind::kInstance) && as_object<Instance>(value)->record->as_declared != nullptr;
}
/// Whether an assignment of `value` to a field does more than to store it.
inline bool has_assignment_hook(const Record* record, Value value) {
  return record->checks_widths || record->is_frozen || records_order(record, value) ||
         is_foreign_object(value);
}
inline const std::string& text_of(Value v) { return as_object<Text>(v)->text(); }

/// The built-in enums.
struct CoreTypes {
  Enum* option;
  Enum* result;
  Record* failure;  // attempt() returns it in Err
  Enum* ellipsis;   // the type of `...` in a subscript
};
CoreTypes& core_types();
enum : uint32_t { kNone = 0, kSome = 1, kErr = 0, kOk = 1 };
Value make_some(Value owned);
Value make_none();
Value make_ok(Value owned);
Value make_err(Value owned);
bool is_none(Value v);     // nil or None
bool is_present(Value v);  // not nil, None or Err

/// Copy on write: afterwards `slot` holds the only reference to its value. Objects of classes are not copied.
void make_unique(Value& slot);
/// Whether the value is one that make_unique() copies if it is shared.
bool is_copied_on_write(Value v);

bool truthy(Value v);
bool equals(Value a, Value b);
/// `a is b`: identity of objects, and equality of other values.
bool is_same(Value a, Value b);
/// Whether two keys with equal hashes are one: identical or equal, as in Python.
bool are_one_key(Value a, Value b);
/// -1, 0 or 1; fails for values that cannot be ordered.
int compare(Value a, Value b);
uint64_t hash_of(Value v);
std::string type_name(Value v);
std::string display(Value v);
/// As display(), with texts in quotes and the hook __repr__: Python's repr().
std::string representation(Value v);
/// The string with escapes for characters outside ASCII.
std::string in_ascii(const std::string& text);
std::string display_float(double value);
std::string format_value(Value v, const std::string& spec);
/// A value in an interpolated text without a format spec: as with an empty spec.
std::string interpolated_text(Value v);
/// Python's `pattern % values`: a tuple holds several values, a dict those of %(name)s.
std::string percent_format(const std::string& pattern, Value values);

}  // namespace spl
