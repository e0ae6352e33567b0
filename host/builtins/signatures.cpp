// The signature of a function and the parts of a class, as their declarations spell them.
#include "host/builtins/signatures.h"

#include <algorithm>

#include "host/builtins/embedding.h"
#include "host/compiler/bytecode.h"
#include "host/compiler/literal_value.h"
#include "host/compiler/type_names.h"
#include "host/values/error.h"
#include "host/values/module.h"

namespace spl {
namespace {

const Closure* closure_of(Value function) {
  if (function.is(Kind::kBoundMethod)) {
    function = static_cast<BoundMethod*>(function.as_object)->function;
  }
  return function.is(Kind::kClosure) ? as_object<Closure>(function) : nullptr;
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

// ---- types: an array of a name and the types inside; nil for none

Value described(const LoadedModule& module, const TypeExpr* declared);

Value described_parts(const LoadedModule& module, const char* name, const std::vector<TypePtr>& parts) {
  std::vector<Value> items{make_text(name)};
  for (const TypePtr& part : parts) {
    items.push_back(described(module, part.get()));
  }
  return make_array(std::move(items));
}

std::string full_name(const TypeExpr& type) {
  const std::string_view builtin = builtin_type(name_of(type.path.back()));
  if (type.path.size() == 1 && !builtin.empty()) {
    return std::string(builtin);
  }
  std::string name;
  for (const Symbol part : type.path) {
    name += (name.empty() ? "" : ".") + name_of(part);
  }
  return name;
}

Value described_without_nil(const LoadedModule& module, const TypeExpr& type) {
  switch (type.kind) {
    case TypeKind::kName:
      return described_parts(module, full_name(type).c_str(), type.args);
    case TypeKind::kArray:
      return described_parts(module, "array", type.args);
    case TypeKind::kDict:
      return described_parts(module, type.args.size() == 2 ? "dict" : "set", type.args);
    case TypeKind::kTuple:
      return described_parts(module, "tuple", type.args);
    case TypeKind::kUnion:
      return described_parts(module, "union", type.args);
    case TypeKind::kFunction:
      return described_parts(module, "function", {});
    default:
      return described_parts(module, "any", {});
  }
}

Value described(const LoadedModule& module, const TypeExpr* declared) {
  if (declared == nullptr) {
    return {};
  }
  const TypeExpr& type = module.unaliased(*declared);
  const Value plain = described_without_nil(module, type);
  if (!type.optional && !declared->optional) {
    return plain;
  }
  return make_array({make_text("union"), plain, make_array({make_text("nil")})});
}

// ---- parameters

// Name, kind (0 one value, 1 the other positionals, 2 the other keyword arguments), type, default value: an
// empty array for none, an array of a literal's value, or nil for an expression that each call evaluates.
Value described_parameter(const LoadedModule& module, const Param& param) {
  Value standard;
  if (Value literal; param.default_value && literal_value(*param.default_value, literal)) {
    standard = make_array({literal});
  } else if (!param.default_value) {
    standard = make_array({});
  }
  const std::string name = param.pattern || param.name == kNoSymbol ? "_" : name_of(param.name);
  return make_array({make_text(name), Value::integer(static_cast<int64_t>(param.kind)),
                     described(module, param.type.get()), standard});
}

Value described_parameters(const Proto& proto, bool is_bound) {
  std::vector<Value> items;
  if (proto.is_method && !is_bound) {
    items.push_back(make_array({make_text("self"), Value::integer(0), Value(), make_array({})}));
  }
  for (const Param& param : *proto.declared_parameters) {
    items.push_back(described_parameter(*proto.module, param));
  }
  return make_array(std::move(items));
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
  const TypeExpr* result = declaration == nullptr ? nullptr : declaration->return_type.get();
  return make_array({make_text(proto.name), make_text(declaration == nullptr ? "" : declaration->info.doc),
                     make_text(proto.source->path), Value::integer(proto.line),
                     Value::boolean(proto.is_async), Value::boolean(proto.is_generator),
                     described(*proto.module, result),
                     described_parameters(proto, function.is(Kind::kBoundMethod))});
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

bool is_property(const Closure& closure) {
  static const Symbol property = intern("property");
  const FunctionDecl* declaration = closure.proto->declaration;
  return declaration != nullptr &&
         std::any_of(declaration->info.attributes.begin(), declaration->info.attributes.end(),
                     [](const Attribute& attribute) { return attribute.name == property; });
}

// Name, function, and "method", "static", "class" or "property". A decorated method is the value that the
// decorators returned.
Value described_method(Symbol name, const Method& method) {
  const Closure* closure = closure_of(method.function);
  const bool is_forwarding = method.is_decorated && closure != nullptr && closure->captured.size() == 1;
  const bool is_read = closure != nullptr && is_property(*closure);
  const char* kind = method.takes_class ? "class"
                     : method.is_static ? "static"
                     : is_read          ? "property"
                                        : "method";
  return make_array({make_text(name_of(name)),
                     retained(is_forwarding ? closure->captured[0] : method.function), make_text(kind)});
}

// Name, declared type, whether it has a default value, that value, and the function that computes the value
// of each object; nil for none. A field that only a method assigns has neither a type nor a value.
Value described_field(const Record& record, const FieldInfo& field) {
  return make_array({make_text(name_of(field.name)),
                     record.module == nullptr ? Value() : described(*record.module, field.type),
                     Value::boolean(field.has_default), retained(field.default_value),
                     field.initializer == nullptr ? Value() : make_closure(field.initializer)});
}

// The name of a class, its documentation, the key of its statement, its methods and its fields.
Value class_parts(Thread&, Value* args, int) {
  const Value type = element(args[0]);
  if (!type.is(Kind::kRecord)) {
    fail("rt_class_parts: expected a class");
  }
  const auto& record = *as_object<Record>(type);
  std::vector<Value> methods, fields;
  for (const auto& [name, method] : record.methods) {
    methods.push_back(described_method(name, method));
  }
  for (const FieldInfo& field : record.fields) {
    if (field.has_default || field.type != nullptr) {
      fields.push_back(described_field(record, field));
    }
  }
  return make_array({make_text(name_of(record.name)),
                     make_text(record.declaration == nullptr ? "" : record.declaration->doc),
                     Value::integer(record.key), make_array(std::move(methods)),
                     make_array(std::move(fields))});
}

constexpr NativeEntry kSignatureExterns[] = {
    {"rt_class_parts", class_parts, 1, 1},
    {"rt_function_identity", function_identity, 1, 1},
    {"rt_function_code", function_code, 1, 1},
    {"rt_function_signature", function_signature, 1, 1},
};

}  // namespace

std::span<const NativeEntry> signature_externs() { return kSignatureExterns; }

}  // namespace spl
