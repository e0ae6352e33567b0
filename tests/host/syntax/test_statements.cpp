// Statements: layout, commands, bindings, control flow, patterns.
#include "tests/host/syntax/trees.h"

namespace spl::test {

TEST(Statements, ShareALineWithSemicolons) { check({{"a; b; if c: d; e", "a\nb\n(if (c d e))"}}); }

TEST(Statements, ContinueAcrossLines) {
  check({{"val x = a +\n    b", "(val x (+ a b))"},
         {"val x = a\n    + b\n    and c", "(val x (and (+ a b) c))"},
         {"val x =\n    a", "(val x a)"},
         {"a\n.b()\n.c", "(. (call (. a b)) c)"},
         {"val x = a + \\\nb", "(val x (+ a b))"},
         {"a\n@deco\nfn f(): b", "a\n(@deco fn f () : b)"}});
}

TEST(Statements, CommentsAndBlankLinesDoNotAffectBlocks) {
  check({{"if a:\n    b\n\n# c\n  /* d\n /* e */ */\n    f", "(if (a b f))"},
         {"if a:\n    # nothing yet\nelse:\n    b", "(if (a) (else b))"},
         {"#!/usr/bin/simple\na", "a"},
         {"if a:\n\tb\n    c", "(if (a b c))"}});  // a tab is four columns
}

TEST(Statements, Bindings) {
  check({{"val x = 1", "(val x 1)"},
         {"var x: i64 = 1", "(var x:i64 1)"},
         {"var x: [i64]", "(var x:[i64])"},
         {"let mut x = 1", "(let x 1)"},
         {"const N: i64 = 3", "(const N:i64 3)"},
         {"val (a, b) = f()", "(val (a, b) (call f))"},
         {"val a, b = f()", "(val (a, b) (call f))"},
         {"val f = g 1", "(val f (call g 1))"},
         {"pub val x = 1", "(export val x 1)"}});
}

TEST(Statements, Assignments) {
  check({{"x = 1", "(= x 1)"},
         {"self.x = y", "(= (. self x) y)"},
         {"m[0][1] = 5", "(= (index (index m 0) 1) 5)"},
         {"x += 1", "(+= x 1)"},
         {"param.data -= lr * g", "(-= (. param data) (* lr g))"},
         {"a *= 2; b /= 2; c %= 2", "(*= a 2)\n(/= b 2)\n(%= c 2)"},
         {"a, b = b, a", "(= a b (tuple b a))"},
         {"(a, b) = f()", "(= (tuple a b) (call f))"}});
}

TEST(Statements, CommandsAreCalls) {
  check({{"print \"a\", 1", "(call print \"a\" 1)"},
         {"print", "(call print)"},
         {"print (a) + b", "(+ (call print a) b)"},
         {"print -1", "(- print 1)"},
         {"f [0]", "(call f (array 0))"},
         {"f[0]", "(index f 0)"},
         {"a.b x, k: 1", "(call (. a b) x (= k 1))"},
         {"self.log \"x\"", "(call (. self log) \"x\")"},
         {"f not x", "(call f (not x))"},
         {"x not in xs", "(not-in x xs)"}});
}

TEST(Statements, TrailingBlocksAreScopeBlocks) {
  check({{"describe \"S\":\n    var s = 1\n    it \"g\":\n        s = 2",
          "(call describe \"S\" (block (var s 1) (call it \"g\" (block (= s 2)))))"},
         {"before_each:\n    s = 1", "(call before_each (block (= s 1)))"},
         {"describe(\"S\"):\n    a", "(call describe \"S\" (block a))"},
         {"xs.each \\x:\n    f(x)", "(call (. xs each) (\\ (x) (call f x)))"},
         {"g(1) \\x: x", "(call g 1 (\\ (x) x))"},
         {"g 1 \\x: p x", "(call g 1 (\\ (x) (call p x)))"}});
}

TEST(Statements, SpecAssertionsWithoutParentheses) {
  check({{"expect a == b", "(call expect (== a b))"},
         {"expect a to_equal b", "(call (. (call expect a) to_equal) b)"},
         {"expect a to_be_nil", "(call (. (call expect a) to_be_nil))"},
         {"expect a to eq b", "(call (. (call expect a) to) (call eq b))"},
         {"expect a not_to eq(b)", "(call (. (call expect a) not_to) (call eq b))"}});
}

TEST(Statements, Branches) {
  check({{"if a:\n    b\nelif c: d\nelse if e: f\nelse:\n    g", "(if (a b) (c d) (e f) (else g))"},
         {"if val x = e: x", "(if ((present x e) x))"},
         {"if let Some(b) = self.bias:\n    b", "(if ((let Some(b) (. self bias)) b))"},
         {"if let b = e: b", "(if ((present b e) b))"},
         {"if a: print 1 else: print 2", "(if (a (call print 1)) (else (call print 2)))"},
         {"if a { b } else { c }", "(if (a b) (else c))"},
         {"if a:\n    if b: c\nelse: d", "(if (a (if (b c))) (else d))"}});
}

TEST(Statements, Loops) {
  check({{"for x in xs: f(x)", "(for x xs (call f x))"},
         {"for i, x in xs: pass", "(for i, x xs (pass))"},
         {"for i, (a, b) in l.enumerate():\n    pass", "(for i, (a, b) (call (. l enumerate)) (pass))"},
         {"for a, b, c in xs: pass", "(for (a, b, c) xs (pass))"},
         {"while a < b: a += 1", "(while (< a b) (+= a 1))"},
         {"while val x = next(): f(x)", "(while (present x (call next)) (call f x))"},
         {"outer: loop:\n    break outer", "(loop@outer (break@outer))"},
         {"loop:\n    continue", "(loop (continue))"}});
}

TEST(Statements, MatchArmsInEverySpelling) {
  check({{"match x:\n    case 1: a\n    case Disc(r) if r > 1.0: b\n    | Dot | Pt(_) -> c\n    Some(y) => "
          "d\n    _: e",
          "(match x (1 a) (Disc(r) if (> r 1.0) b) (Dot | Pt(_) c) (Some(y) d) (_ e))"},
         {"match x:\n    case A:\n        a\n        b\n    case _ => { c; d }", "(match x (A a b) (_ c d))"},
         {"match x:\n    | p if c -> f(p)\n    A => {\"k\": 1}",
          "(match x (p if c (call f p)) (A (dict (\"k\" 1))))"},
         {"val y = match x:\n    1: a\n    _: b", "(val y (match x (1 a) (_ b)))"}});
}

TEST(Statements, Patterns) {
  const auto arm = [](const char* pattern) {
    return tree("match x:\n    case " + std::string(pattern) + ": y");
  };
  const std::vector<Row> rows = {{"_", "_"},
                                 {"_(\"why\")", "_"},
                                 {"-1", "-1"},
                                 {"1..=5", "(..= 1 5)"},
                                 {"\"a\"", "\"a\""},
                                 {"nil", "nil"},
                                 {"n", "n"},
                                 {"1, 2", "1 | 2"},
                                 {"Device.CUDA(id)", "Device.CUDA(id)"},
                                 {"Device::CPU", "Device.CPU()"},
                                 {"Disc(r: radius)", "Disc(r: radius)"},
                                 {"Point { x, y: 0 }", "Point{x: x, y: 0}"},
                                 {"(a, (b, _))", "(a, (b, _))"},
                                 {"[a, b, ...rest]", "[a, b, ...rest]"},
                                 {"[]", "[]"}};
  for (const Row& row : rows) {
    EXPECT_EQ(arm(row.source), "(match x (" + std::string(row.tree) + " y))\n");
  }
}

TEST(Statements, Resources) {
  check({{"with torch.no_grad():\n    f()", "(with (call (. torch no_grad)): (call f))"},
         {"with open(p) as f, g: h", "(with (call open p) as f g: h)"},
         {"defer close(f)", "(defer (call close f))"},
         {"unsafe(capabilities: [ffi]):\n    f()", "(unsafe (call f))"}});
}

TEST(Statements, Assertions) {
  check({{"assert a == b", "(assert (== a b))"},
         {"assert a, \"m\"", "(assert a \"m\")"},
         {"assert(a, \"m\")", "(assert a \"m\")"},
         {"assert = 1", "(= assert 1)"}});
}

TEST(Statements, ReturnAndPass) {
  check({{"fn f(): return a, b", "(fn f () : (return (tuple a b)))"},
         {"fn f():\n    return", "(fn f () : (return))"},
         {"fn f(): pass_do_nothing", "(fn f () : (pass))"}});
}

TEST(Statements, KeepTheirPositions) {
  const auto result = parsed("a\n\n  # c\nif b:\n    foo.bar(1) + x");
  ASSERT_TRUE(result.ok());
  const auto& branch = as<IfExpr>(*as<ExprStmt>(*result.module.statements[1]).value);
  const auto& sum = as<BinaryExpr>(*as<ExprStmt>(*branch.clauses[0].body.statements[0]).value);
  EXPECT_EQ(sum.span.line, 5u);
  EXPECT_EQ(sum.span.column, 16u);       // the operator
  EXPECT_EQ(sum.left->span.column, 9u);  // a call has the position of its name
}

}  // namespace spl::test
