// The signature of a function and the parts of a class, as their declarations spell them.
#include "host/builtins/signatures.h"

#include <algorithm>
#include <span>

#include "host/builtins/embedding.h"
#include "host/compiler/bytecode.h"
#include "host/compiler/literal_value.h"
#include "host/values/error.h"
#include "host/values/module.h"
#include "host/vm/described_types.h"

namespace spl {
namespace {

const Closure* closure_of(Value function) {
  if (function.is(Kind::kBoundMethod)) {
    function = static_cast<BoundMethod*>(function.as_object)->function;
  }
  return function.is(Kind::kClosure) ? as_object<Closure>(function) : nullptr;
}

// The declared parameters that a call passes: without the class of a class method that belongs to one.
std::span<const Param> passed_parameters(Value function, const Proto& proto) {
  const std::span<const Param> all(*proto.declared_parameters);
  const bool has_class = function.is(Kind::kBoundMethod) && has_attribute(function, "classmethod");
  return has_class && !all.empty() ? all.subspan(1) : all;
}

std::string address_text(const void* address) { return std::to_string(reinterpret_cast<uintptr_t>(address)); }

// Equal for two values that are the same function, or the same method of the same object, while they live.
// Empty where that cannot be known: methods of values that are copied.
Value function_identity(Thread&, Value* args, int) {
  const Value function = element(args[0]);
  if (!function.is(Kind::kBoundMethod)) {
    return make_text(is_compared_by_contents(function) ? "" : address_text(function.as_object));
  }
  const auto* method = static_cast<BoundMethod*>(function.as_object);
  if (is_compared_by_contents(method->self) || !method->function.is_object()) {
    return make_text("");
  }
  return make_text(address_text(method->self.as_object) + "." + address_text(method->function.as_object));
}

bool is_object_of_class(Value value) {
  return value.is(Kind::kInstance) && as_object<Instance>(value)->record->is_class;
}

// The object and the function of a method that is bound to an object of a class; nil for another function.
Value bound_method(Thread&, Value* args, int) {
  const Value function = element(args[0]);
  if (!function.is(Kind::kBoundMethod)) {
    return Value();
  }
  const auto* method = static_cast<BoundMethod*>(function.as_object);
  if (!is_object_of_class(method->self) || !method->function.is(Kind::kClosure)) {
    return Value();
  }
  return make_array({retained(method->self), retained(method->function)});
}

// How many variables, fields and items hold an object of a class, without the argument; 0 for other values.
Value holders(Thread&, Value* args, int) {
  const Value value = element(args[0]);
  return Value::integer(is_object_of_class(value) ? static_cast<int64_t>(value.as_object->refs) - 1 : 0);
}

// ---- parameters

// Name, kind, type, default value: an empty array for none, an array of a literal's value, or nil for an
// expression that each call evaluates. Kinds: 0 one value, 1 the other positionals, 2 the other keyword
// arguments, 3 one value that only its name passes.
Value described_parameter(TypeDescriber& types, const Param& param) {
  Value standard;
  if (Value literal; param.default_value && literal_value(*param.default_value, literal)) {
    standard = make_array({literal});
  } else if (!param.default_value) {
    standard = make_array({});
  }
  const std::string name = param.pattern || param.name == kNoSymbol ? "_" : name_of(param.name);
  constexpr int64_t kOnlyNamed = 3;
  const int64_t kind = param.only_named ? kOnlyNamed : static_cast<int64_t>(param.kind);
  return make_array({make_text(name), Value::integer(kind), types.describe(param.type.get()), standard});
}

Value described_parameters(std::span<const Param> parameters, TypeDescriber& types, bool has_self) {
  std::vector<Value> items;
  if (has_self) {
    items.push_back(make_array({make_text("self"), Value::integer(0), Value(), make_array({})}));
  }
  for (const Param& param : parameters) {
    items.push_back(described_parameter(types, param));
  }
  return make_array(std::move(items));
}

const TypeExpr* result_of(const Proto& proto) {
  return proto.declaration == nullptr ? nullptr : proto.declaration->return_type.get();
}

// Whether a call of it, or of its members, is one of the other language.
bool belongs_to_other_language(Value v) {
  static const std::string module = "python";
  const bool is_its_module = v.is(Kind::kModule) && static_cast<LoadedModule*>(v.as_object)->is_library &&
                             static_cast<LoadedModule*>(v.as_object)->name == module;
  return is_its_module || is_foreign_object(v);
}

// Name, documentation, file, line, whether it is async, whether it is a generator, the type of its result,
// and its parameters. nil for functions that no Simple source declares.
Value function_signature(Thread&, Value* args, int) {
  const Value function = element(args[0]);
  const Closure* closure = closure_of(function);
  if (closure == nullptr || closure->proto->declared_parameters == nullptr) {
    return {};
  }
  const Proto& proto = *closure->proto;
  const FunctionDecl* declaration = proto.declaration;
  const bool has_self = proto.is_method && !function.is(Kind::kBoundMethod);
  TypeDescriber types(*proto.module, closure, nullptr);
  return make_array({make_text(proto.name), make_text(declaration == nullptr ? "" : declaration->info.doc),
                     make_text(proto.source->path), Value::integer(proto.line),
                     Value::boolean(proto.is_async), Value::boolean(proto.is_generator),
                     types.describe(result_of(proto)),
                     described_parameters(passed_parameters(function, proto), types, has_self)});
}

// The index of a parameter, its default value, and whether a call without it receives that value: an object
// of the other language, or a plain value. Other values are computed at each call.
Value described_default(const ShownDefault& shown, const Closure& closure, int64_t first) {
  const Ref callees = shown_value(shown.callees, closure);
  if (callees.get().is_missing()) {
    return {};
  }
  const auto& items = as_object<Array>(callees.get())->items;
  if (!std::all_of(items.begin(), items.end(), belongs_to_other_language)) {
    return {};
  }
  Ref value = shown_value(shown.value, closure);
  const bool may_change = closure.proto->module->is_session;  // a later cell may declare its names again
  if (value.get().is_missing() || (may_change && !is_foreign_object(value.get()))) {
    return {};
  }
  const bool is_passed =
      !value.get().is_object() || value.get().is(Kind::kText) || is_foreign_object(value.get());
  return make_array({Value::integer(first + static_cast<int64_t>(shown.parameter)), value.take(),
                     Value::boolean(is_passed)});
}

// Whether rt_function_varying() may return something for a function of the same code.
Value function_can_vary(Thread&, Value* args, int) {
  const Closure* closure = closure_of(element(args[0]));
  if (closure == nullptr || closure->proto->declared_parameters == nullptr) {
    return Value::boolean(false);
  }
  const Proto& proto = *closure->proto;
  const bool has_types = std::any_of(proto.declared_parameters->begin(), proto.declared_parameters->end(),
                                     [](const Param& param) { return param.type != nullptr; });
  return Value::boolean(has_types || result_of(proto) != nullptr || !proto.shown_defaults.empty());
}

// What differs between the closures of one function: the types of the parameters and of the result, which may
// be classes of another language, and the default values that it is shown. nil if there is neither.
Value function_varying(Thread&, Value* args, int) {
  const Value function = element(args[0]);
  const Closure* closure = closure_of(function);
  if (closure == nullptr || closure->proto->declared_parameters == nullptr) {
    return {};
  }
  const Proto& proto = *closure->proto;
  const bool has_self = proto.is_method && !function.is(Kind::kBoundMethod);
  TypeDescriber describer(*proto.module, closure, nullptr);
  std::vector<Value> types, defaults;
  if (has_self) {
    types.emplace_back();
  }
  const std::span<const Param> parameters = passed_parameters(function, proto);
  for (const Param& param : parameters) {
    types.push_back(describer.describe(param.type.get()));
  }
  types.push_back(describer.describe(result_of(proto)));
  const auto class_parameters = static_cast<int64_t>(proto.declared_parameters->size() - parameters.size());
  const int64_t first = has_self ? 1 : -class_parameters;
  for (const ShownDefault& shown : proto.shown_defaults) {
    const bool is_shown = static_cast<int64_t>(shown.parameter) >= class_parameters;
    if (const Value value = is_shown ? described_default(shown, *closure, first) : Value(); !value.is_nil()) {
      defaults.push_back(value);
    }
  }
  const bool varies = describer.has_objects() || !defaults.empty();
  const Ref described =
      Ref::owned(make_array({make_array(std::move(types)), make_array(std::move(defaults))}));
  return varies ? retained(described.get()) : Value();
}

// A number for the code of a function: that of all closures of one lambda.
Value function_code(Thread&, Value* args, int) {
  const Value function = element(args[0]);
  const Closure* closure = closure_of(function);
  const auto address = closure == nullptr ? 0 : reinterpret_cast<uintptr_t>(closure->proto);
  const bool is_bound = function.is(Kind::kBoundMethod);
  return make_text(std::to_string(address) + (is_bound ? "b" : ""));
}

// ---- classes

const Attribute* attribute_named(const Closure* closure, const char* name) {
  const FunctionDecl* declaration = closure == nullptr ? nullptr : closure->proto->declaration;
  if (declaration == nullptr) {
    return nullptr;
  }
  const auto& attributes = declaration->info.attributes;
  const Symbol symbol = intern(name);
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const Attribute& attribute) { return attribute.name == symbol; });
  return found == attributes.end() ? nullptr : &*found;
}

// Whether @property or @classmethod is above all decorators: they apply to what those returned.
bool is_outermost(const Closure* closure, const Attribute* marker) {
  return marker == nullptr || marker == &closure->proto->declaration->info.attributes.front();
}

// Name, function, "method", "static", "class" or "property", and whether that applies to what the decorators
// returned. A decorated method is the value that they returned.
Value described_method(Symbol name, const Method& method) {
  const Closure* closure = closure_of(method.function);
  const bool is_forwarding = method.is_decorated && closure != nullptr && closure->captured.size() == 1;
  const Attribute* property = attribute_named(closure, "property");
  const char* kind = method.takes_class    ? "class"
                     : method.is_static    ? "static"
                     : property != nullptr ? "property"
                                           : "method";
  const Attribute* marker = method.takes_class ? attribute_named(closure, "classmethod") : property;
  return make_array({make_text(name_of(name)),
                     retained(is_forwarding ? closure->captured[0] : method.function), make_text(kind),
                     Value::boolean(is_outermost(closure, marker))});
}

// In the order of their declarations.
std::vector<Symbol> names_of_methods(const Type& type) {
  std::vector<std::pair<int64_t, Symbol>> places;
  for (const auto& [name, method] : type.methods) {
    const Closure* closure = closure_of(method.function);
    const FunctionDecl* declaration = closure == nullptr ? nullptr : closure->proto->declaration;
    places.emplace_back(declaration == nullptr ? 0 : declaration->span.start, name);
  }
  std::sort(places.begin(), places.end());
  std::vector<Symbol> names;
  names.reserve(places.size());
  for (const auto& [place, name] : places) {
    names.push_back(name);
  }
  return names;
}

// Name, declared type, whether it has a default value, that value, and the function that computes the value
// of each object; nil for none. A field that only a method assigns has neither a type nor a value.
Value described_field(const Record& record, const FieldInfo& field) {
  TypeDescriber types(*record.module, nullptr, record.type_values);
  return make_array({make_text(name_of(field.name)), types.describe(field.type),
                     Value::boolean(field.has_default), retained(field.default_value),
                     field.initializer == nullptr ? Value() : make_closure(field.initializer)});
}

// The name of a class, its documentation, the key of its statement, its methods, its fields, and the
// identities of its parents that are types of Simple.
Value class_parts(Thread&, Value* args, int) {
  const Value type = element(args[0]);
  if (!type.is(Kind::kRecord)) {
    fail("rt_class_parts: expected a class");
  }
  const auto& record = *as_object<Record>(type);
  std::vector<Value> methods, fields, parents;
  for (const Symbol name : names_of_methods(record)) {
    methods.push_back(described_method(name, record.methods.at(name)));
  }
  for (const FieldInfo& field : record.fields) {
    if (field.has_default || field.type != nullptr) {
      fields.push_back(described_field(record, field));
    }
  }
  for (const Type* parent : record.parents) {
    parents.push_back(Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(parent))));
  }
  return make_array({make_text(name_of(record.name)),
                     make_text(record.declaration == nullptr ? "" : record.declaration->doc),
                     Value::integer(record.key), make_array(std::move(methods)),
                     make_array(std::move(fields)), make_array(std::move(parents))});
}

bool is_inherited(const Type& type, Symbol name, const Method& method) {
  return std::any_of(type.parents.begin(), type.parents.end(), [&](const Type* parent) {
    const Method* of_parent = parent->find(name);
    return of_parent != nullptr && of_parent->function.as_object == method.function.as_object;
  });
}

bool is_inherited(const Record& record, const FieldInfo& field) {
  return std::any_of(record.parents.begin(), record.parents.end(), [&](const Type* parent) {
    return parent->kind == Kind::kRecord &&
           static_cast<const Record*>(parent)->field_index.contains(field.name);
  });
}

Value direct_parents(const Type& type) {
  std::vector<Value> direct;
  for (const Type* parent : type.parents) {
    const bool is_of_other = std::any_of(type.parents.begin(), type.parents.end(), [&](const Type* other) {
      return std::find(other->parents.begin(), other->parents.end(), parent) != other->parents.end();
    });
    if (!is_of_other) {
      direct.push_back(Value::object(const_cast<Type*>(parent)));  // types are immortal
    }
  }
  return make_array(std::move(direct));
}

// Of a class, struct, enum or trait: its direct parents, and the methods and fields that no parent has.
Value own_parts(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  if (!of.is(Kind::kRecord) && !of.is(Kind::kEnum) && !of.is(Kind::kTrait)) {
    fail("rt_own_parts: expected a type, got " + type_name(of));
  }
  const auto& type = *as_object<Type>(of);
  std::vector<Value> methods, fields;
  for (const Symbol name : names_of_methods(type)) {
    if (const Method& method = type.methods.at(name); !is_inherited(type, name, method)) {
      methods.push_back(described_method(name, method));
    }
  }
  if (of.is(Kind::kRecord)) {
    for (const FieldInfo& field : as_object<Record>(of)->fields) {
      if (field.is_declared && !is_inherited(*as_object<Record>(of), field)) {
        fields.push_back(described_field(*as_object<Record>(of), field));
      }
    }
  }
  return make_array({direct_parents(type), make_array(std::move(methods)), make_array(std::move(fields))});
}

}  // namespace

bool has_attribute(Value function, const char* name) {
  return attribute_named(closure_of(function), name) != nullptr;
}

namespace {

// ---- types

Value identity_of(const Type& type) {
  return Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(&type)));
}

const Type* type_behind(Value of) {
  switch (of.is_object() ? of.as_object->kind : Kind::kText) {
    case Kind::kRecord:
    case Kind::kEnum:
    case Kind::kTrait:
      return as_object<Type>(of);
    case Kind::kInstance:
      return as_object<Instance>(of)->record;
    case Kind::kEnumValue:
      return as_object<EnumValue>(of)->type;
    default:
      return nullptr;
  }
}

// The identities of a type, or of the type of a value, and of all its parents; empty for other values.
Value lineage(Thread&, Value* args, int) {
  const Type* type = type_behind(element(args[0]));
  std::vector<Value> identities;
  if (type != nullptr) {
    identities.push_back(identity_of(*type));
    for (const Type* parent : type->parents) {
      identities.push_back(identity_of(*parent));
    }
  }
  return make_array(std::move(identities));
}

// The documentation of a type; empty without one.
Value type_documentation(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  const bool has_declaration = of.is(Kind::kRecord) && as_object<Record>(of)->declaration != nullptr;
  return make_text(has_declaration ? as_object<Record>(of)->declaration->doc : "");
}

// The parameters by which a constructor call passes values of fields, as rt_function_signature() describes
// parameters.
Value field_parameters(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  std::vector<Value> parameters;
  if (of.is(Kind::kRecord)) {
    const auto& record = *as_object<Record>(of);
    TypeDescriber types(*record.module, nullptr, record.type_values);
    for (const FieldInfo& field : record.fields) {
      const Value standard = field.initializer != nullptr ? Value()
                             : field.has_default          ? make_array({retained(field.default_value)})
                                                          : make_array({});
      parameters.push_back(make_array(
          {make_text(name_of(field.name)), Value::integer(0), types.describe(field.type), standard}));
    }
  }
  return make_array(std::move(parameters));
}

// The variants of an enum: name, number of values, the value that its declaration assigns, and the value of
// the enum that a variant without values is.
Value variants(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  std::vector<Value> found;
  if (of.is(Kind::kEnum)) {
    for (const VariantInfo& variant : as_object<Enum>(of)->variants) {
      found.push_back(make_array({make_text(name_of(variant.name)), Value::integer(variant.arity),
                                  retained(variant.value), retained(variant.singleton)}));
    }
  }
  return make_array(std::move(found));
}

constexpr NativeEntry kSignatureExterns[] = {
    {"rt_lineage", lineage, 1, 1},
    {"rt_type_documentation", type_documentation, 1, 1},
    {"rt_field_parameters", field_parameters, 1, 1},
    {"rt_variants", variants, 1, 1},
    {"rt_class_parts", class_parts, 1, 1},
    {"rt_own_parts", own_parts, 1, 1},
    {"rt_function_identity", function_identity, 1, 1},
    {"rt_bound_method", bound_method, 1, 1},
    {"rt_holders", holders, 1, 1},
    {"rt_function_code", function_code, 1, 1},
    {"rt_function_signature", function_signature, 1, 1},
    {"rt_function_varying", function_varying, 1, 1},
    {"rt_function_can_vary", function_can_vary, 1, 1},
};

}  // namespace

std::span<const NativeEntry> signature_externs() { return kSignatureExterns; }

}  // namespace spl
