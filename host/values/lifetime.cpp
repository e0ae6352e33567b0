// Allocation, destruction and copy on write of heap objects.
#include <new>

#include "host/values/error.h"
#include "host/values/object_hooks.h"
#include "host/values/objects.h"
#include "host/values/sized.h"

namespace spl {

constinit ObjectHooks filled_object_hooks{};

Instance* new_instance(Record* record) {
  const size_t count = record->slot_count();
  const size_t bytes = sizeof(Instance) + count * sizeof(Value);
  void* memory = record->is_class ? allocate_tracked(bytes) : ::operator new(bytes);
  auto* instance = new (memory) Instance(record);
  record->has_objects = true;
  for (size_t i = 0; i < count; ++i) {
    new (instance->fields() + i) Value();
  }
  return instance;
}

EnumValue* new_enum_value(Enum* type, uint32_t variant, bool has_attachment) {
  const uint32_t parts = type->variants[variant].arity + (has_attachment ? 1 : 0);
  void* memory = ::operator new(sizeof(EnumValue) + parts * sizeof(Value));
  auto* value = new (memory) EnumValue(type, variant, has_attachment);
  for (uint32_t i = 0; i < parts; ++i) {
    new (value->payload() + i) Value();
  }
  return value;
}

Value make_closure(const Proto* proto) { return Value::object(new Closure(proto)); }
Value make_text(std::string text) { return Value::object(new Text(std::move(text))); }
Value make_array(std::vector<Value> items) { return Value::object(new Array(Elements(std::move(items)))); }
Value make_tuple(std::vector<Value> items) { return Value::object(new Tuple(Elements(std::move(items)))); }
Value integers_with_step(int64_t start, int64_t end, int64_t step, bool includes_end) {
  auto* array = new Array();
  const bool is_empty =
      step > 0 ? (includes_end ? start > end : start >= end) : (includes_end ? start < end : start <= end);
  if (!is_empty) {
    const auto first = static_cast<uint64_t>(start), last = static_cast<uint64_t>(end);
    const uint64_t distance = step > 0 ? last - first : first - last;  // modulo 2^64
    const uint64_t by = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
    const uint64_t steps = (includes_end ? distance : distance - 1) / by;
    if (steps >= static_cast<uint64_t>(INT64_MAX)) {
      delete array;
      fail("step(): the range has more than 2^63 - 1 numbers");
    }
    array->items.fill_with_integers(start, step, steps + 1);
  }
  return Value::object(array);
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

void run_drop(Instance* instance) {
  instance->dropped = true;
  object_hooks().drop(instance);
}

void request_collection() { object_hooks().request_collection(); }

namespace {

// Destroying a chain of a million objects must not take a million C++ frames. Below this depth, objects wait
// in a list until the outermost call destroys them.
constexpr int kMaxDepth = 200;

void free_dict(Dict* dict) {
  for (const auto& entry : dict->entries) {
    release(entry.key);
    release(entry.value);
  }
  delete dict;
}

void free_slice(Slice* slice) {
  release(slice->start);
  release(slice->stop);
  release(slice->step);
  delete slice;
}

void free_instance(Instance* instance) {
  if (instance->record->drop != nullptr && !instance->dropped) {
    instance->refs = 1;
    run_drop(instance);
    if (--instance->refs != 0) {
      return;  // drop() stored a reference: the instance stays alive, and drop() does not run again
    }
  }
  const size_t count = instance->record->slot_count();
  for (size_t i = 0; i < count; ++i) {
    release(instance->fields()[i]);
  }
  if (instance->record->is_class) {
    free_tracked(instance);
  } else {
    ::operator delete(instance);
  }
}

void free_enum_value(EnumValue* value) {
  for (uint32_t i = 0; i < value->part_count(); ++i) {
    release(value->payload()[i]);
  }
  ::operator delete(value);
}

void free_bound_method(BoundMethod* bound) {
  release(bound->self);
  release(bound->function);
  delete bound;
}

void free_closure(Closure* closure) {
  for (const Value v : closure->captured) {
    release(v);
  }
  delete closure;
}

// Releases the only value that the object holds, then the object.
template <class T>
void free_holder(T* object, Value held) {
  release(held);
  delete object;
}

void free_object(Object* object) {
  switch (object->kind) {
    case Kind::kText:
      return delete static_cast<Text*>(object);
    case Kind::kArray:
      return delete static_cast<Array*>(object);
    case Kind::kTuple:
      return delete static_cast<Tuple*>(object);
    case Kind::kDict:
      return free_dict(static_cast<Dict*>(object));
    case Kind::kRange:
      return delete static_cast<Range*>(object);
    case Kind::kSlice:
      return free_slice(static_cast<Slice*>(object));
    case Kind::kInstance:
      return free_instance(static_cast<Instance*>(object));
    case Kind::kEnumValue:
      return free_enum_value(static_cast<EnumValue*>(object));
    case Kind::kClosure:
      return free_closure(static_cast<Closure*>(object));
    case Kind::kBoundMethod:
      return free_bound_method(static_cast<BoundMethod*>(object));
    case Kind::kCell:
      return free_holder(static_cast<Cell*>(object), static_cast<Cell*>(object)->value);
    case Kind::kIterator:
      return free_holder(static_cast<Iterator*>(object), static_cast<Iterator*>(object)->source);
    case Kind::kGenerator:
    case Kind::kThread:
      return object_hooks().destroy(object);
    case Kind::kCause:
      return delete static_cast<Cause*>(object);
    case Kind::kNative:
    case Kind::kExtern:
    case Kind::kRecord:
    case Kind::kEnum:
    case Kind::kTrait:
    case Kind::kModule:
    case Kind::kSharedValues:
      return;  // immortal, except the last one, which its last part frees
  }
}

}  // namespace

void destroy(Object* object) {
  static thread_local int depth = 0;
  static thread_local std::vector<Object*> pending;
  if (depth >= kMaxDepth) {
    pending.push_back(object);
    return;
  }
  ++depth;
  free_object(object);
  --depth;
  if (depth != 0) {
    return;
  }
  while (!pending.empty()) {
    Object* next = pending.back();
    pending.pop_back();
    ++depth;
    free_object(next);
    --depth;
  }
}

namespace {

Object* copy_of(const Array& from) {
  auto* copy = new Array(from.items.copy());
  copy->shape = from.shape;
  return copy;
}

Object* copy_of(const Tuple& from) {
  auto* copy = new Tuple(from.items.copy());
  copy->names = from.names;
  copy->shape = from.shape;
  return copy;
}

Object* copy_of(const Dict& from) {
  auto* copy = new Dict();
  copy->entries = from.entries;
  copy->index = from.index;
  copy->live = from.live;
  copy->shape = from.shape;
  for (const auto& entry : copy->entries) {
    retained(entry.key);
    retained(entry.value);
  }
  return copy;
}

Object* copy_of(Instance& from) {
  Instance* copy = new_instance(from.record);
  for (size_t i = 0; i < from.record->slot_count(); ++i) {
    copy->fields()[i] = retained(from.fields()[i]);
  }
  return copy;
}

// Null for kinds that are shared when they are assigned: objects of classes, functions, types.
Object* copy_of_value(Value v) {
  switch (v.as_object->kind) {
    case Kind::kText:
      return new Text(text_of(v));
    case Kind::kArray:
      return copy_of(*as_object<Array>(v));
    case Kind::kTuple:
      return copy_of(*as_object<Tuple>(v));
    case Kind::kDict:
      return copy_of(*as_object<Dict>(v));
    case Kind::kInstance:
      return as_object<Instance>(v)->record->is_class ? nullptr : copy_of(*as_object<Instance>(v));
    default:
      return nullptr;
  }
}

}  // namespace

bool is_copied_on_write(Value v) {
  return v.is(Kind::kArray) || v.is(Kind::kDict) || v.is(Kind::kTuple) || v.is(Kind::kText) ||
         (v.is(Kind::kInstance) && !as_object<Instance>(v)->record->is_class);
}

void make_unique(Value& slot) {
  if (!slot.is_object() || slot.as_object->refs == 1) {
    return;
  }
  if (Object* copy = copy_of_value(slot)) {
    --slot.as_object->refs;
    slot.as_object = copy;
  }
}

}  // namespace spl
