// Invariants for any input: the parser terminates, its diagnostics are inside the file and can be rendered,
// and the tree can be dumped. test_fuzz.cpp and libFuzzer call this.
#include "tests/host/syntax/fuzz_parse.h"

#include <cstdlib>

#include "host/syntax/parse.h"

namespace spl::test {
namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

void parse_anything(std::string text) {
  const SourceFile file{1, "fuzz.spl", std::move(text)};
  const ParseResult result = parse(file);
  for (const Diagnostic& diagnostic : result.diagnostics) {
    require(diagnostic.span.line >= 1 && diagnostic.span.column >= 1);
    require(diagnostic.span.start <= file.text.size());
    require(!diagnostic.message.empty());
    render(diagnostic, file);
  }
  dump(result.module);
}

}  // namespace spl::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  spl::test::parse_anything(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
