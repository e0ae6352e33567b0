// Changes of an array, a dict or a tuple that keeps the shape of its declared type.
#include "host/values/module.h"
#include "host/values/shape.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

// Which argument of a method becomes an element; -1 for methods that store none, -2 for those that store the
// elements of their argument.
int stored_argument(Symbol method) {
  static const std::unordered_map<Symbol, int> arguments = [] {
    std::unordered_map<Symbol, int> made;
    for (const char* name : {"push", "append", "push_back", "push_front", "fill"}) {
      made[intern(name)] = 0;
    }
    for (const char* name : {"insert", "set", "setdefault"}) {
      made[intern(name)] = 1;
    }
    made[intern("extend")] = made[intern("update")] = -2;
    return made;
  }();
  const auto found = arguments.find(method);
  return found == arguments.end() ? -1 : found->second;
}

}  // namespace

// Makes an element fit the shape of the unshared collection in which it is stored. The library may store any
// value: its copy of the collection then has no shape. `key` is that of a dict, or the place in a tuple.
void Thread::admit(Value& collection, Value& element, Value key) {
  const LoadedModule* module = frame_count_ > 0 ? frames_[frame_count_ - 1].proto->module : nullptr;
  if (module != nullptr && module->is_library) {
    collection.as_object->shape = 0;
    return;
  }
  if (collection.is(Kind::kTuple)) {
    conform_part(*collection.as_object, static_cast<size_t>(key.as_int), element);
    return;
  }
  conform_element(*collection.as_object, element);
  if (collection.is(Kind::kDict)) {
    conform_key(*collection.as_object, key);
  }
}

void Thread::admit_arguments(Symbol method, Value& collection, Value* args, uint32_t count) {
  const int stored = stored_argument(method);
  if (stored == -1) {
    return;
  }
  make_unique(collection);
  if (stored >= 0 && static_cast<uint32_t>(stored) < count) {
    admit(collection, args[stored], args[0]);
    return;
  }
  for (uint32_t i = 0; stored == -2 && i < count; ++i) {
    if (args[i].is(Kind::kArray) && collection.is(Kind::kArray)) {
      make_unique(args[i]);
      Elements& items = as_object<Array>(args[i])->items;
      for (size_t at = 0; at < items.size() && has_shape(collection); ++at) {
        admit(collection, items.slot(at));
      }
    } else if (args[i].is(Kind::kDict)) {
      make_unique(args[i]);
      for (auto& entry : as_object<Dict>(args[i])->entries) {
        if (!entry.key.is_missing() && has_shape(collection)) {
          admit(collection, entry.value, entry.key);
        }
      }
    }
  }
}

}  // namespace spl
