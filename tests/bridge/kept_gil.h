// Python's lock in the hands of another thread, for tests of what must not wait for it: such a test hangs.
#pragma once

#include <unistd.h>

#include "python_test.h"

/// While one lives, a thread of Python's keeps the lock in C code, as a long kernel does.
class KeptGil : PythonTest {
 public:
  KeptGil() {
    for (int* ends : {may_begin_, keeps_, may_end_}) {
      EXPECT_EQ(pipe(ends), 0);
    }
    exec(
        "import ctypes, os, threading\n"
        "def keep(may_begin, keeps, may_end):\n"
        "    os.read(may_begin, 1)\n    c = ctypes.PyDLL(None)\n    room = ctypes.create_string_buffer(1)\n"
        "    c.write(keeps, room, 1)\n    c.read(may_end, room, 1)\n"
        "keeper = threading.Thread(target=keep, args=(may_begin, keeps, may_end))\nkeeper.start()",
        Args()
            .number(may_begin_[0])
            .as("may_begin")
            .number(keeps_[1])
            .as("keeps")
            .number(may_end_[0])
            .as("may_end"));
    char byte = 0;
    EXPECT_EQ(write(may_begin_[1], &byte, 1), 1);
    EXPECT_EQ(read(keeps_[0], &byte, 1), 1);
  }
  ~KeptGil() override {
    const char byte = 0;
    EXPECT_EQ(write(may_end_[1], &byte, 1), 1);
    exec("keeper.join()");
    for (const int* ends : {may_begin_, keeps_, may_end_}) {
      close(ends[0]);
      close(ends[1]);
    }
  }
  KeptGil(const KeptGil&) = delete;
  KeptGil& operator=(const KeptGil&) = delete;

 private:
  void TestBody() override {}
  int may_begin_[2], keeps_[2], may_end_[2];
};
