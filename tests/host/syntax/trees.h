// Tables of source text and expected trees.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/syntax/parse.h"

namespace spl::test {

inline ParseResult parsed(const std::string& source) { return parse(SourceFile{1, "t.spl", source}); }

/// The dump, or the diagnostics if there are any.
inline std::string tree(const std::string& source) {
  const SourceFile file{1, "t.spl", source};
  const ParseResult result = parse(file);
  if (result.ok()) {
    return dump(result.module);
  }
  std::string diagnostics;
  for (const auto& diagnostic : result.diagnostics) {
    diagnostics += render(diagnostic, file);
  }
  return diagnostics;
}

struct Row {
  const char* source;
  const char* tree;  // without the final newline
};

inline void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(tree(row.source), row.tree + std::string("\n")) << row.source;
  }
}

}  // namespace spl::test
