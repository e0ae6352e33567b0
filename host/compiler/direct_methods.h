// @[direct(…)]: methods of a class that native functions implement.
#pragma once

#include "host/compiler/bytecode.h"
#include "host/syntax/ast.h"
#include "host/values/objects.h"

namespace spl {

/// The attribute @[operator(…)] of a function; null without one. Throws CompileError.
const OperatorCall* operator_call_of(const FunctionDecl& decl);

/// Records the native functions that the attributes of the methods name. Throws CompileError.
void note_direct_calls(Record& record, const std::vector<FunctionPtr>& methods);

}  // namespace spl
