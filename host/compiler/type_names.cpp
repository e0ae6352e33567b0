#include "host/compiler/type_names.h"

#include <unordered_map>

namespace spl {

std::string_view builtin_type(std::string_view name) {
  static const std::unordered_map<std::string_view, std::string_view> names = {
      {"i8", "i8"},       {"i16", "i16"},           {"i32", "i32"},     {"i64", "i64"},    {"u8", "u8"},
      {"u16", "u16"},     {"u32", "u32"},           {"u64", "u64"},     {"f32", "f32"},    {"f64", "f64"},
      {"bool", "bool"},   {"text", "text"},         {"usize", "u64"},   {"int", "i64"},    {"float", "f64"},
      {"str", "text"},    {"Int", "i64"},           {"Int8", "i8"},     {"Int16", "i16"},  {"Int32", "i32"},
      {"Int64", "i64"},   {"UInt8", "u8"},          {"UInt16", "u16"},  {"UInt32", "u32"}, {"UInt64", "u64"},
      {"Float", "f64"},   {"Float32", "f32"},       {"Float64", "f64"}, {"Bool", "bool"},  {"String", "text"},
      {"Array", "array"}, {"List", "array"},        {"Dict", "dict"},   {"Nil", "nil"},    {"nil", "nil"},
      {"Tuple", "tuple"}, {"Function", "function"}, {"list", "array"},  {"dict", "dict"},  {"tuple", "tuple"},
  };
  const auto found = names.find(name);
  return found == names.end() ? std::string_view() : found->second;
}

namespace {

/// `name(parts)`; a part to which nothing is converted is `any`.
std::string with_parts(const std::string& name, const std::vector<TypePtr>& parts) {
  std::string list;
  for (const TypePtr& part : parts) {
    const std::string inner = convertible_type(*part);
    list += (list.empty() ? "" : ",") + (inner.empty() ? "any" : inner);
  }
  return list.empty() ? name : name + "(" + list + ")";
}

std::string convertible_union(const TypeExpr& type) {
  std::string names;
  for (const TypePtr& one : type.args) {
    const std::string name = convertible_type(*one);
    names += (names.empty() || name.empty() ? "" : ",") + name;
  }
  return names.empty() ? "" : "union(" + names + ")";
}

std::string convertible_name(const TypeExpr& type) {
  const std::string& name = name_of(type.path.back());
  if (name == "Tensor") {
    return "Tensor";
  }
  const std::string_view canonical = type.path.size() == 1 ? builtin_type(name) : std::string_view();
  if (canonical == "array" || canonical == "dict" || canonical == "tuple") {
    return with_parts(std::string(canonical), type.args);
  }
  return canonical == "nil" || canonical == "function" ? "" : std::string(canonical);
}

}  // namespace

std::string convertible_type(const TypeExpr& type) {
  switch (type.kind) {
    case TypeKind::kUnion:
      return convertible_union(type);
    case TypeKind::kArray:
      return with_parts("array", type.args);
    case TypeKind::kDict:
      return with_parts(type.args.size() == 2 ? "dict" : "Set", type.args);
    case TypeKind::kTuple:
      return type.args.empty() ? "" : with_parts("tuple", type.args);
    case TypeKind::kName:
      return convertible_name(type);
    default:
      return "";
  }
}

}  // namespace spl
