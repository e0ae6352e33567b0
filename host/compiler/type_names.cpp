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

std::string convertible_type(const TypeExpr& type) {
  switch (type.kind) {
    case TypeKind::kUnion: {
      std::string names;
      for (const TypePtr& one : type.args) {
        const std::string name = convertible_type(*one);
        names += (names.empty() || name.empty() ? "" : "|") + name;
      }
      return names;
    }
    case TypeKind::kArray:
      return "array";
    case TypeKind::kDict:
      return type.args.size() == 2 ? "dict" : "Set";
    case TypeKind::kTuple:
      return type.args.empty() ? "" : "tuple";
    case TypeKind::kName: {
      const std::string& name = name_of(type.path.back());
      if (name == "Tensor") {
        return "Tensor";
      }
      const std::string_view canonical = type.path.size() == 1 ? builtin_type(name) : std::string_view();
      return canonical == "nil" || canonical == "function" ? "" : std::string(canonical);
    }
    default:
      return "";
  }
}

}  // namespace spl
