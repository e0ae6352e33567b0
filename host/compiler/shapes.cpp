// The demands that declared types make, and the instructions that check them.
#include "host/values/shape.h"

#include "host/compiler/compiler.h"
#include "host/compiler/type_names.h"

namespace spl {

namespace {

ShapeId id_of_type(const LoadedModule& module, const TypeExpr& written);

// `[T]` and `{K: V}`, also as Array<T> and Dict<K, V>; `is_tuple` for (A, B).
Shape container_shape(const LoadedModule& module, const TypeExpr& type, Shape::Form form) {
  Shape shape;
  shape.form = form;
  for (const auto& part : type.args) {
    shape.parts.push_back(id_of_type(module, *part));
  }
  return shape;
}

// The shape of an array, a dict or a tuple; without parts for other types.
Shape container_of(const LoadedModule& module, const TypeExpr& type) {
  const bool is_name = type.kind == TypeKind::kName;
  const std::string_view name = is_name ? declared_type(type, module) : "";
  if ((type.kind == TypeKind::kArray || name == "array") && type.args.size() == 1) {
    return container_shape(module, type, Shape::Form::kArray);
  }
  if ((type.kind == TypeKind::kDict || name == "dict") && type.args.size() == 2) {
    return container_shape(module, type, Shape::Form::kDict);
  }
  return type.kind == TypeKind::kTuple ? container_shape(module, type, Shape::Form::kTuple) : Shape();
}

ShapeId id_of_type(const LoadedModule& module, const TypeExpr& written) {
  const TypeExpr& type = module.unaliased(written);
  if (!type.modifiers.empty()) {
    return 0;
  }
  static const Symbol option = intern("Option");
  if (type.kind == TypeKind::kName && type.path.size() == 1 && type.path[0] == option &&
      type.args.size() == 1) {
    return id_of_type(module, *type.args[0]);
  }
  Shape shape = container_of(module, type);
  if (shape.parts.empty() && declared_type(type, module) == "f32") {
    shape.form = Shape::Form::kSingle;
  } else if (shape.parts.empty()) {
    shape.width = declared_width(module, &type);
  }
  return shape.is_plain() ? 0 : id_of_shape(shape);
}

// Of the array of the remaining arguments, whose declaration has the type of the array or of an element.
Demand demand_of_rest(const LoadedModule& module, const TypeExpr& type) {
  if (!container_of(module, module.unaliased(type)).parts.empty()) {
    return declared_demand(module, &type);
  }
  Shape shape;
  shape.form = Shape::Form::kArray;
  shape.parts = {id_of_type(module, type)};
  return shape.is_plain() ? 0 : kShapes + id_of_shape(shape);
}

}  // namespace

int declared_width(const LoadedModule& module, const TypeExpr* type) {
  return type == nullptr ? 0 : narrow_width(declared_type(module.unaliased(*type), module));
}

Demand declared_demand(const LoadedModule& module, const TypeExpr* type) {
  const int width = declared_width(module, type);
  if (width != 0 || type == nullptr || module.is_library) {
    return width;
  }
  const ShapeId id = id_of_type(module, *type);
  return id == 0 ? 0 : kShapes + id;
}

// The demand of `[T]` and `{K: V}` without one: the collection no longer keeps the shape of another type.
Demand plain_demand(const LoadedModule& module, const TypeExpr* type) {
  if (type == nullptr || module.is_library || !type->modifiers.empty()) {
    return 0;
  }
  const Shape shape = container_of(module, module.unaliased(*type));
  const bool is_plain = !shape.parts.empty() && shape.form != Shape::Form::kTuple && shape.is_plain();
  return is_plain ? kShapes + id_of_shape(shape) : 0;
}

void FunctionCompiler::check_demand(Demand demand, Register value, const std::string& what) {
  if (demand == 0 || module_.is_library) {
    return;
  }
  if (demand >= kShapes) {
    emit(Op::kConform, value, static_cast<uint32_t>(demand - kShapes), text_constant(what));
  } else {
    emit(Op::kCheckWidth, value, static_cast<uint32_t>(demand + 64), text_constant(what));
  }
}

// Before the value is bound.
void FunctionCompiler::check_binding(const BindingPattern& binding, Register value) {
  check_demand(declared_demand(module_, binding.type.get()), value, "'" + name_of(binding.name) + "'");
}

// Of a parameter. The elements of a passed array are not visited, as that would take the time of all of them
// in each call; but the function does not store others.
void FunctionCompiler::check_parameter(Local& local, const Param& param) {
  const TypeExpr* const type = param.type.get();
  if (param.kind != ParamKind::kNormal) {
    if (param.kind == ParamKind::kRest && type != nullptr && !module_.is_library) {
      check_demand(demand_of_rest(module_, *type), local.reg, "'" + name_of(local.name) + "'");
    }
    return;
  }
  local.demand = declared_demand(module_, type);
  const Demand demand = local.demand == 0 ? plain_demand(module_, type) : local.demand;
  const std::string what = "'" + name_of(local.name) + "'";
  const bool is_container = type != nullptr && !container_of(module_, module_.unaliased(*type)).parts.empty();
  if (demand >= kShapes && is_container && !module_.is_library) {
    emit(Op::kConformPassed, local.reg, static_cast<uint32_t>(demand - kShapes), text_constant(what));
    local.stored = element_demand(type);
  } else {
    check_demand(demand, local.reg, what);
  }
}

// The demand of `[T]` or `{K: T}` on an element or a value.
Demand FunctionCompiler::element_demand(const TypeExpr* type) const {
  const TypeExpr& container = module_.unaliased(*type);
  const Shape shape = container_of(module_, container);
  if (shape.parts.empty() || shape.form == Shape::Form::kTuple) {
    return 0;
  }
  return declared_demand(module_, container.args.back().get());
}

// Before `value` becomes an element of the collection, if that is a parameter.
void FunctionCompiler::check_stored(const Expr& collection, Register value) {
  const Local* local =
      collection.kind == ExprKind::kName ? find_local(as<NameExpr>(collection).name) : nullptr;
  if (local != nullptr && local->stored != 0) {
    check_demand(local->stored, value, "an element of '" + name_of(local->name) + "'");
  }
}

}  // namespace spl
