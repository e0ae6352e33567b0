// Stack space for calls from native code.
#pragma once

#include <cstdint>

namespace spl {

/// Reserves the registers up to `next` for a window of native code, for its lifetime.
class NativeWindow {
 public:
  NativeWindow(uint32_t& top, uint32_t next) : top_(top), before_(top) { top = next; }
  ~NativeWindow() { top_ = before_; }

 private:
  uint32_t& top_;
  uint32_t before_;
};

}  // namespace spl
