// The target of both fuzzers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace spl::test {

/// Parses `text` and aborts where the parser breaks a promise.
void parse_anything(std::string text);

}  // namespace spl::test
