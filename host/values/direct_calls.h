// The native functions that a class names in @[direct(…)] for its operators, its calls and its drop().
#pragma once

#include <array>
#include <vector>

#include "host/syntax/ast.h"
#include "host/values/value.h"

namespace spl {

struct Extern;
struct Record;

/// An extern function, by its name in the class's module; found when it is first called.
struct DirectCall {
  Symbol name = kNoSymbol;
  Extern* function = nullptr;
  void* address = nullptr;  // of a function of integers alone that has been called once
};

/// A call that native code makes elsewhere, on what the handle stands for. It has effects there, so that one
/// that failed (0) is not done again: `refusal`, a Simple function, gets the 0 and stops with what went
/// wrong.
struct DirectInvocation {
  DirectCall native;
  Symbol refusal = kNoSymbol;
};

/// The short ways of a class whose one field is a native handle. The methods that carry the attribute say
/// what is meant: they run wherever the short way does not fit, and where it gives 0, which means that the
/// call failed. A class whose parent has them shares them, if it has neither fields nor such methods of its
/// own; what they give is of the parent.
struct DirectCalls {
  Record* record = nullptr;     // the class that names them
  std::vector<Symbol> methods;  // that carry the attribute
  struct Operator {
    DirectCall with_same, with_float, with_int;  // (handle, handle), (handle, f64), (handle, i64) -> handle
  };
  std::array<Operator, static_cast<size_t>(BinaryOp::kCoalesce) + 1> operators;
  DirectCall drop;  // (handle)

  // Of a class whose objects are elsewhere. `letters` has one letter for each value, which says what it is: v
  // for itself, another for the handle of an instance; the last values are named ones.
  DirectInvocation call;    // (handle, letters, values, names) -> handle
  DirectInvocation invoke;  // (handle, method, letters, values, names) -> handle
  DirectInvocation get;     // (handle, field) -> handle
  char letter = 0;          // of this class's own instances, where they may be such a value
};

}  // namespace spl
