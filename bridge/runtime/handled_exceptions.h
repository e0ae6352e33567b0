// The C++ exceptions that a thread handles, which a switch of greenlets mixes up.
#pragma once

#include <cxxabi.h>

#include <utility>

namespace simple_torch::bridge {

/// The Itanium C++ ABI defines this layout of __cxa_eh_globals.
struct HandledExceptions {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

/// Those of the calling thread; the address never changes.
inline HandledExceptions* handled_exceptions_here() noexcept {
  return reinterpret_cast<HandledExceptions*>(::abi::__cxa_get_globals());
}

/// While one lives, the thread handles none of the C++ exceptions that it handled before; afterwards it
/// handles the same ones again.
///
/// The C++ runtime keeps these exceptions in a stack for each thread, and the end of a `catch` block removes
/// the top. If greenlets switch inside `catch` blocks, such as in deferred code of Simple, the top may be
/// another greenlet's exception.
class HandledExceptionsScope {
 public:
  explicit HandledExceptionsScope(HandledExceptions* here) noexcept
      : here_(here), outer_(std::exchange(*here, HandledExceptions{})) {}
  ~HandledExceptionsScope() { *here_ = outer_; }
  HandledExceptionsScope(const HandledExceptionsScope&) = delete;
  HandledExceptionsScope& operator=(const HandledExceptionsScope&) = delete;

 private:
  HandledExceptions* here_;
  HandledExceptions outer_;
};

}  // namespace simple_torch::bridge
