// Life and death of heap objects, dictionaries, equality, order and hashing.
#include "host/values/objects.h"
#include "host/values/nesting.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>

#include "host/syntax/utf8.h"
#include "host/values/error.h"
#include "host/values/generator.h"
#include "host/values/sized.h"
#include "host/vm/thread.h"

namespace spl {

void fail(std::string message, std::string hint) { throw SimpleError(std::move(message), std::move(hint)); }

namespace {

// A chain of a million objects must not take a million C++ frames: dying ones wait in line below this depth,
// walks fail.
constexpr int kMostNested = 200;

void release_all(std::vector<Value>& items) {
  for (const Value v : items) {
    release(v);
  }
}

}  // namespace

size_t Text::length() const {
  if (length_ == kUnknown) {
    length_ = utf8_length(text_);
  }
  return length_;
}

size_t Text::byte_of(size_t which) const {
  constexpr size_t kBetween = 64;
  if (is_ascii()) {
    return which;
  }
  if (marks_.empty()) {
    marks_.push_back(0);
  }
  size_t known = std::min(which / kBetween, marks_.size() - 1), at = marks_[known];
  for (size_t character = known * kBetween; character < which;) {
    at += utf8_step(text_, at);
    if (++character % kBetween == 0 && ++known == marks_.size()) {
      marks_.push_back(at);
    }
  }
  return at;
}

void Text::append(const std::string& more) {
  text_ += more;
  length_ = kUnknown;
}

void Record::note_own_hooks() {
  static const Symbol at_the_end = intern("drop"), at_replacement = intern("__on_replace__"),
                      order = intern("__order__");
  drop = find(at_the_end);
  replaced = find(at_replacement);
  const auto noted = field_index.find(order);
  order_index = noted == field_index.end() ? -1 : static_cast<int32_t>(noted->second);
}

void run_drop(Instance* instance) {
  instance->dropped = true;
  current_thread().drop(instance);
}

namespace {

void free_object(Object* object) {
  switch (object->kind) {
    case Kind::kText:
      delete static_cast<Text*>(object);
      break;
    case Kind::kArray: {
      auto* array = static_cast<Array*>(object);
      release_all(array->items);
      delete array;
      break;
    }
    case Kind::kTuple: {
      auto* tuple = static_cast<Tuple*>(object);
      release_all(tuple->items);
      delete tuple;
      break;
    }
    case Kind::kDict: {
      auto* dict = static_cast<Dict*>(object);
      for (const auto& entry : dict->entries) {
        release(entry.key);
        release(entry.value);
      }
      delete dict;
      break;
    }
    case Kind::kRange:
      delete static_cast<Range*>(object);
      break;
    case Kind::kSlice: {
      auto* slice = static_cast<Slice*>(object);
      release(slice->start);
      release(slice->stop);
      release(slice->step);
      delete slice;
      break;
    }
    case Kind::kInstance: {
      auto* instance = static_cast<Instance*>(object);
      if (instance->record->drop != nullptr && !instance->dropped) {
        instance->refs = 1;
        run_drop(instance);
        if (--instance->refs != 0) {
          return;  // drop() has put it somewhere: it lives on, and will not be dropped again
        }
      }
      const size_t count = instance->record->fields.size();
      for (size_t i = 0; i < count; ++i) {
        release(instance->fields()[i]);
      }
      if (instance->record->is_class) {
        free_tracked(instance);
      } else {
        ::operator delete(instance);
      }
      break;
    }
    case Kind::kEnumValue: {
      auto* value = static_cast<EnumValue*>(object);
      for (uint32_t i = 0; i < value->info().arity; ++i) {
        release(value->payload()[i]);
      }
      ::operator delete(value);
      break;
    }
    case Kind::kClosure: {
      auto* closure = static_cast<Closure*>(object);
      release_all(closure->captured);
      delete closure;
      break;
    }
    case Kind::kBoundMethod: {
      auto* bound = static_cast<BoundMethod*>(object);
      release(bound->self);
      release(bound->function);
      delete bound;
      break;
    }
    case Kind::kCell: {
      auto* cell = static_cast<Cell*>(object);
      release(cell->value);
      delete cell;
      break;
    }
    case Kind::kIterator: {
      auto* iterator = static_cast<Iterator*>(object);
      release(iterator->source);
      delete iterator;
      break;
    }
    case Kind::kGenerator: {
      auto* generator = static_cast<Generator*>(object);
      generator->refs = 1;
      end_generator(generator);
      if (--generator->refs != 0) {
        return;  // what it had deferred has put it somewhere
      }
      release(generator->closure);
      delete generator;
      break;
    }
    case Kind::kThread:
      destroy_thread_handle(object);
      break;
    case Kind::kCause:
      delete static_cast<Cause*>(object);
      break;
    case Kind::kNative:
    case Kind::kExtern:
    case Kind::kRecord:
    case Kind::kEnum:
    case Kind::kTrait:
    case Kind::kModule:
      break;  // these live as long as the process
  }
}

}  // namespace

void destroy(Object* object) {
  static thread_local int depth = 0;
  static thread_local std::vector<Object*> waiting;
  if (depth >= kMostNested) {
    waiting.push_back(object);
    return;
  }
  ++depth;
  free_object(object);
  --depth;
  if (depth != 0) {
    return;
  }
  while (!waiting.empty()) {
    Object* next = waiting.back();
    waiting.pop_back();
    ++depth;
    free_object(next);
    --depth;
  }
}

Instance* new_instance(Record* record) {
  const size_t count = record->fields.size();
  const size_t bytes = sizeof(Instance) + count * sizeof(Value);
  void* memory = record->is_class ? allocate_tracked(bytes) : ::operator new(bytes);
  auto* instance = new (memory) Instance(record);
  record->has_objects = true;
  for (size_t i = 0; i < count; ++i) {
    new (instance->fields() + i) Value();
  }
  return instance;
}

EnumValue* new_enum_value(Enum* type, uint32_t variant) {
  const uint32_t arity = type->variants[variant].arity;
  void* memory = ::operator new(sizeof(EnumValue) + arity * sizeof(Value));
  auto* value = new (memory) EnumValue(type, variant);
  for (uint32_t i = 0; i < arity; ++i) {
    new (value->payload() + i) Value();
  }
  return value;
}

int Enum::index_of(Symbol variant) const {
  for (size_t i = 0; i < variants.size(); ++i) {
    if (variants[i].name == variant) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

Value make_closure(const Proto* proto) { return Value::object(new Closure(proto)); }
Value make_text(std::string text) { return Value::object(new Text(std::move(text))); }
Value make_array(std::vector<Value> items) {
  auto* array = new Array();
  array->items = std::move(items);
  return Value::object(array);
}
Value make_tuple(std::vector<Value> items) {
  auto* tuple = new Tuple();
  tuple->items = std::move(items);
  return Value::object(tuple);
}
Value make_range(Value start, Value end, bool inclusive) {
  for (const Value v : {start, end}) {
    if (!is_any_integer(v) && !v.is_nil()) {
      fail("range bounds must be integers, got " + type_name(v));
    }
  }
  auto* range = new Range();
  range->start = plain(start);
  range->end = plain(end);
  range->inclusive = inclusive;
  return Value::object(range);
}

CoreTypes& core_types() {
  static CoreTypes types = [] {
    const auto make = [](const char* name, const char* empty, uint32_t empty_arity, const char* full) {
      auto* type = new Enum();
      type->name = intern(name);
      VariantInfo first{intern(empty), {}, empty_arity, Value(), Value()};
      VariantInfo second{intern(full), {}, 1, Value(), Value()};
      type->variants = {first, second};
      return type;
    };
    CoreTypes made{make("Option", "None", 0, "Some"), make("Result", "Err", 1, "Ok"), new Record(),
                   new Enum()};
    made.ellipsis->name = intern("Ellipsis");
    made.ellipsis->variants = {{intern("Ellipsis"), {}, 0, Value(), Value()}};
    made.ellipsis->variants[0].singleton = Value::object(new_enum_value(made.ellipsis, 0));
    made.option->variants[kNone].singleton = Value::object(new_enum_value(made.option, kNone));
    made.failure->name = intern("Failure");
    made.failure->is_class = true;
    for (const char* field : {"message", "file", "line", "payload", "cause"}) {
      made.failure->field_index[intern(field)] = static_cast<uint32_t>(made.failure->fields.size());
      made.failure->fields.push_back({intern(field), Value(), nullptr});
    }
    return made;
  }();
  return types;
}

namespace {
Value make_variant(Enum* type, uint32_t variant, Value owned) {
  EnumValue* value = new_enum_value(type, variant);
  value->payload()[0] = owned;
  return Value::object(value);
}
}  // namespace

Value make_some(Value owned) { return make_variant(core_types().option, kSome, owned); }
Value make_none() { return retained(core_types().option->variants[kNone].singleton); }
Value make_ok(Value owned) { return make_variant(core_types().result, kOk, owned); }
Value make_err(Value owned) { return make_variant(core_types().result, kErr, owned); }
bool is_none(Value v) {
  if (v.is_nil()) {
    return true;
  }
  if (!v.is(Kind::kEnumValue)) {
    return false;
  }
  const auto* value = as_object<EnumValue>(v);
  return value->type == core_types().option && value->variant == kNone;
}

void make_unique(Value& slot) {
  if (!slot.is_object() || slot.as_object->refs == 1) {
    return;
  }
  Object* copy = nullptr;
  switch (slot.as_object->kind) {
    case Kind::kText:
      copy = new Text(text_of(slot));
      break;
    case Kind::kArray: {
      auto* array = new Array();
      array->items = as_object<Array>(slot)->items;
      for (const Value v : array->items) {
        retained(v);
      }
      copy = array;
      break;
    }
    case Kind::kTuple: {
      auto* tuple = new Tuple();
      tuple->items = as_object<Tuple>(slot)->items;
      tuple->names = as_object<Tuple>(slot)->names;
      for (const Value v : tuple->items) {
        retained(v);
      }
      copy = tuple;
      break;
    }
    case Kind::kDict: {
      auto* from = as_object<Dict>(slot);
      auto* dict = new Dict();
      dict->entries = from->entries;
      dict->index = from->index;
      dict->live = from->live;
      dict->sorted = from->sorted;
      for (const auto& entry : dict->entries) {
        retained(entry.key);
        retained(entry.value);
      }
      copy = dict;
      break;
    }
    case Kind::kInstance: {
      auto* from = as_object<Instance>(slot);
      if (from->record->is_class) {
        return;
      }
      Instance* instance = new_instance(from->record);
      for (size_t i = 0; i < from->record->fields.size(); ++i) {
        instance->fields()[i] = retained(from->fields()[i]);
      }
      copy = instance;
      break;
    }
    default:
      return;
  }
  --slot.as_object->refs;
  slot.as_object = copy;
}

// ---- Dict ------------------------------------------------------------------------------------------------

void Dict::rebuild(size_t capacity) {
  size_t kept = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].key.is_missing()) {
      entries[kept++] = entries[i];
    }
  }
  entries.resize(kept);
  size_t size = 8;
  while (size < capacity * 2) {
    size *= 2;
  }
  index.assign(size, -1);
  for (size_t i = 0; i < entries.size(); ++i) {
    size_t at = entries[i].hash & (size - 1);
    while (index[at] != -1) {
      at = (at + 1) & (size - 1);
    }
    index[at] = static_cast<int32_t>(i);
  }
}

Value* Dict::find(Value key) {
  if (index.empty()) {
    return nullptr;
  }
  const uint64_t hash = hash_of(key);
  const size_t mask = index.size() - 1;
  for (size_t at = hash & mask; index[at] != -1; at = (at + 1) & mask) {
    Entry& entry = entries[static_cast<size_t>(index[at])];
    if (entry.hash == hash && !entry.key.is_missing() && equals(entry.key, key)) {
      return &entry.value;
    }
  }
  return nullptr;
}

void Dict::set(Value owned_key, Value owned_value) {
  if (Value* found = find(owned_key)) {
    release(owned_key);
    assign(*found, owned_value);
    return;
  }
  if ((entries.size() + 1) * 2 > index.size()) {
    rebuild(live + 1 + live / 2);
  }
  sorted = false;
  const uint64_t hash = hash_of(owned_key);
  size_t at = hash & (index.size() - 1);
  while (index[at] != -1) {
    at = (at + 1) & (index.size() - 1);
  }
  index[at] = static_cast<int32_t>(entries.size());
  entries.push_back({owned_key, owned_value, hash});
  ++live;
}

bool Dict::remove(Value key) {
  Value* found = find(key);
  if (found == nullptr) {
    return false;
  }
  Entry& entry = *reinterpret_cast<Entry*>(reinterpret_cast<char*>(found) - offsetof(Entry, value));
  const Value old_key = std::exchange(entry.key, Value::missing());
  const Value old_value = std::exchange(entry.value, Value());
  --live;
  release(old_key);
  release(old_value);
  return true;
}

namespace {
int key_rank(Value v) {
  if (v.is_bool()) {
    return 0;
  }
  if (is_any_number(v)) {
    return 1;
  }
  if (v.is(Kind::kText)) {
    return 2;
  }
  return 3;
}
bool key_less(const Dict::Entry& a, const Dict::Entry& b) {
  const int ranks[] = {key_rank(a.key), key_rank(b.key)};
  if (ranks[0] != ranks[1]) {
    return ranks[0] < ranks[1];
  }
  if (ranks[0] == 3) {
    return display(a.key) < display(b.key);
  }
  return compare(a.key, b.key) < 0;
}
}  // namespace

void Dict::sort() {
  if (sorted && live == entries.size()) {
    return;
  }
  rebuild(live + 1);
  std::stable_sort(entries.begin(), entries.end(), key_less);
  rebuild(live + 1);
  sorted = true;
}

// ---- Comparing -------------------------------------------------------------------------------------------

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
      break;
    default:
      return is_single(v) ? v.as_float != 0 : v.as_int != 0;
  }
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
      return current_thread().instance_truth(v);
    default:
      return true;
  }
}

namespace {

bool items_equal(const std::vector<Value>& a, const std::vector<Value>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), equals);
}

bool is_some(Value v) {
  return v.is(Kind::kEnumValue) && as_object<EnumValue>(v)->type == core_types().option &&
         as_object<EnumValue>(v)->variant == kSome;
}

bool objects_equal(Value a, Value b) {
  if (a.as_object == b.as_object && a.as_object->kind != Kind::kInstance) {
    return true;
  }
  if (a.is(Kind::kText) && b.is(Kind::kText)) {
    return text_of(a) == text_of(b);
  }
  const Nesting nesting(kMostNested, "compared");
  if (is_some(a) && !(b.is(Kind::kEnumValue) && as_object<EnumValue>(b)->type == core_types().option)) {
    return equals(as_object<EnumValue>(a)->payload()[0], b);
  }
  if (is_some(b) && !is_some(a) && !is_none(a)) {
    return equals(b, a);
  }
  if (a.as_object->kind != b.as_object->kind) {
    return a.is(Kind::kInstance) || b.is(Kind::kInstance) ? current_thread().instance_equal(a, b) : false;
  }
  switch (a.as_object->kind) {
    case Kind::kArray:
      return items_equal(as_object<Array>(a)->items, as_object<Array>(b)->items);
    case Kind::kTuple:
      return items_equal(as_object<Tuple>(a)->items, as_object<Tuple>(b)->items);
    case Kind::kDict: {
      auto* left = as_object<Dict>(a);
      auto* right = as_object<Dict>(b);
      if (left->live != right->live) {
        return false;
      }
      for (const auto& entry : left->entries) {
        if (entry.key.is_missing()) {
          continue;
        }
        const Value* other = right->find(entry.key);
        if (other == nullptr || !equals(entry.value, *other)) {
          return false;
        }
      }
      return true;
    }
    case Kind::kRange: {
      const auto* left = as_object<Range>(a);
      const auto* right = as_object<Range>(b);
      return equals(left->start, right->start) && equals(left->end, right->end) &&
             left->inclusive == right->inclusive;
    }
    case Kind::kSlice: {
      const auto* left = as_object<Slice>(a);
      const auto* right = as_object<Slice>(b);
      return equals(left->start, right->start) && equals(left->stop, right->stop) &&
             equals(left->step, right->step);
    }
    case Kind::kEnumValue: {
      auto* left = as_object<EnumValue>(a);
      auto* right = as_object<EnumValue>(b);
      return left->type == right->type && left->variant == right->variant &&
             std::equal(left->payload(), left->payload() + left->info().arity, right->payload(), equals);
    }
    case Kind::kInstance:
      return current_thread().instance_equal(a, b);
    case Kind::kBoundMethod:
      return equals(as_object<BoundMethod>(a)->self, as_object<BoundMethod>(b)->self) &&
             equals(as_object<BoundMethod>(a)->function, as_object<BoundMethod>(b)->function);
    default:
      return false;
  }
}

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
  if (a.is(Kind::kInstance) || b.is(Kind::kInstance)) {
    return current_thread().instance_equal(a, b);
  }
  return false;
}

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
  if (a.is_bool() && b.is_bool()) {
    return static_cast<int>(a.as_bool) - static_cast<int>(b.as_bool);
  }
  if (a.is(Kind::kText) && b.is(Kind::kText)) {
    return text_of(a).compare(text_of(b)) < 0 ? -1 : text_of(a) != text_of(b);
  }
  const bool arrays = a.is(Kind::kArray) && b.is(Kind::kArray);
  if (arrays || (a.is(Kind::kTuple) && b.is(Kind::kTuple))) {
    const Nesting nesting(kMostNested, "compared");
    const auto& left = arrays ? as_object<Array>(a)->items : as_object<Tuple>(a)->items;
    const auto& right = arrays ? as_object<Array>(b)->items : as_object<Tuple>(b)->items;
    for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      if (const int order = compare(left[i], right[i]); order != 0) {
        return order;
      }
    }
    return left.size() < right.size() ? -1 : left.size() > right.size();
  }
  if (a.is(Kind::kInstance) || b.is(Kind::kInstance)) {
    return current_thread().instance_compare(a, b);
  }
  fail("cannot order " + type_name(a) + " and " + type_name(b));
}

uint64_t hash_of(Value v) {
  const auto mix = [](uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 29;
    return x;
  };
  switch (v.tag) {
    case Tag::kNil:
    case Tag::kMissing:
      return 1;
    case Tag::kBool:
      return v.as_bool ? 2 : 3;
    case Tag::kInt:
      return mix(static_cast<uint64_t>(v.as_int));
    case Tag::kFloat: {
      const double whole = std::trunc(v.as_float);
      if (whole == v.as_float && std::fabs(whole) < 9e18) {
        return mix(static_cast<uint64_t>(static_cast<int64_t>(whole)));  // 1.0 and 1 are one key
      }
      return std::hash<double>()(v.as_float);
    }
    case Tag::kObject:
      break;
    default:
      return hash_of(plain(v));
  }
  if (v.is(Kind::kText)) {
    return std::hash<std::string>()(text_of(v));
  }
  const Nesting nesting(kMostNested, "a key");
  switch (v.as_object->kind) {
    case Kind::kArray:
    case Kind::kTuple: {
      const auto& items = v.is(Kind::kArray) ? as_object<Array>(v)->items : as_object<Tuple>(v)->items;
      uint64_t hash = items.size();
      for (const Value item : items) {
        hash = mix(hash * 31 + hash_of(item));
      }
      return hash;
    }
    case Kind::kEnumValue: {
      auto* value = as_object<EnumValue>(v);
      if (is_none(v)) {
        return 1;
      }
      if (is_some(v)) {
        return hash_of(value->payload()[0]);
      }
      uint64_t hash = reinterpret_cast<uintptr_t>(value->type) + value->variant;
      for (uint32_t i = 0; i < value->info().arity; ++i) {
        hash = mix(hash * 31 + hash_of(value->payload()[i]));
      }
      return hash;
    }
    case Kind::kInstance: {
      auto* instance = as_object<Instance>(v);
      if (instance->record->is_class) {
        return mix(reinterpret_cast<uintptr_t>(instance));
      }
      uint64_t hash = reinterpret_cast<uintptr_t>(instance->record);
      for (size_t i = 0; i < instance->record->fields.size(); ++i) {
        hash = mix(hash * 31 + hash_of(instance->fields()[i]));
      }
      return hash;
    }
    case Kind::kDict:
      fail("a dict cannot be a key");
    default:
      return mix(reinterpret_cast<uintptr_t>(v.as_object));
  }
}

}  // namespace spl
