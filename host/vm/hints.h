// What a program may have meant by a name that is not there: the hints of its errors.
#pragma once

#include <string>

#include "host/modules/module.h"
#include "host/values/objects.h"

namespace spl {

struct Proto;

/// For a bare name in a module's code.
std::string name_hint(LoadedModule& module, Symbol name);
/// For a field or method of a value.
std::string member_hint(Value object, Symbol name);
/// For what a type has itself: variants, static methods, constants.
std::string static_hint(const Type& type, Symbol name);
/// For a named argument.
std::string parameter_hint(const Proto& proto, Symbol name);
/// For arguments that are too many or too few: all parameters, those that may be left out with a `?`.
std::string parameters_hint(const Proto& proto);
/// For a field given to a constructor.
std::string field_hint(const Record& record, Symbol name);
/// For a name asked of another module.
std::string export_hint(LoadedModule& module, Symbol name);

/// `takes 1 argument, got 2`; `most` is -1 for any number.
std::string wrong_count(int64_t least, int64_t most, int64_t given);

/// Fail with what is known about the name.
/// For a variable whose value a method of its own has taken out.
[[noreturn]] void fail_taken(Symbol name);
[[noreturn]] void fail_undefined(LoadedModule& module, Symbol name);
[[noreturn]] void fail_no_member(LoadedModule& module, Symbol name, const std::string& module_name);

}  // namespace spl
