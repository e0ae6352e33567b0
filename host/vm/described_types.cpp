#include "host/vm/described_types.h"

#include <algorithm>

#include "host/compiler/type_names.h"
#include "host/values/error.h"
#include "host/vm/thread.h"
#include "host/vm/type_links.h"

namespace spl {

Ref shown_value(const ShownValue& shown, const Closure& closure) {
  const bool uses_parameters = std::any_of(shown.captures.begin(), shown.captures.end(),
                                           [](const Capture& capture) { return capture.from_local; });
  if (uses_parameters) {
    return Ref::owned(Value::missing());
  }
  auto* reader = new Closure(shown.code);
  const Ref held = Ref::owned(Value::object(reader));
  for (const Capture& capture : shown.captures) {
    reader->captured.push_back(retained(closure.captured[capture.index]));
  }
  try {
    return Ref::owned(current_thread().call(held.get(), nullptr, 0));
  } catch (const SimpleError&) {
    return Ref::owned(Value::missing());  // a call raises the error
  }
}

namespace {

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

}  // namespace

Value TypeDescriber::describe_parts(const char* name, const std::vector<TypePtr>& parts) {
  std::vector<Value> items{make_text(name)};
  for (const TypePtr& part : parts) {
    items.push_back(describe(part.get()));
  }
  return make_array(std::move(items));
}

namespace {

// A class or struct that the program declares. Those of the library also accept values of other types.
bool is_program_record(Value type) {
  return type.is(Kind::kRecord) && !as_object<Record>(type)->module->is_library;
}

}  // namespace

// The value of a variable of a function, or of a name of the module; missing for built-in types.
Ref TypeDescriber::object_of(const TypeExpr& type) {
  if (values_ != nullptr) {
    if (const auto found = values_->find(&type); found != values_->end()) {
      return found->second;
    }
  }
  if (closure_ != nullptr) {
    const auto& shown = closure_->proto->shown_types;
    if (const auto found = shown.find(&type); found != shown.end()) {
      return shown_value(found->second, *closure_);
    }
  }
  try {
    return find_type(module_, type.path);
  } catch (const SimpleError&) {
    return Ref::owned(Value::missing());  // no attribute of that name
  }
}

Value TypeDescriber::describe_name(const TypeExpr& type) {
  const bool is_builtin = type.path.size() == 1 && !builtin_type(name_of(type.path[0])).empty();
  const Ref object = is_builtin ? Ref::owned(Value::missing()) : object_of(type);
  if (is_program_record(object.get())) {
    return make_array({make_text("record"), describe_parts(full_name(type).c_str(), type.args)});
  }
  if (!is_foreign_object(object.get())) {
    return describe_parts(full_name(type).c_str(), type.args);
  }
  has_objects_ = true;
  return make_array({make_text("object"), retained(object.get()), describe_parts("", type.args)});
}

Value TypeDescriber::describe_without_nil(const TypeExpr& type) {
  switch (type.kind) {
    case TypeKind::kName:
      return describe_name(type);
    case TypeKind::kArray:
      return describe_parts("array", type.args);
    case TypeKind::kDict:
      return describe_parts(type.args.size() == 2 ? "dict" : "set", type.args);
    case TypeKind::kTuple:
      return describe_parts("tuple", type.args);
    case TypeKind::kUnion:
      return describe_parts("union", type.args);
    case TypeKind::kFunction:
      return describe_parts("function", {});
    default:
      return describe_parts("any", {});
  }
}

Value TypeDescriber::describe(const TypeExpr* declared) {
  if (declared == nullptr) {
    return {};
  }
  const TypeExpr& type = module_.unaliased(*declared);
  const Value plain = describe_without_nil(type);
  if (!type.optional && !declared->optional) {
    return plain;
  }
  return make_array({make_text("union"), plain, make_array({make_text("nil")})});
}

}  // namespace spl
