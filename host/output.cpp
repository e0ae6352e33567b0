#include "host/output.h"

#include <cstdio>

#include "host/values/error.h"
#include "host/vm/lock.h"

namespace spl {

namespace {

Writer writer = nullptr;  // set once, before programs run

bool write(int stream, std::string_view text) {
  const Unlocked unlocked;  // the embedding program's streams may have their own locks
  return writer(stream, text.data(), text.size()) == 0;
}

}  // namespace

void set_writer(Writer function) { writer = function; }

void print_text(std::string_view text) {
  if (writer == nullptr) {
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else if (!write(1, text)) {
    fail("print: cannot write to standard output");
  }
}

void print_diagnostic(std::string_view text) {
  if (writer != nullptr) {
    write(2, text);
  } else {
    std::fflush(stdout);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
}

void flush_output() { std::fflush(stdout); }

}  // namespace spl
