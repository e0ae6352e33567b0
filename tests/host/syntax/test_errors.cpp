// Complaints: what they say, where they point, and that reading goes on after them.
#include <gmock/gmock.h>

#include "tests/host/syntax/trees.h"

namespace spl::test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Every complaint as `LINE:COLUMN MESSAGE [hint]`.
std::vector<std::string> diagnostics(const std::string& source) {
  std::vector<std::string> out;
  for (const auto& diagnostic : parsed(source).diagnostics) {
    out.push_back(std::to_string(diagnostic.span.line) + ":" + std::to_string(diagnostic.span.column) + " " +
                  diagnostic.message + (diagnostic.hint.empty() ? "" : " [" + diagnostic.hint + "]"));
  }
  return out;
}

TEST(Errors, PointAtWhatIsWrong) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"if a = b:\n    c", "1:6 '=' assigns; a condition compares with '=='"},
      {"if a\n    b", "1:5 expected ':' after the condition, found the end of the line"},
      {"fn f()\n    b",
       "2:5 this line is indented too deeply [a ':' at the end of the line above would open a block]"},
      {"if a:\nb", "1:5 expected an indented block after this [indent the next line, or write 'pass']"},
      {"a\n  b",
       "2:3 this line is indented too deeply [a ':' at the end of the line above would open a block]"},
      {"if a:\n    b\n  c", "3:3 this indentation matches no block around it"},
      {"x = ", "1:4 expected an expression, found the end of the file"},
      {"x = +", "1:5 expected an expression, found '+'"},
      {"f(1, 2\nval x = 3",
       "2:1 expected ')' after the arguments, found 'val' [the bracket opened on line 1 is not closed]"},
      {"f(1 2)", "1:5 expected ')' after the arguments, found '2' [a comma may be missing]"},
      {"a b) c", "1:4 expected the end of the line, found ')' [nothing opened it]"},
      {"x = 1 // two", "1:7 expected the end of the line, found '//' [comments start with '#']"},
      {"x = 2 ^ 3", "1:7 expected the end of the line, found '^' ['**' is power, 'xor' combines bits]"},
      {"f(x) = 3", "1:1 this cannot be assigned to"},
      {"a = b = c", "1:7 an assignment is no value [assign on two lines]"},
      {"val if = 3", "1:5 expected a pattern, found 'if' [this word is a keyword]"},
      {"fn f(in: i64): 1", "1:6 expected a parameter, found 'in' [this word is a keyword]"},
      {"else: a", "1:1 'else' without an 'if' before it [is it indented as its 'if'?]"},
      {"x = \"abc", "1:5 this text is never closed [a text ends on its line; longer ones take three quotes]"},
      {"/* a", "1:1 this comment is never closed [end it with '*/'; comments nest]"},
      {"x = $", "1:5 unexpected character '$'"},
      {"x = 99999999999999999999", "1:5 this integer does not fit into 64 bits"},
      {"x = 12abc", "1:5 '12abc' is not a number [suffixes are i8 to i64, u8 to u64, f32, f64]"},
      {"for x on xs: y", "1:7 expected 'in' after the loop's variable, found 'on'"},
      {"match x:\n    case 1 a", "2:12 expected ':', '->' or '=>' after the pattern, found 'a'"},
      {"class A:\n    x", "2:6 expected ':' and a type after the field's name, found the end of the file"},
      {"if a:\n\tb\n  c", "3:3 this indentation matches no block around it [a tab counts as 4 columns]"},
      {"if a:\n    b\n  else: c",
       "3:3 this indentation matches no block around it [an 'else' is indented as its 'if']"},
      {"x = 1.", "1:7 expected a name, found the end of the file [a float has a digit after its point: 1.0]"},
      {"x = .5", "1:5 expected an expression, found '.' [a float has a digit before its point: 0.5]"},
      {"a, b += 1", "1:6 a compound assignment has one target"},
      {"fn f(a, a): a", "1:9 'a' is a parameter twice"},
      {"return f x", "1:10 expected the end of the line, found 'x'"},
      {"val s = {1, 2}",
       "1:9 a brace opens a dict here: {key: value} [sets are not supported; a block follows a colon]"},
  };
  for (const auto& [source, expected] : rows) {
    const auto found = diagnostics(source);
    ASSERT_FALSE(found.empty()) << source;
    EXPECT_EQ(found[0], expected) << source;
  }
}

TEST(Errors, NameTheKeywordThatWasMeant) {
  EXPECT_THAT(diagnostics("val x = 1 esle 2"),
              ElementsAre("1:11 expected the end of the line, found 'esle' [did you mean 'else'?]"));
  EXPECT_THAT(diagnostics("esle: 1"),
              ElementsAre("1:5 expected the end of the line, found ':' [did you mean 'else'?]"));
  EXPECT_EQ(closest_keyword("whlie"), "while");
  EXPECT_EQ(closest_keyword("retrun"), "return");
  EXPECT_EQ(closest_keyword("clas"), "class");
  EXPECT_EQ(closest_keyword("def"), "fn");
  EXPECT_EQ(closest_keyword("tensor"), "");
  EXPECT_THAT(diagnostics("def f(x): x"), ElementsAre("1:1 a function is declared with 'fn'"));
  EXPECT_THAT(diagnostics("elsif a: b"), ElementsAre("1:1 this is written 'elif'"));
  EXPECT_THAT(diagnostics("try:\n    a"), ElementsAre(HasSubstr("there are no exceptions")));
}

TEST(Errors, LaterAndMissingPartsGetAPlainAnswer) {
  EXPECT_THAT(diagnostics("actor Worker:\n    state:\n        x: i64\n"),
              ElementsAre("1:1 actors are not yet supported"));
  EXPECT_THAT(diagnostics("@[cuda_kernel]\nfn f(): 1\na"),
              ElementsAre("1:3 kernels written in Simple are not yet supported"));
  EXPECT_THAT(diagnostics("k<<<b, t>>>(x)"), ElementsAre("1:2 kernel launches are not yet supported"));
  EXPECT_THAT(diagnostics("val d = 5_km"), ElementsAre("1:9 numbers with units are not supported"));
  EXPECT_THAT(diagnostics("val y = m{ x^2 }"), ElementsAre("1:9 m{} blocks are not supported"));
  EXPECT_THAT(diagnostics("x ~= f()"), ElementsAre(HasSubstr("suspension with '~' is not supported")));
  EXPECT_THAT(diagnostics("x ~> f"), ElementsAre("1:3 '~>' is not supported ['>>' composes functions]"));
  EXPECT_THAT(diagnostics("a .* b"),
              ElementsAre(HasSubstr("elementwise operators like '.*' are not supported")));
  EXPECT_THAT(diagnostics("fn f(x):\n    requires: x\n    x"),
              ElementsAre(HasSubstr("2:5 contracts are not supported")));
  EXPECT_THAT(diagnostics("macro m(): 1"), ElementsAre("1:1 'macro' is not supported"));
}

TEST(Errors, SeveralInOneRun) {
  EXPECT_THAT(diagnostics("x = )\ny = 1\nfn f():\n    a = *\n    b = 2\n    c = /\nz = }"),
              ElementsAre(HasSubstr("1:5 "), HasSubstr("4:"), HasSubstr("6:9 "), HasSubstr("7:5 ")));
  EXPECT_THAT(diagnostics("f(1 2,\n  3\n)\nif x = 1:\n    a\nelse:\n    b\nc"),
              ElementsAre(HasSubstr("1:5 "), HasSubstr("4:6 ")));
  EXPECT_THAT(diagnostics("match x:\n    case 1 a\n    case 2 b\n    case 3: c"),
              ElementsAre(HasSubstr("2:12 "), HasSubstr("3:12 ")));
  EXPECT_THAT(diagnostics("class A:\n    x\n    y: i64\n    z"),
              ElementsAre(HasSubstr("2:6 "), HasSubstr("4:6 ")));
}

TEST(Errors, AreFewAtMost) {
  std::string source;
  for (int i = 0; i < 100; ++i) {
    source += "x = )\n";
  }
  EXPECT_EQ(diagnostics(source).size(), 20u);
}

TEST(Errors, AreRenderedWithTheirLine) {
  const SourceFile file{1, "dir/t.spl", "a\n\tif b = c:\n"};
  const Diagnostic diagnostic{{1, 8, 2, 7, 1}, "no", "yes"};
  EXPECT_EQ(render(diagnostic, file), "dir/t.spl:2:7: error: no\n  \tif b = c:\n  \t     ^\n  hint: yes\n");
}

TEST(Errors, NoneInWhatIsRight) { EXPECT_THAT(diagnostics("print \"hi\"\n"), IsEmpty()); }

}  // namespace spl::test
