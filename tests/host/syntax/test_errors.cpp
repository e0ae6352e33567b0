// Diagnostics: messages, positions, and recovery after errors.
#include <gmock/gmock.h>

#include "tests/host/syntax/trees.h"

namespace spl::test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Every diagnostic as `LINE:COLUMN MESSAGE [hint]`.
std::vector<std::string> diagnostics(const std::string& source) {
  std::vector<std::string> out;
  for (const auto& diagnostic : parsed(source).diagnostics) {
    out.push_back(std::to_string(diagnostic.span.line) + ":" + std::to_string(diagnostic.span.column) + " " +
                  diagnostic.message + (diagnostic.hint.empty() ? "" : " [" + diagnostic.hint + "]"));
  }
  return out;
}

TEST(Errors, PointAtTheInvalidToken) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"if a = b:\n    c", "1:6 unexpected '=' in a condition [did you mean '=='?]"},
      {"if a\n    b", "1:5 expected ':' after the condition, found end of line"},
      {"fn f()\n    b", "2:5 unexpected indent [a block starts after a line that ends with ':']"},
      {"if a:\nb", "1:5 expected an indented block [indent the next line, or write 'pass']"},
      {"a\n  b", "2:3 unexpected indent [a block starts after a line that ends with ':']"},
      {"if a:\n    b\n  c", "3:3 unindent does not match any outer indentation level"},
      {"x = ", "1:4 expected an expression, found end of file"},
      {"x = %", "1:5 expected an expression, found '%'"},
      {"x = +", "1:6 expected an expression, found end of file"},
      {"f(1, 2\nval x = 3",
       "2:1 expected ')' after the arguments, found 'val' ['(' on line 1 was never closed]"},
      {"f(1 2)", "1:5 expected ')' after the arguments, found '2' [perhaps you forgot a comma]"},
      {"a b) c", "1:4 expected end of line, found ')' [unmatched ')']"},
      {"x = 1 // the first", "1:14 expected end of line, found 'first' [comments start with '#']"},
      {"// the first", "1:1 expected an expression, found '//' [comments start with '#']"},
      {"f(x) = 3", "1:1 cannot assign to expression"},
      {"a += b = c", "1:8 an assignment is not an expression [use two statements]"},
      {"val if = 3", "1:5 expected a pattern, found 'if' ['if' is a keyword]"},
      {"fn f(in: i64): 1", "1:6 expected a parameter, found 'in' ['in' is a keyword]"},
      {"else: a", "1:1 'else' without a matching 'if' [indent it like its 'if']"},
      {"x = \"abc", "1:5 unterminated string literal [use triple quotes for a string that spans lines]"},
      {"/* a", "1:1 unterminated comment [end it with '*/'; comments nest]"},
      {"x = $", "1:5 unexpected character '$'"},
      {"x = 99999999999999999999", "1:5 integer literal out of range for i64"},
      {"x = 12abc", "1:5 invalid number '12abc' [valid suffixes: i8 to i64, u8 to u64, f32, f64]"},
      {"for x on xs: y", "1:7 expected 'in' after the loop variable, found 'on'"},
      {"match x:\n    case 1 a", "2:12 expected ':', '->' or '=>' after the pattern, found 'a'"},
      {"class A:\n    x", "2:6 expected ':' and a type after the field name, found end of file"},
      {"if a:\n\tb\n  c",
       "3:3 unindent does not match any outer indentation level [a tab counts as 4 columns]"},
      {"if a:\n    b\n  else: c",
       "3:3 unindent does not match any outer indentation level ['else' must be indented like its 'if']"},
      {".5", "1:1 expected an expression, found '.' [a float needs a digit before the point: 0.5]"},
      {"a, b += 1", "1:6 a compound assignment must have one target"},
      {"fn f(a, a): a", "1:9 duplicate parameter 'a'"},
      {"return f x", "1:10 expected end of line, found 'x'"},
  };
  for (const auto& [source, expected] : rows) {
    const auto found = diagnostics(source);
    ASSERT_FALSE(found.empty()) << source;
    EXPECT_EQ(found[0], expected) << source;
  }
}

TEST(Errors, SuggestTheIntendedKeyword) {
  EXPECT_THAT(diagnostics("val x = 1 esle 2"),
              ElementsAre("1:11 expected end of line, found 'esle' [did you mean 'else'?]"));
  EXPECT_THAT(diagnostics("esle: 1"),
              ElementsAre("1:5 expected end of line, found ':' [did you mean 'else'?]"));
  EXPECT_EQ(closest_keyword("whlie"), "while");
  EXPECT_EQ(closest_keyword("retrun"), "return");
  EXPECT_EQ(closest_keyword("clas"), "class");
  EXPECT_EQ(closest_keyword("def"), "fn");
  EXPECT_EQ(closest_keyword("tensor"), "");
  EXPECT_THAT(diagnostics("def f(x): x"),
              ElementsAre("1:1 'def' is not a keyword [declare a function with 'fn']"));
  EXPECT_THAT(diagnostics("elsif a: b"), ElementsAre("1:1 'elsif' is not a keyword [use 'elif']"));
  EXPECT_THAT(diagnostics("try:\n    a"), ElementsAre(HasSubstr("expected 'except' or 'finally'")));
}

TEST(Errors, UnsupportedFeaturesHaveSpecificMessages) {
  EXPECT_THAT(diagnostics("@[cuda_kernel]\nfn f(): 1\na"),
              ElementsAre("1:3 kernels written in Simple are not supported"));
  EXPECT_THAT(diagnostics("k<<<b, t>>>(x)"), ElementsAre("1:2 kernel launches are not supported"));
  EXPECT_THAT(diagnostics("val d = 5_km"), ElementsAre("1:9 numbers with units are not supported"));
  EXPECT_THAT(diagnostics("val y = m{ x^2 }"), ElementsAre("1:9 m{} blocks are not supported"));
  EXPECT_THAT(diagnostics("x ~= f()"), ElementsAre(HasSubstr("suspension with '~' is not supported")));
  EXPECT_THAT(diagnostics("x ~> f"),
              ElementsAre("1:3 '~>' is not supported [use '>>' to compose functions]"));
  EXPECT_THAT(diagnostics("a .* b"),
              ElementsAre(HasSubstr("elementwise operators like '.*' are not supported")));
  EXPECT_THAT(diagnostics("fn f(x):\n    requires: x\n    x"),
              ElementsAre(HasSubstr("2:5 contracts are not supported")));
  EXPECT_THAT(diagnostics("macro m(): 1"), ElementsAre("1:1 'macro' is not supported"));
}

TEST(Errors, AreReportedTogether) {
  EXPECT_THAT(diagnostics("x = )\ny = 1\nfn f():\n    a = *\n    b = 2\n    c = /\nz = }"),
              ElementsAre(HasSubstr("1:5 "), HasSubstr("4:"), HasSubstr("6:9 "), HasSubstr("7:5 ")));
  EXPECT_THAT(diagnostics("f(1 2,\n  3\n)\nif x = 1:\n    a\nelse:\n    b\nc"),
              ElementsAre(HasSubstr("1:5 "), HasSubstr("4:6 ")));
  EXPECT_THAT(diagnostics("match x:\n    case 1 a\n    case 2 b\n    case 3: c"),
              ElementsAre(HasSubstr("2:12 "), HasSubstr("3:12 ")));
  EXPECT_THAT(diagnostics("class A:\n    x\n    y: i64\n    z"),
              ElementsAre(HasSubstr("2:6 "), HasSubstr("4:6 ")));
}

TEST(Errors, AreLimitedInNumber) {
  std::string source;
  for (int i = 0; i < 100; ++i) {
    source += "x = )\n";
  }
  EXPECT_EQ(diagnostics(source).size(), 20u);
}

TEST(Errors, AreRenderedWithTheirSourceLine) {
  const SourceFile file{1, "dir/t.spl", "a\n\tif b = c:\n"};
  const Diagnostic diagnostic{{1, 8, 2, 7, 1}, "no", "yes"};
  EXPECT_EQ(render(diagnostic, file), "dir/t.spl:2:7: error: no\n  \tif b = c:\n  \t     ^\n  hint: yes\n");
}

TEST(Errors, ValidCodeHasNone) { EXPECT_THAT(diagnostics("print \"hi\"\n"), IsEmpty()); }

}  // namespace spl::test
