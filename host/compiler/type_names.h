// The built-in types and their alternative names.
#pragma once

#include <string>
#include <string_view>

#include "host/syntax/ast.h"

namespace spl {

/// The canonical name of a built-in type: `Int32` is i32, `List` is array. "" for any other name.
std::string_view builtin_type(std::string_view name);

/// A type to which values of another language are converted: a scalar type, array, tuple, dict, Set, Tensor
/// or union, with its parts, as in `dict(text,array(any))`. "" for any other type, which is `any` as a part.
std::string convertible_type(const TypeExpr& type);

inline bool is_integer_type(std::string_view canonical) {
  return !canonical.empty() && (canonical[0] == 'i' || canonical[0] == 'u');
}
inline bool is_float_type(std::string_view canonical) { return !canonical.empty() && canonical[0] == 'f'; }

}  // namespace spl
