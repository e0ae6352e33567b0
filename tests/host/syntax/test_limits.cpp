// Hostile input: deep, long, truncated or binary. The parser may reject it but must not crash or hang.
#include <gmock/gmock.h>

#include <ctime>

#include "tests/host/syntax/trees.h"

namespace spl::test {

using ::testing::HasSubstr;

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

std::string first_message(const std::string& source) {
  const auto result = parsed(source);
  return result.ok() ? "" : result.diagnostics[0].message;
}

/// CPU time, which does not depend on the load of the machine.
double seconds_since(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(Limits, DeepNestingIsAnError) {
  for (const auto* opening : {"(", "[", "f(", "-", "not ", "{1: ", "\\x: ", "if a: ", "x ** ",
                              "[for x in xs: ", "a[", "|x| ", "& ", "match "}) {
    EXPECT_THAT(first_message("y = " + repeated(opening, 100000)), HasSubstr("nested too deeply")) << opening;
  }
  EXPECT_THAT(first_message("type A = " + repeated("[", 100000)), HasSubstr("nested too deeply"));
  EXPECT_THAT(first_message("type A = " + repeated("B<", 100000)), HasSubstr(""));
  EXPECT_THAT(first_message("match x:\n    " + repeated("(", 100000)), HasSubstr("nested too deeply"));
  std::string blocks;
  for (int i = 0; i < 300; ++i) {
    blocks += repeated(" ", i) + "if a:\n";
  }
  EXPECT_THAT(first_message(blocks), HasSubstr("nested too deeply"));
}

TEST(Limits, OrdinaryNestingIsAllowed) {
  EXPECT_EQ(first_message("y = " + repeated("(", 90) + "1" + repeated(")", 90)), "");
  EXPECT_EQ(first_message("y = 1" + repeated(" + 1", 900)), "");
}

TEST(Limits, LongChainsAreAnError) {
  for (const auto* link : {" + 1", ".a", "(1)", "[0]", " |> f", "? ", " < 2"}) {
    EXPECT_THAT(first_message("y = x" + repeated(link, 100000)), HasSubstr("too long")) << link;
  }
}

TEST(Limits, LongListsAreAllowed) {
  EXPECT_EQ(first_message("y = [" + repeated("1, ", 100000) + "]"), "");
  EXPECT_EQ(first_message("if a: b\n" + repeated("elif a: b\n", 10000)), "");
}

TEST(Limits, UnclosedInterpolationsAreFast) {
  const auto start = std::clock();
  for (const auto* piece : {"{a\"", "{a '", "\"{a", "f\"{", "{a{", "{\"", "\"\"\"{"}) {
    parsed("x = \"" + repeated(piece, 5000));
    parsed("x = f\"\"\"" + repeated(piece, 5000));
  }
  EXPECT_LT(seconds_since(start), 10);
}

TEST(Limits, TenThousandLinesTakeLessThanASecond) {
  std::string source;
  for (int i = 0; i < 1250; ++i) {
    source +=
        "class Layer(Module<Tensor<f32>, Tensor<f32>>):\n"
        "    weight: Tensor<f32>\n"
        "    fn forward(x: Tensor<f32>, scale: f64 = 1.0) -> Tensor<f32>:\n"
        "        val y = x.matmul(self.weight.t()) * scale + self.bias\n"
        "        if y.ndim() > 2 and not y.is_cuda():\n"
        "            print \"shape {y.shape()} at {scale:.3f}\"\n"
        "            return y[:, -1, :].map(\\v: v * 2)\n"
        "        y\n";
  }
  const auto start = std::clock();
  EXPECT_TRUE(parsed(source).ok());
  EXPECT_LT(seconds_since(start), 1);
}

TEST(Limits, PrefixesOfAProgramDoNotCrash) {
  const std::string program =
      "use a.{b}\nclass A(B<C>):\n    x: i64 = 0\n    fn f(y: [i64]) -> {text: i64}:\n        match y:\n"
      "            case [a, ...r] if a > 1: \"n {a:>3} {d[\"k\"]}\"\n            | _ -> |z| { z + 1 }\n"
      "        f(\\q:\n            q\n        )\n";
  for (size_t length = 0; length <= program.size(); ++length) {
    parsed(program.substr(0, length));
  }
  for (size_t at = 0; at < program.size(); ++at) {
    std::string broken = program;
    broken[at] = static_cast<char>(at * 37);
    parsed(broken);
  }
}

TEST(Limits, InvalidBytes) {
  EXPECT_EQ(first_message(std::string("x = \0 1", 7)), "unexpected byte 0");
  EXPECT_EQ(first_message("\xEF\xBB\xBFx = 1"), "");
  EXPECT_EQ(first_message("x = 1\r\nif x:\r\n    y\r\n"), "");
  EXPECT_EQ(first_message("x = \u201Chi\u201D"), "unexpected character '\u201C'");
}

}  // namespace spl::test
