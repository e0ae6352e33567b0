// The names that need no import: functions, and the methods of the built-in kinds.
#pragma once

#include <optional>
#include <string>

#include "host/values/conversions.h"
#include "host/values/module.h"
#include "host/values/objects.h"
#include "host/vm/natives.h"
#include "host/vm/protocols.h"

namespace spl {

/// Fills builtins(), the tables of methods and the table of host externs. Call it once, before any module is
/// compiled.
void install_builtins();

/// Lets input() call a function with the prompt, in place of reading standard input; nil restores that.
void set_line_reader(Value function);

void install_text_methods();
void install_python_text_methods();
void install_text_format();
void install_collection_methods();
void install_dict_methods();
void install_value_methods();
void install_integer_methods();
void install_object_functions();
void install_python_functions();
void install_generators();
void install_iterators();

/// Parses the string as a number, ignoring surrounding white space.
std::optional<double> parsed_number(const std::string& field);
/// The string without white space at both ends.
std::string stripped(const std::string& field);

}  // namespace spl
