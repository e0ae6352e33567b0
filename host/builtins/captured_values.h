// Values that functions and objects capture.
#pragma once

#include <vector>

#include "host/values/objects.h"

namespace spl {

/// The values that a function captures or names as global variables; the object and function of a bound
/// method; the values that the methods of an object's class capture. Only variables of the program's own
/// modules count. Owned.
std::vector<Value> captured_values(Value of);

}  // namespace spl
