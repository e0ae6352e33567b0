// The C++ exceptions that a thread handles, which a switch of greenlets mixes up.
#pragma once

#include <cxxabi.h>

namespace simple_torch::bridge {

/// While one lives, the thread handles none of the C++ exceptions that it handled before; afterwards it
/// handles the same ones again.
///
/// The C++ runtime keeps these exceptions in a stack for each thread, and the end of a `catch` block removes
/// the top. If greenlets switch inside `catch` blocks, such as in deferred code of Simple, the top may be
/// another greenlet's exception.
class HandledExceptionsScope {
 public:
  HandledExceptionsScope() noexcept : outer_(*of_this_thread()) { *of_this_thread() = {nullptr, 0}; }
  ~HandledExceptionsScope() { *of_this_thread() = outer_; }
  HandledExceptionsScope(const HandledExceptionsScope&) = delete;
  HandledExceptionsScope& operator=(const HandledExceptionsScope&) = delete;

 private:
  /// The Itanium C++ ABI defines this layout of __cxa_eh_globals.
  struct Handled {
    void* caught;
    unsigned int uncaught;
  };
  static Handled* of_this_thread() noexcept { return reinterpret_cast<Handled*>(::abi::__cxa_get_globals()); }

  Handled outer_;
};

}  // namespace simple_torch::bridge
