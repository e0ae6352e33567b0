// Variables of classes in programs that come from Python.
#pragma once

#include "host/values/module.h"

namespace spl {

/// Makes fields that the program uses as variables of their class, such as `count = 0` with `Net.count += 1`,
/// `static var`s, in a program that imports torch. Call it before the module's types are declared.
void share_class_variables(LoadedModule& module);

}  // namespace spl
