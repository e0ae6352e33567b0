// A depth limit for functions that recurse into nested values, so that the C++ stack does not overflow.
#pragma once

#include <string>

#include "host/values/error.h"

namespace spl {

class Nesting {
 public:
  /// Fails if this thread is already `limit` levels deep. `purpose` completes "nested too deeply to be ".
  Nesting(int limit, const char* purpose) {
    if (++depth() > limit) {
      --depth();
      fail(std::string("this value is nested too deeply to be ") + purpose);
    }
  }
  ~Nesting() { --depth(); }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  static int& depth() {
    static thread_local int value = 0;
    return value;
  }
};

}  // namespace spl
