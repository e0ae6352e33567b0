// What functions and objects hold without a field that says so.
#pragma once

#include <vector>

#include "host/values/objects.h"

namespace spl {

/// Of a function what it has captured, and the variables of its module that it names; of a bound method its
/// object and its function; of an object what its class's methods so name. The variables are those of the
/// program's own modules. Owned.
std::vector<Value> reached_by(Value of);

}  // namespace spl
