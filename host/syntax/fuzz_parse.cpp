// libFuzzer entry: parses any bytes, prints what came out, renders every complaint.
#include <cstddef>
#include <cstdint>

#include "parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const spl::SourceFile file{1, "fuzz.spl", std::string(reinterpret_cast<const char*>(data), size)};
  const spl::ParseResult result = spl::parse(file);
  spl::dump(result.module);
  for (const auto& diagnostic : result.diagnostics)
    spl::render(diagnostic, file);
  return 0;
}
