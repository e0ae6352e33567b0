// Declarations: functions, types, imports, attributes, documentation.
#include "tests/host/syntax/trees.h"

namespace spl::test {

TEST(Declarations, Functions) {
  check({{"fn f(a: i64, b = 2) -> i64: a", "(fn f (a:i64 b=2) -> i64 : a)"},
         {"fn f<T, M: Module<T>>(x: T)", "(fn f<T, M: Module<T>> (x:T))"},
         {"fn f[T](x: T): x", "(fn f<T> (x:T) : x)"},
         {"fn f(args..., **named): g()", "(fn f (args... **named) : (call g))"},
         {"async fn f(): a", "(async fn f () : a)"},
         {"fn f() async -> T: a", "(async fn f () -> T : a)"},
         {"fn f(x: T) where T: A: x", "(fn f (x:T) : x)"},
         {"fn f<T>(x: T) where T: A: x", "(fn f<T: A> (x:T) : x)"},
         {"extern fn g(a: i64, b: [f64]) -> text", "(extern fn g (a:i64 b:[f64]) -> text)"},
         {"@[extern_c]\nfn g(a: *Void)", "(@extern_c extern fn g (a:* Void))"},
         {"fn import(name: text): name", "(fn import (name:text) : name)"},
         {"fn a():\n    fn b(): c\n    b", "(fn a () : (fn b () : c) b)"}});
}

TEST(Declarations, SelfIsDropped) {
  for (const auto* self : {"self", "mut self", "&mut self", "self: mut Self"}) {
    EXPECT_EQ(tree("trait T:\n    fn f(" + std::string(self) + ", x: i64)"), "(trait T (fn f (x:i64)))\n")
        << self;
  }
}

TEST(Declarations, Records) {
  check({{"class A:\n    x: i64 = 0\n    fn f(): x\n    me g(): x = 1\n    static fn h(): 2",
          "(class A (field x:i64 0) (fn f () : x) (me g () : (= x 1)) (static fn h () : 2))"},
         {"class A(Module<In, Out>, B):\n    pass", "(class A : Module<In, Out>, B)"},
         {"class A extends B with C, D:\n    pass", "(class A : B, C, D)"},
         {"struct P<T, S = Dyn>:\n    data: *mut T", "(struct P<T, S = Dyn> (field data:* mut T))"},
         {"struct Unit", "(struct Unit)"},
         {"class A:\n    const N: i64 = 3\n    static val M = 4", "(class A (const N:i64 3) (val M 4))"},
         {"class A:\n    @[static]\n    fn f(): 1", "(class A (@static static fn f () : 1))"},
         {"class A:\n    pub x: i64\n    private y: i64", "(class A (field x:i64) (field y:i64))"}});
}

TEST(Declarations, EnumsTraitsImpls) {
  check({{"enum Shape:\n    Dot\n    Disc(r: f64)\n    Pair(i64, i64)\n    fn f(): 1",
          "(enum Shape Dot Disc(r: f64) Pair(i64, i64) (fn f () : 1))"},
         {"enum Color: Red = 1, Green", "(enum Color Red = 1 Green)"},
         {"#[strong]\nenum E:\n    A", "(@strong enum E A)"},
         {"trait M<I, O>:\n    fn forward(x: I) -> O\n    fn train(): pass",
          "(trait M<I, O> (fn forward (x:I) -> O) (fn train () : (pass)))"},
         {"impl Show for Point:\n    fn show(): 1", "(impl Show for Point (fn show () : 1))"},
         {"impl<T> Box<T>:\n    fn new(x: T): x", "(impl Box<T> (fn new (x:T) : x))"}});
}

TEST(Declarations, Types) {
  const std::vector<Row> rows = {{"[i64]", "[i64]"},
                                 {"[i64; 3]", "[i64; 3]"},
                                 {"{text: i64}", "{text: i64}"},
                                 {"text?", "text?"},
                                 {"(A, B)", "(A, B)"},
                                 {"fn(A) -> B", "fn(A) -> B"},
                                 {"(A, B) -> C", "fn(A, B) -> C"},
                                 {"A | B", "A | B"},
                                 {"&T", "& T"},
                                 {"Result[T, E]", "Result<T, E>"},
                                 {"torch.nn.Module", "torch.nn.Module"},
                                 {"Tensor<f32, [Batch, 3, 224]>", "Tensor<f32, shape[Batch, 3, 224]>"},
                                 {"Tensor<f32, [T]>", "Tensor<f32, [T]>"},
                                 {"Array<Box<dyn M<A, B>>>", "Array<Box<dyn M<A, B>>>"},
                                 {"fn(*D)", "fn(* D)"}};
  for (const Row& row : rows) {
    EXPECT_EQ(tree("type A = " + std::string(row.source)), "(type A " + std::string(row.tree) + ")\n");
  }
  check({{"alias A = B", "(type A B)"}, {"type A<T> = [T]", "(type A<T> [T])"}, {"type = 3", "(= type 3)"}});
  check({{"fn f(d: #Duration): d", "(fn f (d:# Duration) : d)"}});
}

TEST(Declarations, Imports) {
  check({{"use a.b", "(use a.b)"},
         {"use a.b.{c, d as e}", "(use a.b c d:e)"},
         {"use a.b.{\n    c,\n    d,\n}", "(use a.b c d)"},
         {"use a.b.*", "(use a.b *)"},
         {"use a.b(c, d)", "(use a.b c d)"},
         {"use a::b::{c}", "(use a.b c)"},
         {"import a.b as t", "(use a.b as t)"},
         {"from a.b import c, d as e", "(use a.b c d:e)"},
         {"from a import *", "(use a *)"},
         {"use .x.{y}", "(use .x y)"},
         {"use ..x", "(use ..x)"},
         {"export use m.*", "(export use m *)"},
         {"export a, b", "(export a b)"},
         {"export fn f(): 1", "(export fn f () : 1)"},
         {"pub class A:\n    pass", "(export class A)"}});
}

TEST(Declarations, Attributes) {
  check({{"@inline fn f(): 1", "(@inline fn f () : 1)"},
         {"@a(1, k: 2)\n#[b, c(3)]\nfn f(): 1", "(@(call a 1 (= k 2)) @b @c( 3) fn f () : 1)"}});
}

TEST(Declarations, Documentation) {
  check({{"fn f():\n    \"\"\"Does f.\n\n    Twice.\n    \"\"\"\n    1",
          "(fn f \"Does f.\\n\\nTwice.\" () : 1)"},
         {"fn f():\n    \"doc\"\n    1", "(fn f \"doc\" () : 1)"},
         {"fn f(): \"value\"", "(fn f () : \"value\")"},
         {"fn f():\n    \"value\"", "(fn f () : \"value\")"},
         {"class A:\n    \"\"\"An A.\"\"\"\n    x: i64", "(class A \"An A.\" (field x:i64))"},
         {"## One.\n## Two.\nfn f(): 1", "(fn f \"One.\\nTwo.\" () : 1)"},
         {"## One.\n@a\npub fn f(): 1", "(@a export fn f \"One.\" () : 1)"}});
  EXPECT_EQ(parsed("\"\"\"A module.\"\"\"\nuse a").module.doc, "A module.");
}

}  // namespace spl::test
