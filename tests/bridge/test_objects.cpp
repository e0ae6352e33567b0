// Modules, attributes, calls, items, iteration, conversions in both directions.
#include <cstring>

#include "python_test.h"

using testing::ElementsAre;
using testing::HasSubstr;

class Objects : public PythonTest {};

TEST_F(Objects, NeedAStartedPython) {
  bool started = true;
  expect_ok(spt_py_is_started(&started));
  EXPECT_FALSE(started);
  expect_ok(spt_py_start());
  expect_ok(spt_py_is_started(&started));
  EXPECT_TRUE(started);
  expect_ok(spt_py_start());
}

TEST_F(Objects, ModulesAreImportedOnceAndByFullName) {
  const Held first = import("os.path");
  const Held second = import("posixpath");
  EXPECT_TRUE(truth(eval("a is b", Args().object(first).as("a").object(second).as("b"))));
}

TEST_F(Objects, AreCalledWithPositionalAndKeywordArguments) {
  const Held divmod = get(import("builtins"), "divmod");
  EXPECT_EQ(repr(call(divmod, Args().number(17).number(5))), "(3, 2)");
  const Held sorted = get(import("builtins"), "sorted");
  EXPECT_EQ(repr(call(sorted, Args().numbers({2, 3, 1}).truth(true).as("reverse"))), "[3, 2, 1]");
}

TEST_F(Objects, MethodsAreCalledByName) {
  const Held json = import("json");
  EXPECT_EQ(text(invoke(json, "dumps", Args().text("ü").truth(false).as("ensure_ascii"))), "\"ü\"");
}

// The bridge remembers the str of a name by its address.
TEST_F(Objects, NamesAtOneAddressAreReadEachTime) {
  const Held number = eval("complex(2, 3)");
  char name[] = "real";
  EXPECT_EQ(repr(get(number, name)), "2.0");
  EXPECT_EQ(repr(get(number, name)), "2.0");
  std::strcpy(name, "imag");
  EXPECT_EQ(repr(get(number, name)), "3.0");
}

TEST_F(Objects, PlainValuesKeepTheirType) {
  const Held together = eval("repr([a, b, c, d, e, f])", Args()
                                                             .nil()
                                                             .as("a")
                                                             .truth(true)
                                                             .as("b")
                                                             .number(INT64_MIN)
                                                             .as("c")
                                                             .real(0.5)
                                                             .as("d")
                                                             .text("grüß")
                                                             .as("e")
                                                             .numbers({1, 2})
                                                             .as("f"));
  EXPECT_EQ(text(together), "[None, True, -9223372036854775808, 0.5, 'grüß', [1, 2]]");
}

TEST_F(Objects, ThatAreConstantsHaveOneImmortalHandle) {
  for (const char* constant : {"None", "True", "False"}) {
    const int64_t handle = eval(constant).detach();
    EXPECT_EQ(eval(constant).get(), handle);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(spt_release(handle), SPT_OK);
    }
    char* shown = nullptr;
    expect_ok(spt_py_repr(handle, &shown));
    EXPECT_EQ(take_string(shown), constant);
    expect_ok(spt_scope_begin());
    EXPECT_EQ(eval(constant).detach(), handle);
    EXPECT_EQ(spt_scope_keep(handle), SPT_OK);
    int64_t ended = -1;
    expect_ok(spt_scope_end(&ended));
    EXPECT_EQ(ended, 0);
  }
  int64_t out = 0;
  const int64_t none = eval("None").detach();
  EXPECT_EQ(spt_neg(none, &out), SPT_INVALID_HANDLE);
  EXPECT_THAT(last_message(), HasSubstr("expected a handle of kind tensor, got Python object"));
}

TEST_F(Objects, ValuesAreConvertedBack) {
  EXPECT_EQ(number(eval("2 ** 62")), int64_t{1} << 62);
  EXPECT_EQ(real(eval("1 / 8")), 0.125);
  EXPECT_FALSE(truth(eval("[]")));
  EXPECT_EQ(text(eval("'a' + 'b'")), "ab");
  EXPECT_EQ(number(eval("__import__('numpy').int32(7)")), 7);
  EXPECT_EQ(real(eval("__import__('numpy').float32(0.25)")), 0.25);
}

TEST_F(Objects, LossyConversionsAreRejected) {
  int64_t value = 5;
  EXPECT_EQ(spt_py_to_int(eval("1.5").get(), &value), SPT_PYTHON);
  EXPECT_EQ(last_field("type"), "builtins.TypeError");
  EXPECT_EQ(spt_py_to_int(eval("2 ** 63").get(), &value), SPT_PYTHON);
  EXPECT_EQ(last_field("type"), "builtins.OverflowError");
  EXPECT_EQ(value, 5) << "a failed call must not write";
  char* text = nullptr;
  EXPECT_EQ(spt_py_to_text(eval("'a\\0b'").get(), &text), SPT_PYTHON);
  EXPECT_THAT(last_message(), HasSubstr("NUL"));
  EXPECT_EQ(spt_py_to_text(eval("3").get(), &text), SPT_PYTHON);
  EXPECT_EQ(last_message(), "TypeError: expected str, got int");
}

TEST_F(Objects, ReportTheirKind) {
  const std::vector<std::pair<const char*, int32_t>> kinds{{"None", 0}, {"True", 1}, {"3", 2},
                                                           {"0.5", 3},  {"'x'", 4},  {"[]", 5},
                                                           {"{}", 6},   {"()", 8},   {"object()", 9}};
  for (const auto& [code, expected] : kinds) {
    int32_t kind = -1;
    expect_ok(spt_py_kind(eval(code).get(), &kind));
    EXPECT_EQ(kind, expected) << code;
  }
  int32_t kind = -1;
  expect_ok(spt_py_kind(eval("__import__('torch').zeros(1)").get(), &kind));
  EXPECT_EQ(kind, 7);
  char* name = nullptr;
  expect_ok(spt_py_type_name(import("os").get(), &name));
  EXPECT_EQ(take_string(name), "builtins.module");
}

TEST_F(Objects, AttributesAreSetAndRead) {
  const Held space = eval("__import__('types').SimpleNamespace()");
  bool has = true;
  expect_ok(spt_py_hasattr(space.get(), "size", &has));
  EXPECT_FALSE(has);
  const Args seven = std::move(Args().number(7));
  expect_ok(spt_py_setattr(space.get(), "size", seven.kinds(), seven.values()));
  expect_ok(spt_py_hasattr(space.get(), "size", &has));
  EXPECT_TRUE(has);
  EXPECT_EQ(number(get(space, "size")), 7);
}

TEST_F(Objects, ContainersAreReadAndChanged) {
  const Args pairs = std::move(Args().text("one").number(1).text("two").number(2));
  const Held dict = made([&](int64_t* out) { return spt_py_dict(pairs.kinds(), pairs.values(), out); });
  const Args three = std::move(Args().text("three").number(3));
  expect_ok(spt_py_set_item(dict.get(), three.kinds(), three.values()));
  const Args two = std::move(Args().text("two"));
  EXPECT_EQ(
      number(made([&](int64_t* out) { return spt_py_get_item(dict.get(), two.kinds(), two.values(), out); })),
      2);
  expect_ok(spt_py_delete_item(dict.get(), two.kinds(), two.values()));
  bool there = true;
  expect_ok(spt_py_contains(dict.get(), two.kinds(), two.values(), &there));
  EXPECT_FALSE(there);
  int64_t length = 0;
  expect_ok(spt_py_length(dict.get(), &length));
  EXPECT_EQ(length, 2);
  EXPECT_EQ(repr(dict), "{'one': 1, 'three': 3}");
}

TEST_F(Objects, KeysOfADictDiffer) {
  const Args pairs = std::move(Args().number(1).text("one").number(1).text("again"));
  int64_t out = 0;
  EXPECT_EQ(spt_py_dict(pairs.kinds(), pairs.values(), &out), SPT_PYTHON);
  EXPECT_THAT(last_message(), HasSubstr("two keys of a dict are equal in Python"));
}

TEST_F(Objects, IterationEndsWithoutAnError) {
  const Held iterator = made([&](int64_t* out) { return spt_py_iter(eval("range(3)").get(), out); });
  std::vector<int64_t> seen;
  int64_t item = 0;
  while (spt_py_next(iterator.get(), &item) == SPT_OK && item != 0) {
    seen.push_back(number(Held(item)));
  }
  EXPECT_THAT(seen, ElementsAre(0, 1, 2));
  EXPECT_EQ(item, 0);

  int64_t* items = nullptr;
  int64_t count = 0;
  expect_ok(spt_py_to_list(eval("(4, 5)").get(), &items, &count));
  ASSERT_EQ(count, 2);
  EXPECT_EQ(number(Held(items[0])), 4);
  EXPECT_EQ(number(Held(items[1])), 5);
  spt_free(items);
}

class PlainObjects : public PythonTest {
 protected:
  // The letter and the display of the value; empty for an object that is not plain.
  static std::string plain(const Held& object) {
    SplArray* array = nullptr;
    expect_ok(spt_py_to_plain(object.get(), &array));
    std::string shown;
    if (spl_array_len(array) == 2) {
      int64_t back = 0;
      shown = array->items[0].as_string;
      const SplArray value{array->items + 1, 1, 1};
      expect_ok(spt_py_from_value(shown.c_str(), &value, &back));
      shown += " " + repr(Held(back));
    }
    spl_array_free(array);
    return shown;
  }
};

TEST_F(PlainObjects, CrossInOneStep) {
  EXPECT_EQ(plain(eval("[None, True, 7, 2.5, 'a', (1, [])]")), "v [None, True, 7, 2.5, 'a', [1, []]]");
  EXPECT_EQ(plain(eval("{'b': [1], 2: None}")), "m {'b': [1], 2: None}");
  EXPECT_EQ(plain(eval("-2**63")), "v -9223372036854775808");
  for (const char* other : {"2**63", "['a\\0b']", "'\\ud800'", "[object()]", "{(1, 2): 3}", "{'a': {}}",
                            "b'a'", "__import__('functools').reduce(lambda a, _: [a], range(101), 1)"}) {
    EXPECT_EQ(plain(eval(other)), "") << other;
  }
}

TEST_F(PlainObjects, ShowTheMemoryOfBytes) {
  int64_t* data = nullptr;
  int64_t count = 0;
  const Held bytes = eval("b'a\\0\\xff'");
  expect_ok(spt_py_bytes_data(bytes.get(), &data, &count));
  ASSERT_EQ(count, 2);
  EXPECT_EQ(data[1], 3);
  EXPECT_EQ(reinterpret_cast<const char*>(data[0])[2], '\xff');
  spt_free(data);
  EXPECT_EQ(spt_py_bytes_data(eval("[1]").get(), &data, &count), SPT_PYTHON);

  int64_t made = 0;
  expect_ok(spt_py_new_bytes(3, &made));
  EXPECT_EQ(repr(Held(made)), "b'\\x00\\x00\\x00'");
  EXPECT_EQ(spt_py_new_bytes(-1, &made), SPT_INVALID_ARGUMENT);
}

TEST_F(PlainObjects, WithoutTheMethodKeepTheAttributeError) {
  int64_t out = 0;
  const Held x = tensor({1, 2}, {2});  // its Python object does not exist yet
  const Args one = std::move(Args().tensor(x).number(3));
  EXPECT_EQ(spt_py_call_method(eval("1j").get(), "missing", one.kinds(), one.values(), nullptr, 0, &out),
            SPT_PYTHON);
  EXPECT_EQ(last_message(), "AttributeError: 'complex' object has no attribute 'missing'");
}

TEST_F(PlainObjects, NeedPairsForADict) {
  SplArray* flat = spl_array_new();
  spl_array_push_i64(flat, 1);
  SplArray* values = spl_array_new();
  SplValue item{};
  item.tag = SPL_ARRAY;
  item.as_array = flat;
  spl_array_push(values, item);
  int64_t out = 0;
  EXPECT_EQ(spt_py_from_value("m", values, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(last_message(), "a dict must be an array of key, value, key, value and so on");
  spl_array_free(values);
}

TEST_F(Objects, CompareAndCombineAsInPython) {
  const Held three = eval("3");
  bool truth_value = false;
  const Args two = std::move(Args().real(2.5));
  expect_ok(spt_py_compare(three.get(), ">", two.kinds(), two.values(), &truth_value));
  EXPECT_TRUE(truth_value);
  const Args seven_two = std::move(Args().number(7).number(2));
  const auto result = [&](const char* op) {
    return repr(
        made([&](int64_t* out) { return spt_py_operate(op, seven_two.kinds(), seven_two.values(), out); }));
  };
  EXPECT_EQ(result("/"), "3.5");
  EXPECT_EQ(result("//"), "3");
  EXPECT_EQ(result("**"), "49");
  int64_t out = 0;
  EXPECT_EQ(spt_py_operate("<>", seven_two.kinds(), seven_two.values(), &out), SPT_PYTHON);
  EXPECT_EQ(last_message(), "ValueError: operate: unknown operator '<>'");
}

TEST_F(Objects, StatementsDefineNamesAndVariablesOfAnExpressionDoNot) {
  exec("def twice(x):\n    return 2 * x\nbase = start", Args().number(20).as("start"));
  EXPECT_EQ(number(eval("twice(base) + extra", Args().number(2).as("extra"))), 42);
  int64_t out = 0;
  EXPECT_EQ(try_eval("extra", {}, &out), SPT_PYTHON);
  EXPECT_EQ(last_field("type"), "builtins.NameError");
}

TEST_F(Objects, KindsThatDoNotMatchTheirValuesAreRejected) {
  const Held callable = get(import("builtins"), "len");
  int64_t out = 0;
  const Args one = std::move(Args().number(1));
  EXPECT_EQ(spt_py_call(callable.get(), "vv", one.values(), nullptr, 0, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(last_message(), "kinds has 2 letters for 1 values");
  EXPECT_EQ(spt_py_call(callable.get(), "x", one.values(), nullptr, 0, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_call(callable.get(), "o", one.values(), nullptr, 0, &out), SPT_INVALID_HANDLE);
  EXPECT_EQ(spt_py_import("os", nullptr), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_call(callable.get(), "v", one.values(), nullptr, 1, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(last_message(), "name 0 is NULL");
}

TEST_F(Objects, TheInterpreterIsTheEnvironmentsOwn) {
  char* python = nullptr;
  expect_ok(spt_python_path(&python));
  EXPECT_EQ(text(eval("__import__('sys').executable")), take_string(python));
  EXPECT_TRUE(truth(eval("__import__('sys').prefix != __import__('sys').base_prefix"))) << "it is the venv's";
  char* library = nullptr;
  expect_ok(spt_py_library(&library));
  EXPECT_THAT(take_string(library), HasSubstr("libpython"));
}
