// Host externs, and the facts about the running program that they report.
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
  // Totals of all spec files.
  int64_t passed = 0, failed = 0, skipped = 0, pending = 0;
  struct SpecFailure {
    std::string example, message;
  };
  std::vector<SpecFailure> failures;
};
ProgramInfo& program_info();

/// Adds the externs of builtins/ to the table of host externs.
void install_host_externs();

}  // namespace spl
