// The fuzz target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace spl::test {

/// Parses `text` and aborts if an invariant of the parser does not hold.
void parse_anything(std::string text);

}  // namespace spl::test
