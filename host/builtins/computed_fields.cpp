// Objects some of whose fields are computed when they are read. The value of such a field has a method
// __on_read__(), whose result the reader receives.
#include "host/builtins/computed_fields.h"

#include <string>
#include <unordered_map>

#include "host/builtins/builtins.h"
#include "host/builtins/embedding.h"
#include "host/values/objects.h"
#include "host/vm/failure.h"

namespace spl {

namespace {

// The class of the objects of `base` that compute fields. Types are immortal, so that there is one for each
// class.
Record* computing_class(Record* base, Symbol name) {
  static std::unordered_map<const Record*, Record*> made;
  Record*& derived = made[base];
  if (derived == nullptr) {
    derived = new Record(*base);
    derived->refs = 1;
    derived->name = name;
    derived->plain = base;
    derived->statics.clear();  // those of the class itself apply
    derived->parents.insert(derived->parents.begin(), base);
    derived->cache_hooks();
  }
  return derived;
}

Instance* expect_object(Value v, const char* function) {
  if (!v.is(Kind::kInstance) || !as_object<Instance>(v)->record->is_class) {
    fail(std::string(function) + ": argument must be an object of a class, got " + type_name(v));
  }
  return as_object<Instance>(v);
}

// From now on the object computes fields. The second argument is the name of its class.
Value compute_fields(Thread&, Value* args, int) {
  Instance* object = expect_object(element(args[0]), "rt_compute_fields");
  if (object->record->plain == nullptr) {
    object->record = computing_class(object->record, intern(expect_text(args[1], "the name")));
    object->record->has_objects = true;
  }
  return Value();
}

// Ends this.
Value keep_fields(Thread&, Value* args, int) {
  Instance* object = expect_object(element(args[0]), "rt_keep_fields");
  if (object->record->plain != nullptr) {
    object->record = object->record->plain;
  }
  return Value();
}

constexpr NativeEntry kComputedFields[] = {
    {"rt_compute_fields", compute_fields, 2, 2},
    {"rt_keep_fields", keep_fields, 1, 1},
};

}  // namespace

std::span<const NativeEntry> computed_field_externs() { return kComputedFields; }

}  // namespace spl
