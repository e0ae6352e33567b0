// String literals: quotes, escapes, interpolation.
#include "tests/host/syntax/trees.h"

namespace spl::test {

std::string value_of(const std::string& literal) {
  const auto result = parsed("x = " + literal);
  if (!result.ok()) {
    return result.diagnostics[0].message;
  }
  const auto& value = *as<AssignStmt>(*result.module.statements[0]).value;
  return value.kind == ExprKind::kText ? as<TextExpr>(value).value : "not a plain text";
}

TEST(Texts, QuotesDetermineEscapes) {
  EXPECT_EQ(value_of(R"("a\tb\n")"), "a\tb\n");
  EXPECT_EQ(value_of(R"('a\tb {x}')"), R"(a\tb {x})");
  EXPECT_EQ(value_of(R"('it\'s')"), "it's");
  EXPECT_EQ(value_of(R"(r"\d {x}")"), R"(\d {x})");
  EXPECT_EQ(value_of("\"\"\"a\\n {x}\n\"b\" \"\"\""), "a\\n {x}\n\"b\" ");
  EXPECT_EQ(value_of("f\"\"\"a\\n\nb\"\"\""), "a\n\nb");
}

TEST(Texts, Escapes) {
  EXPECT_EQ(value_of(R"("\x41\u00e9\u{1F600}\101\e\"\{\}")"), "A\u00e9\U0001F600Ae\"{}");
  EXPECT_EQ(value_of(R"("\0")"), std::string(1, '\0'));
  EXPECT_EQ(value_of(R"("\u{D800}")"), "\uFFFD");  // not a character
}

TEST(Texts, InterpolateAnyExpression) {
  check({{R"("a {x} b")", R"((text "a " x " b"))"},
         {R"(f"{x}{y}")", "(text x y)"},
         {R"("{f(a, "b")}")", R"((text (call f a "b")))"},
         {R"("{d["k"]}")", R"((text (index d "k")))"},
         {R"("{ "in {x}" }")", R"((text (text "in " x)))"}});
}

TEST(Texts, FormatsFollowATopLevelColon) {
  check({{R"("{loss:.4f}")", "(text loss:.4f)"},
         {R"("{n:>6}")", "(text n:>6)"},
         {R"("{n:*^+8,.2e}")", "(text n:*^+8,.2e)"},
         {R"("{xs[1:2]}")", "(text (index xs (: 1 2 _)))"},
         {R"("{if a: b else:c}")", "(text (if (a b) (else c)))"},
         {R"("{f(k: 1):d}")", "(text (call f (= k 1)):d)"}});
}

TEST(Texts, SomeBracesAreLiteral) {
  EXPECT_EQ(value_of(R"("{{x}}")"), "{x}");
  EXPECT_EQ(value_of(R"("{}")"), "{}");
  EXPECT_EQ(value_of(R"("a { b")"), "a { b");
  EXPECT_EQ(value_of(R"("a } b")"), "a } b");
  EXPECT_EQ(value_of(R"("{\n")"), "{\n");
  check({{R"("{" + x + "}")", R"((+ (+ "{" x) "}"))"}});
}

TEST(Texts, InterpolationsKeepTheirPositions) {
  const auto result = parsed("f\"\"\"\nab {x + }\n\"\"\"");
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].span.line, 2u);
  EXPECT_EQ(result.diagnostics[0].span.column, 8u);
}

}  // namespace spl::test
