// Hints of errors: the closest existing name for a misspelled one.
#pragma once

#include <string>

#include "host/values/module.h"
#include "host/values/objects.h"

namespace spl {

struct Proto;

/// For an undefined name in a module.
std::string name_hint(LoadedModule& module, Symbol name);
/// For a field or method of a value.
std::string member_hint(Value object, Symbol name);
/// For a static member of a type: variants, static methods, constants.
std::string static_hint(const Type& type, Symbol name);
/// For a named argument.
std::string parameter_hint(const Proto& proto, Symbol name);
/// For a wrong number of arguments: lists all parameters; `?` marks the optional ones.
std::string parameters_hint(const Proto& proto);
/// For a field name in a constructor call.
std::string field_hint(const Record& record, Symbol name);
/// For a member of another module.
std::string export_hint(LoadedModule& module, Symbol name);

/// Why the library lacks a name of PyTorch's, in parentheses; empty for other names. `owner` is a module's name
/// or "torch.Tensor".
std::string reason_of_absence(const std::string& owner, Symbol name);

/// `takes 1 argument, got 2`; `max` is -1 for any number.
std::string wrong_count(int64_t min, int64_t max, int64_t count);

/// For a variable whose value is moved out while one of its methods runs.
[[noreturn]] void fail_taken(Symbol name);
[[noreturn]] void fail_undefined(LoadedModule& module, Symbol name);
[[noreturn]] void fail_no_member(LoadedModule& module, Symbol name, const std::string& module_name);

}  // namespace spl
