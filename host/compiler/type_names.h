// The built-in types and their alternative names.
#pragma once

#include <string_view>

namespace spl {

/// The canonical name of a built-in type: `Int32` is i32, `List` is array. "" for any other name.
std::string_view builtin_type(std::string_view name);

inline bool is_integer_type(std::string_view canonical) {
  return !canonical.empty() && (canonical[0] == 'i' || canonical[0] == 'u');
}
inline bool is_float_type(std::string_view canonical) { return !canonical.empty() && canonical[0] == 'f'; }

}  // namespace spl
