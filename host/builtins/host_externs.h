// What the host's own externs need to know of the running program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spl {

struct ProgramInfo {
  std::string path;
  std::vector<std::string> arguments;
  std::string spec_filter;
  bool verbose = false;
  bool called_exit = false;
  // Sums over all spec files.
  int64_t passed = 0, failed = 0, skipped = 0, pending = 0;
  struct SpecFailure {
    std::string example, message;
  };
  std::vector<SpecFailure> failures;
};
ProgramInfo& program_info();

}  // namespace spl
