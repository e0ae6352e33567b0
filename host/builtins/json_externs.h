// Externs of std.json. They are in the host, not behind the C ABI: the parser builds the program's values
// while it reads, and the ABI would need a second representation of the whole document.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

/// rt_json_loads(content, allow_nan): an array of the value.
Value json_loads(Thread& thread, Value* args, int count);
/// rt_json_dumps(settings): the document; see JsonSettings.
Value json_dumps(Thread& thread, Value* args, int count);

/// rt_json_items(content): the texts of the complete items at the front of an array's content, the rest of the
/// content, and whether the array has ended.
Value json_items(Thread& thread, Value* args, int count);

/// Arrays, dicts and objects inside one another, in documents and in values to write.
inline constexpr int kMaxJsonDepth = 1000;

std::span<const NativeEntry> json_externs();

}  // namespace spl
