// Holds the GIL on another thread, for tests of code that must not wait for it. Such a test hangs on failure.
#pragma once

#include <unistd.h>

#include "python_test.h"

/// While one lives, a Python thread holds the GIL in C code, as a long kernel does.
class HeldGil : PythonTest {
 public:
  HeldGil() {
    for (int* ends : {may_start_, holds_, may_return_}) {
      EXPECT_EQ(pipe(ends), 0);
    }
    exec(
        "import ctypes, os, threading\n"
        "def hold(may_start, holds, may_return):\n"
        "    os.read(may_start, 1)\n    c = ctypes.PyDLL(None)\n    buffer = ctypes.create_string_buffer(1)\n"
        "    c.write(holds, buffer, 1)\n    c.read(may_return, buffer, 1)\n"
        "holder = threading.Thread(target=hold, args=(may_start, holds, may_return))\nholder.start()",
        Args()
            .number(may_start_[0])
            .as("may_start")
            .number(holds_[1])
            .as("holds")
            .number(may_return_[0])
            .as("may_return"));
    char byte = 0;
    EXPECT_EQ(write(may_start_[1], &byte, 1), 1);
    EXPECT_EQ(read(holds_[0], &byte, 1), 1);
  }
  ~HeldGil() override {
    const char byte = 0;
    EXPECT_EQ(write(may_return_[1], &byte, 1), 1);
    exec("holder.join()");
    for (const int* ends : {may_start_, holds_, may_return_}) {
      close(ends[0]);
      close(ends[1]);
    }
  }
  HeldGil(const HeldGil&) = delete;
  HeldGil& operator=(const HeldGil&) = delete;

 private:
  void TestBody() override {}
  int may_start_[2], holds_[2], may_return_[2];
};
