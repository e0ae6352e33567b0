// Tables of native functions: methods of the built-in kinds, functions without import, externs of the host.
#pragma once

#include <span>
#include <string>

#include "host/values/objects.h"

namespace spl {

class SpellingSuggester;

/// Adds built-in methods of one kind; of all numbers and bools; of Option, Result and every value.
void add_methods(Kind kind, std::span<const NativeEntry> entries);
void add_number_methods(std::span<const NativeEntry> entries);
void add_option_methods(std::span<const NativeEntry> entries);

/// The built-in method of a value; null if it has none of that name.
const Native* builtin_method_of(Value self, Symbol name);
/// Offers the names of all built-in methods of a value.
void offer_builtin_methods(Value self, SpellingSuggester& suggester);

/// Adds functions that every module sees.
void add_functions(std::span<const NativeEntry> entries);

/// Makes the methods of a kind, and `entries`, members of the function that converts to it: `str.upper`,
/// `dict.fromkeys`.
void add_functions_of_type(const char* function, Kind kind, std::span<const NativeEntry> entries);
/// Such a member; null if the function has none of that name.
const Native* member_of_function(const Native& function, Symbol name);

/// Adds functions that `extern fn` finds in the host itself.
void add_host_externs(std::span<const NativeEntry> entries);
/// Such a function; null if there is none of that name.
const Native* host_extern(const std::string& name);

}  // namespace spl
