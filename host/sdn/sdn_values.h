// SDN documents as Simple values, for the library's std.sdn.
#pragma once

#include "host/values/value.h"

namespace spl {

class Thread;

/// rt_sdn_parse(text): returns [root, positions], or [line, column, message] if the text is not valid SDN.
///
/// A table is a tuple (columns, types, rows), of which columns or types is nil; all other values are of the
/// same type in Simple. `positions` maps the dotted path of each key to (line, column) of its value.
Value sdn_parse(Thread&, Value* args, int);

}  // namespace spl
