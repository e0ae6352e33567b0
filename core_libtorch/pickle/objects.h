// The few things that a pickle may make by name; all others are refused, as they can run any code.
#pragma once

#include <string>

#include "core_libtorch/pickle/reader.h"
#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// All throw Error(kIo) for what does not belong there.

/// A dtype is a value; of any other name its use decides.
ValuePtr global_of(const std::string& module, const std::string& name);

/// What a persistent id stands for.
ValuePtr storage_of(const Value& id, const Makers& makers);

/// The call of a name that global_of() gave.
ValuePtr made_by(const Value& function, const Value& arguments, const Makers& makers);

/// The state that follows an object: an array's content; versions of modules, which torch keeps beside a
/// state_dict, are passed over.
void take_state(Value& object, const Value& state);

/// It is of a class or a function that is not among them: "torch._utils _rebuild_qtensor".
[[noreturn]] void fail_unknown(const std::string& global);

}  // namespace simple_torch::core::pickle
