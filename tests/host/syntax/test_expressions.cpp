// Expressions: operators and precedence, calls, lambdas, collections.
#include "tests/host/syntax/trees.h"

namespace spl::test {

TEST(Expressions, NumbersInEveryBaseWithSuffixes) {
  check({{"42", "42"},
         {"1_000", "1000"},
         {"0xFF", "255"},
         {"0b1010", "10"},
         {"0o17", "15"},
         {"42i32", "42i32"},
         {"0xFFFFFFFFFFFFFFFF", "-1"},
         {"18446744073709551615u64", "-1u64"},
         {"-9223372036854775808", "-9223372036854775808"},
         {"1.5", "1.5"},
         {"6e23", "6e+23"},
         {"1.5e-4", "0.00015"},
         {"1.5f32", "1.5f32"},
         {"2f32", "2.0f32"},
         {"1..11", "(.. 1 11)"}});
}

TEST(Expressions, OperatorsByPrecedence) {
  check({{"-2 ** 2", "(** -2 2)"},
         {"2 ** 3 ** 4", "(** 2 (** 3 4))"},
         {"a + b * c", "(+ a (* b c))"},
         {"a - b - c", "(- (- a b) c)"},
         {"x @ w + b", "(+ (@ x w) b)"},
         {"a * b @ c", "(@ (* a b) c)"},
         {"a << 1 + 2", "(<< a (+ 1 2))"},
         {"a >> b", "(>> a b)"},
         {"a & b | c xor d", "(| (& a b) (xor c d))"},
         {"0..n + 1", "(.. 0 (+ n 1))"},
         {"a | b == c", "(== (| a b) c)"},
         {"a < b == c", "(== (< a b) c)"},
         {"not a == b", "(not (== a b))"},
         {"a == not b", "(== a (not b))"},
         {"not a and b or c", "(or (and (not a) b) c)"},
         {"a && b || !c", "(or (and a b) (not c))"},
         {"a in b", "(in a b)"},
         {"a not in b", "(not-in a b)"},
         {"a is nil", "(is a nil)"},
         {"a is not nil", "(is-not a nil)"},
         {"~a", "(~ a)"},
         {"-a.b", "(- (. a b))"},
         {"&x", "(& x)"},
         {"await f()", "(await (call f))"}});
}

TEST(Expressions, ComparisonsChainUnlessParenthesised) {
  check({{"0 < x <= 9", "(compare 0 < x <= 9)"},
         {"a > b >= c > d", "(compare a > b >= c > d)"},
         {"(a < b) < c", "(< (< a b) c)"},
         {"a == b == c", "(compare a == b == c)"}});
}

TEST(Expressions, RangesMayBeOpen) {
  check({{"0..=9", "(..= 0 9)"}, {"xs[1..]", "(index xs (.. 1 _))"}, {"xs[..3]", "(index xs (.. _ 3))"}});
}

TEST(Expressions, Postfixes) {
  check({{"a.b.c", "(. (. a b) c)"},
         {"pair.0.1", "(. (. pair 0) 1)"},
         {"a?.b", "(?. a b)"},
         {"f(a)?", "(? (call f a))"},
         {"e.?", "(.? e)"},
         {"a ?? b + 1", "(+ (?? a b) 1)"},
         {"a ?? b ?? c", "(?? a (?? b c))"},
         {"x as i32 + 1", "(+ (as x i32) 1)"},
         {"t->add_(1, k: 2)", "(update t add_ 1 (= k 2))"},
         {"py.import(\"torch\")", "(call (. py import) \"torch\")"},
         {"xs[0][1]", "(index (index xs 0) 1)"},
         {"f(1)(2)", "(call (call f 1) 2)"}});
}

TEST(Expressions, ArgumentsOfEveryKind) {
  check({{"f(a, b: 1, c = 2)", "(call f a (= b 1) (= c 2))"},
         {"f(xs..., **named)", "(call f (... xs) (** named))"},
         {"Point(..base, x: 1)", "(call Point (.. base) (= x 1))"},
         {"f(\n  a,\n  b,\n)", "(call f a b)"},
         {"f(type: t, lambda: 0.95, in: 1)", "(call f (= type t) (= lambda 0.95) (= in 1))"},
         {"f(lambda: 0.95)", "(call f (\\ () 0.95))"}});
}

TEST(Expressions, IndexesAndSlices) {
  check({{"a[1:2]", "(index a (: 1 2 _))"},
         {"a[::-1]", "(index a (: _ _ -1))"},
         {"a[1::2]", "(index a (: 1 _ 2))"},
         {"a[:]", "(index a (: _ _ _))"},
         {"t[:, -1, :]", "(index, t (: _ _ _) -1 (: _ _ _))"},
         {"t[0, 1:]", "(index, t 0 (: 1 _ _))"},
         {"t[0,]", "(index, t 0)"}});
}

TEST(Expressions, GenericArgumentsBeforeACallOrAMember) {
  check({{"torch.zeros<Float32>([3, 4])", "(call (<> (. torch zeros) Float32) (array 3 4))"},
         {"Array<Float32>::from([1])", "(call (. (<> Array Float32) from) (array 1))"},
         {"f<Map<K, V>>()", "(call (<> f Map<K, V>))"},
         {"a < b > (c)", "(compare a < b > c)"},
         {"f(a < b, c > d)", "(call f (< a b) (> c d))"}});
}

TEST(Expressions, StructLiterals) {
  check({{"Tensor { ptr }", "(struct Tensor (= ptr ptr))"},
         {"geo.Point { x: 1, ..base }", "(struct (. geo Point) (= x 1) (.. base))"},
         {"val e = Empty {}", "(val e (struct Empty))"}});
}

TEST(Expressions, Collections) {
  check({{"val xs = []", "(val xs (array))"},
         {"[1, *xs, ...ys]", "(array 1 (... xs) (... ys))"},
         {"[0; 3]", "(repeat 0 3)"},
         {"()", "(tuple)"},
         {"(1,)", "(tuple 1)"},
         {"(1, 2)", "(tuple 1 2)"},
         {"(1)", "1"},
         {"(x: 1, y: 2)", "(tuple x: 1 y: 2)"},
         {"val d = {}", "(val d (dict))"},
         {"val d = {\"a\": 1, b: 2, **more}", "(val d (dict (\"a\" 1) (b 2) (** more)))"},
         {"[x * x for x in xs if x > 0]", "(each (* x x) (for x xs if (> x 0)))"},
         {"[for i in 0..9 if i % 2 == 1: i]", "(each i (for i (.. 0 9) if (== (% i 2) 1)))"},
         {"[a + b for a in xs for b in ys]", "(each (+ a b) (for a xs) (for b ys))"},
         {"val d = {k: v for k, v in m}", "(val d (each k v (for k, v m)))"}});
}

TEST(Expressions, LambdasInEverySpelling) {
  check({{"val f = \\x, y: x + y", "(val f (\\ (x y) (+ x y)))"},
         {"val f = \\: 3", "(val f (\\ () 3))"},
         {"val f = \\(x: i64) -> i64: x", "(val f (\\ (x:i64) -> i64 x))"},
         {"val f = fn(x: i64 = 2): x", "(val f (\\ (x:i64=2) x))"},
         {"val f = |x| x * 2", "(val f (\\ (x) (* x 2)))"},
         {"val f = |(a, b), c: i64| a", "(val f (\\ ((a, b) c:i64) a))"},
         {"val f = || 3", "(val f (\\ () 3))"},
         {"val f = x => x + 1", "(val f (\\ (x) (+ x 1)))"},
         {"val f = (x, y) => x", "(val f (\\ (x y) x))"},
         {"xs.map(_ * 2)", "(call (. xs map) (\\ (_1) (* _1 2)))"},
         {"xs.fold(0, _1 + _2)", "(call (. xs fold) 0 (\\ (_1 _2) (+ _1 _2)))"},
         {"xs.map(&:name)", "(call (. xs map) (\\ (_1) (call (. _1 name))))"}});
}

TEST(Expressions, LambdaBlocksInsideCalls) {
  check({{"f(1, \\x:\n    y = x\n    y * 2\n, 3)", "(call f 1 (\\ (x) (= y x) (* y 2)) 3)"},
         {"f(\\x:\n    g(\\y:\n        x + y\n    )\n)", "(call f (\\ (x) (call g (\\ (y) (+ x y)))))"},
         {"f(|py| {\n    a = 1\n    if a:\n        g()\n    return a\n})",
          "(call f (\\ (py) (= a 1) (if (a (call g))) (return a)))"},
         {"f(|x| { a; b })", "(call f (\\ (x) a b))"}});
}

TEST(Expressions, IfAsAValue) {
  check({{"val x = if c: 1 else: 2", "(val x (if (c 1) (else 2)))"},
         {"val x = if c { 1 } else { 2 }", "(val x (if (c 1) (else 2)))"},
         {"val x = if c then 1 else 2", "(val x (if (c 1) (else 2)))"},
         {"val x = if c:\n    1\nelif d: 2\nelse:\n    3", "(val x (if (c 1) (d 2) (else 3)))"},
         {"val x =\n    if c: 1\n    else: 2", "(val x (if (c 1) (else 2)))"},
         {"f(if c: 1 else: 2, 3)", "(call f (if (c 1) (else 2)) 3)"},
         {"val x = if c: 1 else if d: 2 else: 3", "(val x (if (c 1) (d 2) (else 3)))"},
         {"val x = if c: 1 else: return nil", "(val x (if (c 1) (else (return nil))))"},
         {"if x == Y { a }", "(if ((== x Y) a))"}});
}

TEST(Expressions, PipesAreCalls) {
  check({{"x |> f(a) |> g", "(call g (call f x a))"}, {"x\n    |> f", "(call f x)"}});
}

TEST(Expressions, OwnershipForms) { check({{"new(&) T(1)", "(new& (call T 1))"}, {"move x", "(move x)"}}); }

}  // namespace spl::test
