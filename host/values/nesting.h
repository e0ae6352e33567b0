// Ends what walks into values that hold values before the C++ stack does.
#pragma once

#include <string>

#include "host/values/error.h"

namespace spl {

class Nesting {
 public:
  /// Fails with "this value is nested too deeply to be …" beyond `most` levels of such walks on this thread.
  Nesting(int most, const char* purpose) {
    if (++depth() > most) {
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
