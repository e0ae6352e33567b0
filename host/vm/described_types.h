// Declared types as another language sees them.
#pragma once

#include "host/compiler/bytecode.h"
#include "host/syntax/ast.h"
#include "host/values/module.h"

namespace spl {

/// Describes a type by an array: its name, then the descriptions of the types inside. The name "object"
/// stands for a class of another language, which follows it, and "record" for a class or struct of the
/// program, whose description follows it.
class TypeDescriber {
 public:
  /// `closure`: the function whose declaration has the types, or null. `values`: those of types that are
  /// variables; may be null.
  TypeDescriber(LoadedModule& module, const Closure* closure,
                const std::unordered_map<const TypeExpr*, Ref>* values)
      : module_(module), closure_(closure), values_(values) {}

  /// nil for no type. Owned.
  Value describe(const TypeExpr* declared);
  Value describe_parts(const char* name, const std::vector<TypePtr>& parts);
  /// Whether a description has an object.
  bool has_objects() const { return has_objects_; }

 private:
  Value describe_without_nil(const TypeExpr& type);
  Value describe_name(const TypeExpr& type);
  Ref object_of(const TypeExpr& type);

  LoadedModule& module_;
  const Closure* closure_;
  const std::unordered_map<const TypeExpr*, Ref>* values_;
  bool has_objects_ = false;
};

/// The value that code of a declaration reads, for this closure of the function. Missing if it uses
/// parameters or fails. Owned.
Ref shown_value(const ShownValue& shown, const Closure& closure);

}  // namespace spl
