// A step of an lvalue's path into an object.
#pragma once

#include "host/compiler/bytecode.h"

namespace spl {

/// The slot of the field that the step names; null if the instance has no such field. Keeps where the field is
/// in the step.
Value* field_slot(Instance& instance, const LvaluePath::Step& step);

}  // namespace spl
