// The native functions that a class names in @[direct(…)] for its operators, calls and drop().
#pragma once

#include <array>
#include <vector>

#include "host/syntax/ast.h"
#include "host/values/value.h"

namespace spl {

struct Extern;
struct Record;

/// An extern function, named in the class's module and resolved at its first call.
struct DirectCall {
  Symbol name = kNoSymbol;
  Extern* function = nullptr;
  void* address = nullptr;  // set after the first call of a function with only integers
};

/// A call of an object behind a handle. The call has side effects, so a failed one (result 0) is not
/// repeated: the Simple function `value_of` receives the 0 and raises the error. It also receives the handles
/// that stand for values of the program, and returns these.
struct DirectInvocation {
  DirectCall native;
  Symbol value_of = kNoSymbol;
};

/// The direct calls of a class whose only field is a native handle. The methods with the attribute define the
/// behavior: they run if the direct call does not apply, or if it returns 0, which means that it failed. A
/// child class inherits the direct calls if it adds no fields and overrides none of these methods; results
/// are instances of the parent.
struct DirectCalls {
  Record* record = nullptr;     // the class that names them
  std::vector<Symbol> methods;  // the methods with the attribute
  struct Operator {
    DirectCall with_same, with_float, with_int;  // (handle, handle), (handle, f64), (handle, i64) -> handle
  };
  std::array<Operator, static_cast<size_t>(BinaryOp::kCoalesce) + 1> operators;
  DirectCall drop;  // (handle)

  // For a class whose objects live outside Simple. `letters` has one letter for each value: v for a plain
  // value, the class's letter for the handle of an instance. Named arguments come last.
  DirectInvocation call;    // (handle, letters, values, names) -> handle
  DirectInvocation invoke;  // (handle, method, letters, values, names) -> handle
  DirectInvocation get;     // (handle, field) -> handle
  int64_t nil_handle = 0;   // a result with this handle is nil; set by rt_set_nil_handle()
  int64_t (*own_key)(int64_t handle) =
      nullptr;      // not 0: `value_of` finds the result; set by rt_set_own_key()
  char letter = 0;  // marks this class's instances as arguments; 0 if they cannot be arguments
};

/// Whether an attribute that is read is always the native object's own, also where the class has a method of
/// that name.
inline bool leaves_names(const DirectCalls* direct) {
  return direct != nullptr && direct->get.native.name != kNoSymbol;
}

}  // namespace spl
