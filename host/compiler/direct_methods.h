// @[direct(…)]: methods of a class that native functions implement.
#pragma once

#include "host/syntax/ast.h"
#include "host/values/objects.h"

namespace spl {

/// Records the native functions that the attributes of the methods name. Throws CompileError.
void note_direct_calls(Record& record, const std::vector<FunctionPtr>& methods);

}  // namespace spl
