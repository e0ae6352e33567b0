// The contract of SystemLibrary: the first library that exists is used, and a missing one is named.
#include "host/builtins/system_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "host/values/error.h"

namespace spl {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

template <class Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const SimpleError& error) {
    return error.message;
  }
  return "";
}

TEST(SystemLibrary, OpensTheFirstFileThatExists) {
  const SystemLibrary library("std.none", "the C library", {"libno_such_library.so", "libc.so.6"});
  int (*absolute)(int) = nullptr;
  library.find(absolute, "abs");
  EXPECT_EQ(absolute(-3), 3);
}

TEST(SystemLibrary, NamesAMissingLibraryAndItsUser) {
  const std::string message = message_of(
      [] { const SystemLibrary library("std.none", "None (Debian package libnone)", {"libnone.so.1"}); });
  EXPECT_THAT(message, StartsWith("std.none needs None (Debian package libnone): "));
  EXPECT_THAT(message, HasSubstr("libnone.so.1"));
}

TEST(SystemLibrary, NamesAMissingFunction) {
  const SystemLibrary library("std.none", "the C library", {"libc.so.6"});
  void (*absent)() = nullptr;
  EXPECT_EQ(message_of([&] { library.find(absent, "no_such_function"); }),
            "std.none needs the C library: missing function no_such_function");
}

}  // namespace
}  // namespace spl
