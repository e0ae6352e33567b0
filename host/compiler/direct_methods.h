// @[direct(…)]: which methods of a class may be done by native functions.
#pragma once

#include "host/syntax/ast.h"
#include "host/values/objects.h"

namespace spl {

/// Notes what the attributes of the class's methods name. Throws CompileError.
void note_direct_calls(Record& record, const std::vector<FunctionPtr>& methods);

}  // namespace spl
