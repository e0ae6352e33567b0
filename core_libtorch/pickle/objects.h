// The classes and functions that a pickle may name. All others raise an error, because they can run any code.
#pragma once

#include <string>

#include "core_libtorch/pickle/reader.h"
#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// All throw Error(kIo) for invalid input.

/// A dtype becomes a value; another name becomes a kGlobal.
ValuePtr global_of(const std::string& module, const std::string& name);

/// The object of a persistent id.
ValuePtr storage_of(const Value& id, const Makers& makers);

/// Calls a name that global_of() returned.
ValuePtr call_global(const Value& function, const Value& arguments, const Makers& makers);

/// Applies the state that follows an object: an array's content. Module versions, which torch stores with a
/// state_dict, are skipped.
void take_state(Value& object, const Value& state);

/// Throws the error for an unsupported class or function: "torch._utils _rebuild_qtensor".
[[noreturn]] void fail_unknown(const std::string& global);

}  // namespace simple_torch::core::pickle
