// Joins impl blocks and traits to their types.
#include <algorithm>
#include <cmath>

#include "../builtins/builtins.h"
#include "../modules/module.h"
#include "thread.h"

namespace spl {

namespace {

Value find_type(LoadedModule& module, const std::vector<Symbol>& path) {
  if (path.empty())
    return Value::missing();
  Value at = module.lookup(path[0]);
  for (size_t i = 1; i < path.size() && !at.is_missing(); ++i)
    at = at.is(Kind::kModule) ? static_cast<LoadedModule*>(at.as_object)->member(path[i]) : Value::missing();
  return at;
}

void inherit(Type& type, const Type& parent) {
  for (const auto& [name, method] : parent.methods)
    type.methods.emplace(name, method);  // what the type has itself stays
  for (const auto& [name, value] : parent.statics)
    type.statics.emplace(name, retained(value));
}

}  // namespace

bool is_of_type(Value v, const Type* type) {
  const Type* own = v.is(Kind::kInstance)    ? static_cast<const Type*>(as_object<Instance>(v)->record)
                    : v.is(Kind::kEnumValue) ? static_cast<const Type*>(as_object<EnumValue>(v)->type)
                                             : nullptr;
  if (own == nullptr)
    return false;
  return own == type || std::find(own->traits.begin(), own->traits.end(), type) != own->traits.end();
}

void Thread::link_type(const TypeLink& link, LoadedModule& module) {
  Type* type = link.type;
  if (type == nullptr) {
    const Value found = find_type(module, link.target);
    if (found.is(Kind::kRecord) || found.is(Kind::kEnum) || found.is(Kind::kTrait))
      type = as_object<Type>(found);
    else if (!found.is(Kind::kNative))
      fail("impl: there is no type " +
           (link.target.empty() ? std::string("of that form") : name_of(link.target.back())));
    if (type == nullptr)
      fail("impl for the built-in type " + name_of(link.target.back()) + " is not supported");
  }
  ++method_epoch();
  for (const auto& [name, method] : link.methods)
    type->methods[name] = method;
  for (const auto& path : link.parents) {
    const Value parent = find_type(module, path);
    if (!parent.is(Kind::kTrait) && !parent.is(Kind::kRecord))
      fail(name_of(type->name) + ": there is no trait " +
           (path.empty() ? "of that form" : name_of(path.back())));
    inherit(*type, *as_object<Type>(parent));
    if (parent.is(Kind::kTrait)) {
      type->traits.push_back(as_object<Trait>(parent));
      for (Trait* further : as_object<Trait>(parent)->traits)
        type->traits.push_back(further);
    }
  }
  if (type->kind == Kind::kRecord)
    static_cast<Record*>(type)->drop = type->find(intern("drop"));
}

}  // namespace spl
