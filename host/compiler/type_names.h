// The built-in types by all the names that they have had.
#pragma once

#include <string_view>

namespace spl {

/// Today's name of a built-in type: `Int32` is i32, `List` is array. "" for any other name.
std::string_view builtin_type(std::string_view name);

inline bool is_integer_type(std::string_view today) {
  return !today.empty() && (today[0] == 'i' || today[0] == 'u');
}
inline bool is_float_type(std::string_view today) { return !today.empty() && today[0] == 'f'; }

}  // namespace spl
