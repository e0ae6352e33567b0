#pragma once

#include <cstdint>

namespace spl {

/// The registers above the caller's: native code puts its windows there, one above the other.
class NativeWindow {
 public:
  NativeWindow(uint32_t& top, uint32_t next) : top_(top), before_(top) { top = next; }
  ~NativeWindow() { top_ = before_; }

 private:
  uint32_t& top_;
  uint32_t before_;
};

}  // namespace spl
