// Exceptions as errors: kind, type, message, traceback; no object is kept alive.
#include <thread>

#include "python_test.h"

using testing::EndsWith;
using testing::HasSubstr;

class Errors : public PythonTest {
 protected:
  /// The error kind of executing these statements.
  static int32_t kind_of(const char* code) { return try_exec(code); }
};

TEST_F(Errors, HaveTypeMessageAndTraceback) {
  exec("def fail(x):\n    return 1 / x");
  int64_t out = 0;
  EXPECT_EQ(try_eval("fail(0)", {}, &out), SPT_PYTHON);
  EXPECT_EQ(out, 0);
  EXPECT_EQ(last_message(), "ZeroDivisionError: division by zero");
  EXPECT_EQ(last_field("type"), "builtins.ZeroDivisionError");
  EXPECT_THAT(last_field("traceback"), HasSubstr("Traceback (most recent call last):"));
  EXPECT_THAT(last_field("traceback"), HasSubstr("line 2, in fail"));
}

TEST_F(Errors, ShowTheirCausesInTheTraceback) {
  EXPECT_EQ(kind_of("try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('no a') from e"),
            SPT_PYTHON);
  EXPECT_EQ(last_message(), "ValueError: no a");
  EXPECT_THAT(last_field("traceback"), HasSubstr("KeyError: 'a'"));
  EXPECT_THAT(last_field("traceback"), HasSubstr("direct cause"));
}

TEST_F(Errors, HaveMessagesOfOneLine) {
  EXPECT_EQ(kind_of("raise RuntimeError('first\\n\\tsecond\\n')"), SPT_PYTHON);
  EXPECT_EQ(last_message(), "RuntimeError: first second");
  EXPECT_EQ(kind_of("raise AssertionError"), SPT_PYTHON);
  EXPECT_EQ(last_message(), "AssertionError");
}

TEST_F(Errors, MapToTheKindOfTheirType) {
  EXPECT_EQ(kind_of("open('/nowhere/at/all')"), SPT_IO);
  EXPECT_EQ(last_message(), "FileNotFoundError: [Errno 2] No such file or directory: '/nowhere/at/all'");
  EXPECT_EQ(kind_of("raise MemoryError"), SPT_OUT_OF_MEMORY);
  EXPECT_EQ(kind_of("import torch\nraise torch.OutOfMemoryError('CUDA out of memory')"), SPT_OUT_OF_MEMORY);
  EXPECT_EQ(kind_of("raise KeyboardInterrupt"), SPT_INTERRUPTED);
  EXPECT_EQ(kind_of("[][1]"), SPT_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(kind_of("from math import nothing"), SPT_UNAVAILABLE);
  EXPECT_EQ(kind_of("raise NotImplementedError('later')"), SPT_NOT_IMPLEMENTED);
  EXPECT_EQ(kind_of("{}['a']"), SPT_PYTHON);
}

TEST_F(Errors, WithoutFramesAreFormattedAsByPython) {
  // Raised by C code without a Python caller. The expected text comes from Python's traceback module.
  exec(
      "import traceback\n"
      "def shown(f, *a):\n"
      "    try: f(*a)\n"
      "    except BaseException as e: return ''.join(traceback.format_exception_only(type(e), "
      "e)).rstrip('\\n')\n");
  const Held shown = eval("shown");
  for (const char* code :
       {"{}.__getitem__", "int", "[].index", "__import__('math').sqrt", "open", "[].pop",
        "__import__('zlib').decompress", "__import__('json').loads", "nothing.real if 0 else next"}) {
    const Held function = eval(code);
    int64_t out = 0;
    ASSERT_NE(try_call(function, Args().text("a'b"), &out), SPT_OK) << code;
    const std::string traceback = last_field("traceback");
    const std::string last_line = traceback.substr(traceback.rfind('\n') + 1);
    EXPECT_EQ(last_line, text(call(shown, Args().object(function).text("a'b")))) << code;
  }
}

TEST_F(Errors, OfLibTorchHaveTheSameKindsAndFieldsAsNativeCalls) {
  EXPECT_EQ(kind_of("import torch\ntorch.ones(2, 3) @ torch.ones(2, 3)"), SPT_SHAPE_MISMATCH);
  EXPECT_EQ(last_field("type"), "builtins.RuntimeError");
  EXPECT_THAT(last_field("traceback"), HasSubstr("shapes cannot be multiplied"));
  EXPECT_EQ(kind_of("import torch\ntorch.ones(2) @ torch.ones(2).long()"), SPT_DTYPE_MISMATCH);
  EXPECT_EQ(kind_of("import torch\ntorch.ones(2)[5]"), SPT_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(kind_of("import torch\ntorch.ones(2) + torch.ones(2, device='meta')"), SPT_DEVICE_MISMATCH);
  EXPECT_EQ(kind_of("import torch\ntorch.ones(2).to_sparse().data_ptr()"), SPT_PYTHON);
}

TEST_F(Errors, OfSystemExitKeepItsCode) {
  EXPECT_EQ(kind_of("raise SystemExit(3)"), SPT_PYTHON);
  EXPECT_EQ(last_field("type"), "builtins.SystemExit");
  EXPECT_EQ(last_field("got"), "3");
}

TEST_F(Errors, OfAMissingModuleNameTheInstallCommand) {
  int64_t out = 0;
  EXPECT_EQ(spt_py_import("no_such_module.part", &out), SPT_UNAVAILABLE);
  EXPECT_EQ(last_field("type"), "builtins.ModuleNotFoundError");
  char* python = nullptr;
  expect_ok(spt_python_path(&python));
  const std::string command = last_field("expected");  // of pip or of uv
  EXPECT_THAT(command, HasSubstr(take_string(python)));
  EXPECT_THAT(command, HasSubstr("pip install "));
  EXPECT_THAT(command, EndsWith(" no_such_module"));
  EXPECT_THAT(last_message(), HasSubstr("No module named 'no_such_module'"));
  EXPECT_THAT(last_message(), HasSubstr(command));
}

// Guards string_of(): each of these calls crashed.
TEST_F(Errors, OfNullStringsAreInvalidArguments) {
  SplArray* const values = spl_array_new();
  SplValue null_string{SPL_STRING, {}};
  null_string.as_string = nullptr;
  spl_array_push(values, null_string);
  const Held builtins = eval("print");
  int64_t out = 0;
  bool truth = false;
  const char* const names[] = {"x"};
  const int64_t object = builtins.get();
  EXPECT_EQ(spt_py_call(object, "v", values, nullptr, 0, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(last_message(), "the string of a value is NULL");
  EXPECT_EQ(spt_py_call_method(object, "__call__", "v", values, nullptr, 0, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_setattr(object, "x", "v", values), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_get_item(object, "v", values, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_delete_item(object, "v", values), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_contains(object, "v", values, &truth), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_compare(object, "==", "v", values, &truth), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_eval("x", "v", values, names, 1, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_exec("x", "v", values, names, 1), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_from_value("v", values, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_list("v", values, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_tuple("v", values, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_optim_new("SGD", "v", values, names, 1, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, 0);
  spl_array_free(values);
}

TEST_F(Errors, OfInvalidSourceAreReported) {
  EXPECT_EQ(kind_of("def ("), SPT_PYTHON);
  EXPECT_EQ(last_field("type"), "builtins.SyntaxError");
}

TEST_F(Errors, OfBrokenExceptionsDoNotCrash) {
  EXPECT_EQ(kind_of("class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd()"),
            SPT_PYTHON);
  EXPECT_EQ(last_message(), "Odd");
  EXPECT_EQ(kind_of("def deep(): deep()\ndeep()"), SPT_PYTHON);
  EXPECT_EQ(last_field("type"), "builtins.RecursionError");
}

TEST_F(Errors, EscapeCharactersThatCStringsCannotContain) {
  EXPECT_EQ(kind_of("raise ValueError('a \\ud800 b')"), SPT_PYTHON);
  EXPECT_EQ(last_message(), "ValueError: a \\ud800 b");
  EXPECT_EQ(last_field("traceback").back(), 'b');
  EXPECT_EQ(kind_of("raise ValueError('a \\x00 b')"), SPT_PYTHON);
  EXPECT_EQ(last_message(), "ValueError: a \\x00 b");
}

TEST_F(Errors, KeepNoFrameAlive) {
  exec(
      "import weakref\nclass Big: pass\nalive = []\n"
      "def fail():\n    local = Big()\n    alive.append(weakref.ref(local))\n    raise ValueError('x')");
  EXPECT_EQ(kind_of("fail()"), SPT_PYTHON);
  EXPECT_TRUE(truth(eval("alive[0]() is None"))) << "the record of the error must be text alone";
  EXPECT_THAT(last_message(), HasSubstr("ValueError"));
}

TEST_F(Errors, ArePerThread) {
  EXPECT_EQ(kind_of("raise ValueError('here')"), SPT_PYTHON);
  std::string elsewhere;
  std::thread([&] {
    try_exec("raise KeyError('there')");
    elsewhere = last_message();
  }).join();
  EXPECT_EQ(elsewhere, "KeyError: 'there'");
  EXPECT_EQ(last_message(), "ValueError: here");
}
