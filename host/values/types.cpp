// Types and the built-in enums.
#include <algorithm>

#include "host/values/direct_calls.h"
#include "host/values/module.h"
#include "host/values/objects.h"

namespace spl {

void Record::cache_hooks() {
  checks_widths = std::any_of(fields.begin(), fields.end(), [](const FieldInfo& f) { return f.demand != 0; });
  static const Symbol drop_name = intern("drop"), hidden_drop = intern("__drop__"),
                      hash_name = intern("__hash__"), same_name = intern("__is__"),
                      native_name = intern("__native__"), replace_name = intern("__on_replace__"),
                      read_name = intern("__on_read__"), order_name = intern("__order__"),
                      declared_name = intern("__as_declared__"), init_name = intern("init"),
                      init_dunder = intern("__init__"), make_name = intern("new"),
                      constructor_name = intern("__new__"), equal_name = intern("__eq__"),
                      unequal_name = intern("__ne__"), post_name = intern("__post_init__");
  drop = find(find(hidden_drop) != nullptr ? hidden_drop : drop_name);
  hash = find(hash_name);
  same = find(same_name);
  native_form = find(native_name);
  on_replace = find(replace_name);
  on_read = find(read_name);
  as_declared = find(declared_name);
  initializer = find(init_name);
  if (initializer == nullptr || initializer->is_static) {
    initializer = find(init_dunder);
  }
  post_init = find(post_name);
  maker = find(make_name);
  constructor = find(constructor_name);
  defines_equality = find(equal_name) != nullptr || find(unequal_name) != nullptr;
  has_foreign_classes = has_foreign_classes || as_declared != nullptr;
  const auto order = field_index.find(order_name);
  order_index = order == field_index.end() ? -1 : static_cast<int32_t>(order->second);
  allow_attributes();
}

// Python's objects take any attribute. So do those of the classes of a program that imports torch, and
// modules.
void Record::allow_attributes() {
  static const Symbol mark = intern("__attributes__");  // a constant of classes of the library
  const bool is_of_port = module != nullptr && module->uses_torch && !module->is_library;
  if (!is_class || leaves_names(direct) ||
      !(is_of_port || order_index >= 0 || declared_statics.contains(mark) || statics.contains(mark))) {
    return;
  }
  has_attributes = has_attributes || !has_objects;
  if (!is_of_port) {
    return;
  }
  for (FieldInfo& field : fields) {
    field.replaces_method = !field.is_declared && find(field.name) != nullptr;
    if (field.replaces_method) {
      replaced_methods.insert(field.name);
    }
  }
}

Value* Instance::attribute(Symbol name) {
  if (!record->has_attributes || !attributes().is(Kind::kDict)) {
    return nullptr;
  }
  const Ref key = Ref::owned(make_text(name_of(name)));
  return as_object<Dict>(attributes())->find(key.get());
}

void Instance::set_attribute(Symbol name, Value owned) {
  if (!attributes().is(Kind::kDict)) {
    attributes() = Value::object(new Dict());
  }
  make_unique(attributes());
  as_object<Dict>(attributes())->set(make_text(name_of(name)), owned);
}

Value* Type::static_value(Symbol static_name) {
  const auto found = statics.find(static_name);
  if (found == statics.end()) {
    return nullptr;
  }
  return found->second.is(Kind::kCell) ? &as_object<Cell>(found->second)->value : &found->second;
}

int Enum::index_of(Symbol variant) const {
  for (size_t i = 0; i < variants.size(); ++i) {
    if (variants[i].name == variant) {
      return static_cast<int>(i);
    }
  }
  return -1;
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

bool is_present(Value v) {
  const bool is_error = v.is(Kind::kEnumValue) && as_object<EnumValue>(v)->type == core_types().result &&
                        as_object<EnumValue>(v)->variant == kErr;
  return !is_none(v) && !is_error;
}

}  // namespace spl
