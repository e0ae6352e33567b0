// SDN documents as Simple values, for the library's std.sdn.
#pragma once

#include "host/values/value.h"

namespace spl {

class Thread;

/// rt_sdn_parse(text): [root, places], or [line, column, message] where the text is no SDN.
///
/// Dicts, arrays, text, numbers, bools and nil stand for themselves, a tuple (columns, types, rows) for a
/// table: columns or types is nil. `places` maps the dotted path of each key to (line, column) of its value.
Value sdn_parse(Thread&, Value* args, int);

}  // namespace spl
