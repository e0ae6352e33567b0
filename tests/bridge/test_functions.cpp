// Program functions that Python calls: arguments, results, errors, threads, lifetime.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "python_test.h"
#include "tests/support/round_trips.h"

namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::atomic<int64_t> last_ended{0};
void note_end(int64_t key) { last_ended = key; }

SplArray* returned(const char* kind, SplValue value) {
  SplArray* array = spl_array_new();
  SplValue letter{};
  letter.tag = SPL_STRING;
  letter.as_string = spl_str_new(kind);
  spl_array_push(array, letter);
  spl_array_push(array, value);
  return array;
}

SplArray* returned_handle(const char* kind, int64_t handle) {
  SplValue value{};
  value.tag = SPL_INT;
  value.as_int = handle;
  return returned(kind, value);
}

SplArray* sum(int64_t key, const char* /*kinds*/, const SplArray* values, const SplArray* /*names*/) {
  int64_t total = key;
  for (int64_t i = 0; i < values->len; ++i) {
    total += spl_as_int(values->items[i]);
  }
  return returned_handle("v", total);
}

SplArray* same(int64_t /*key*/, const char* kinds, const SplArray* values, const SplArray* /*names*/) {
  return returned_handle(std::string(kinds, 1).c_str(), values->items[0].as_int);
}

// Python's repr of the arguments.
SplArray* questions(int64_t /*key*/, const char* kinds, const SplArray* values, const SplArray* /*names*/) {
  int64_t tuple = 0, text = 0;
  EXPECT_EQ(spt_py_tuple(kinds, values, &tuple), SPT_OK) << spt_last_error_message();
  const Held held(tuple);
  Args named;
  named.object(held).as("a");
  EXPECT_EQ(spt_py_eval("repr(a)", named.kinds(), named.values(), named.names(), named.name_count(), &text),
            SPT_OK)
      << spt_last_error_message();
  return returned_handle("o", text);
}

// The kinds, the values as far as they are plain, and the names.
SplArray* description(int64_t /*key*/, const char* kinds, const SplArray* values, const SplArray* names) {
  std::string text = kinds;
  for (int64_t i = 0; i < values->len; ++i) {
    const SplValue& value = values->items[i];
    text += kinds[i] == 'v' ? " " + std::to_string(value.tag) : "";
    text += value.tag == SPL_STRING ? std::string(":") + value.as_string : "";
    if (kinds[i] == 'o' || kinds[i] == 't') {
      EXPECT_EQ(spt_release(value.as_int), SPT_OK);
    }
  }
  for (int64_t i = 0; i < names->len; ++i) {
    text += std::string(" ") + names->items[i].as_string + "=";
  }
  SplValue value{};
  value.tag = SPL_STRING;
  value.as_string = spl_str_new(text.c_str());
  return returned("v", value);
}

SplArray* fail(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
               const SplArray* /*names*/) {
  spt_py_raise("builtins.LookupError", "nothing is there", "  where it was looked for");
  return nullptr;
}

SplArray* return_none(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                      const SplArray* /*names*/) {
  return returned("v", SplValue{});
}

int64_t inner_function = 0;

/// Its cleanup calls Python, which calls another function that succeeds.
SplArray* fail_and_clean_up(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                            const SplArray* /*names*/) {
  spt_py_raise("builtins.LookupError", "nothing is there", "");
  int64_t result = 0;
  spt_py_call(inner_function, "", nullptr, nullptr, 0, &result);
  spt_release(result);
  return nullptr;
}

SplArray* fail_without_note(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                            const SplArray* /*names*/) {
  spt_py_raise("builtins.LookupError", "nothing is there", nullptr);
  return nullptr;
}

SplArray* fail_as_unknown(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                          const SplArray* /*names*/) {
  spt_py_raise("no.such.Class", "nothing is there", "");
  return nullptr;
}

SplArray* return_nothing(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                         const SplArray* /*names*/) {
  return spl_array_new();
}

SplArray* return_unknown_handle(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                                const SplArray* /*names*/) {
  return returned_handle("o", 12345);
}

}  // namespace

class Functions : public PythonTest {
 protected:
  static Held function(SptPyCall call, int64_t key = 0) {
    return made([&](int64_t* out) { return spt_py_function("named", key, call, note_end, out); });
  }
};

TEST_F(Functions, ReceiveTheirKeyAndArguments) {
  const Held add = function(sum, 100);
  EXPECT_EQ(number(call(add, Args().number(1).number(20))), 121);
  EXPECT_EQ(number(call(add, Args().number(1).number(5).as("more"))), 106);
  EXPECT_EQ(number(call(eval("lambda f: sum(map(f, range(3)))"), Args().object(add))), 303);
}

TEST_F(Functions, ReceivePackedArguments) {
  const Held describe = function(description);
  const Held called = eval(
      "lambda f: f(None, True, 7, 2.5, 'a', 2**64, 'a\\0b', '\\ud800', [], f, __import__('torch').ones(2), "
      "last='z')");
  EXPECT_EQ(text(call(called, Args().object(describe))), "vvvvvooooftv 0 1 2 3 4:a 4:z last=");
  const Held bases = eval(
      "lambda f: f(type('I', (int,), {})(3), type('F', (float,), {})(1), type('S', (str,), {})('s'), "
      "__import__('numpy').float64(2), __import__('numpy').int64(2))");
  EXPECT_EQ(text(call(bases, Args().object(describe))), "vvvvo 2 3 4:s 3");
  int64_t out = 0;
  const Held surrogate = eval("lambda f: f(**{'\\ud800': 1})");
  EXPECT_EQ(try_call(surrogate, Args().object(describe), &out), SPT_PYTHON);
  EXPECT_EQ(last_message(), "TypeError: a keyword with a NUL or a surrogate cannot be passed to Simple");
}

TEST_F(Functions, ReturnTheirArgument) {
  const Held identity = function(same);
  const Held x = tensor({1, 2}, {2});
  const Held back = to_tensor(call(identity, Args().tensor(x)));
  EXPECT_THAT(values(back), testing::ElementsAre(1, 2));
  EXPECT_EQ(text(call(eval("repr"), Args().object(identity))), "<Simple function named>");
  EXPECT_EQ(text(get(identity, "__name__")), "named");
}

TEST_F(Functions, ActAsInstancesWithAttributesAndOperators) {
  const Held object =
      made([](int64_t* out) { return spt_py_instance("Point", 1, questions, note_end, out); });
  EXPECT_EQ(text(get(object, "x")), "('get', 'x')");
  EXPECT_EQ(text(call(object, Args().number(2))), "('call', 2)");
  EXPECT_EQ(text(call(eval("lambda o: o + 3"), Args().object(object))), "('operate', '+', 3)");
  EXPECT_EQ(text(call(eval("lambda o: o['key']"), Args().object(object))), "('item', 'key')");
  EXPECT_EQ(text(call(eval("lambda o: type(o).__module__"), Args().object(object))), "simple_torch");
  EXPECT_EQ(text(call(eval("lambda o: o.__name__"), Args().object(object))), "Point");
}

TEST_F(Functions, AreIdentifiedByTheirKey) {
  const Held add = function(sum, 100);
  const Held object =
      made([](int64_t* out) { return spt_py_instance("Point", 42, questions, note_end, out); });
  int64_t key = -1;
  ASSERT_EQ(spt_py_key(add.get(), &key), SPT_OK);
  EXPECT_EQ(key, 100);
  ASSERT_EQ(spt_py_key(object.get(), &key), SPT_OK);
  EXPECT_EQ(key, 42);
  ASSERT_EQ(spt_py_key(eval("len").get(), &key), SPT_OK);
  EXPECT_EQ(key, 0);
}

TEST_F(Functions, LeaveInterruptsToProgramsThatStartedPython) {
  EXPECT_EQ(spt_py_on_interrupt(nullptr), SPT_UNAVAILABLE);
  EXPECT_THAT(last_message(), StartsWith("py_on_interrupt: only available in a Python process"));
}

TEST_F(Functions, RaisePythonExceptions) {
  const Held failing = function(fail);
  int64_t out = 0;
  EXPECT_EQ(try_call(failing, {}, &out), SPT_PYTHON);
  EXPECT_EQ(last_message(), "LookupError: nothing is there");
  EXPECT_THAT(last_field("traceback"), HasSubstr("LookupError: nothing is there\n  where it was looked for"));
  const Held caught = eval(
      "lambda f: eval(compile('''\\ntry: f()\\nexcept LookupError as e: r = str(e)\\n''', 'x', 'exec'), "
      "(n := {'f': f})) or n['r']");
  EXPECT_EQ(text(call(caught, Args().object(failing))), "nothing is there");
}

TEST_F(Functions, RaiseWithoutANote) {
  int64_t out = 0;
  EXPECT_EQ(try_call(function(fail_without_note), {}, &out), SPT_PYTHON);
  EXPECT_THAT(last_field("traceback"), testing::EndsWith("LookupError: nothing is there"));
}

TEST_F(Functions, RaiseAfterCleanupThatCallsAnotherFunction) {
  const Held inner = function(return_none);
  inner_function = inner.get();
  int64_t out = 0;
  EXPECT_EQ(try_call(function(fail_and_clean_up), {}, &out), SPT_PYTHON);
  EXPECT_EQ(last_field("type"), "builtins.LookupError");
}

TEST_F(Functions, CannotRaiseOutsideACall) {
  EXPECT_EQ(spt_py_raise("builtins.ValueError", "no call is active", ""), SPT_INVALID_ARGUMENT);
  int64_t out = 0;
  EXPECT_EQ(try_call(function(return_nothing), {}, &out), SPT_PYTHON);
  EXPECT_EQ(last_field("type"), "builtins.SystemExit");
}

// 1 if the object that the program keeps is the one that arrives, 0 if it is a copy of it, -1 if none
// arrives.
int64_t identity_of_raised(const Held& function) {
  int64_t failed = 0;
  EXPECT_EQ(spt_py_eval("(_ for _ in ()).throw(kept)", "", nullptr, nullptr, 0, &failed), SPT_PYTHON);
  Args named;
  named.object(function).as("f");
  int64_t answer = 0;
  EXPECT_EQ(
      spt_py_eval("arrives(f)", named.kinds(), named.values(), named.names(), named.name_count(), &answer),
      SPT_OK)
      << spt_last_error_message();
  const Held held(answer);
  int64_t number = -1;
  EXPECT_EQ(spt_py_to_int(answer, &number), SPT_OK);
  return number;
}

TEST_F(Functions, RaiseTheSameExceptionWhileExceptionsAreKept) {
  ASSERT_EQ(spt_py_exec("kept = LookupError('nothing is there')\n"
                        "def arrives(f):\n"
                        "    try:\n"
                        "        f()\n"
                        "    except LookupError as error:\n"
                        "        return int(error is kept)\n"
                        "    return -1\n",
                        "", nullptr, nullptr, 0),
            SPT_OK)
      << spt_last_error_message();
  EXPECT_EQ(identity_of_raised(function(fail_without_note)), 0);
  ASSERT_EQ(spt_py_keep_exceptions(1), SPT_OK);
  ASSERT_EQ(spt_py_keep_exceptions(1), SPT_OK);
  EXPECT_EQ(spt_py_raise("builtins.ValueError", "no call is active", ""), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(identity_of_raised(function(fail_without_note)), 1);
  ASSERT_EQ(spt_py_keep_exceptions(0), SPT_OK);
  EXPECT_EQ(identity_of_raised(function(fail_without_note)), 1);
  ASSERT_EQ(spt_py_keep_exceptions(0), SPT_OK);
  EXPECT_EQ(identity_of_raised(function(fail_without_note)), 0);
  EXPECT_EQ(spt_py_keep_exceptions(0), SPT_OK);
}

TEST_F(Functions, ReleaseKeptExceptionsAtTheEnd) {
  ASSERT_EQ(spt_py_keep_exceptions(1), SPT_OK);
  int64_t out = 0;
  ASSERT_EQ(spt_py_exec("import weakref\n"
                        "class Tracked(Exception): pass\n"
                        "def fail():\n"
                        "    error = Tracked('gone')\n"
                        "    global alive\n"
                        "    alive = weakref.ref(error)\n"
                        "    raise error\n",
                        "", nullptr, nullptr, 0),
            SPT_OK);
  EXPECT_EQ(spt_py_eval("fail()", "", nullptr, nullptr, 0, &out), SPT_PYTHON);
  ASSERT_EQ(spt_py_exec("import gc; gc.collect(); assert alive() is not None", "", nullptr, nullptr, 0),
            SPT_OK)
      << spt_last_error_message();
  ASSERT_EQ(spt_py_keep_exceptions(0), SPT_OK);
  EXPECT_EQ(spt_py_exec("import gc; gc.collect(); assert alive() is None", "", nullptr, nullptr, 0), SPT_OK)
      << spt_last_error_message();
}

TEST_F(Functions, RaiseRuntimeErrorForAnUnknownClass) {
  int64_t out = 0;
  EXPECT_EQ(try_call(function(fail_as_unknown), {}, &out), SPT_PYTHON);
  EXPECT_EQ(last_message(), "RuntimeError: nothing is there");
}

TEST_F(Functions, WithoutAnExceptionRaiseSystemExit) {
  int64_t out = 0;
  EXPECT_EQ(try_call(function(return_nothing), {}, &out), SPT_PYTHON);
  EXPECT_EQ(last_field("type"), "builtins.SystemExit");
}

TEST_F(Functions, WithoutAResultRaiseAnError) {
  int64_t out = 0;
  EXPECT_EQ(try_call(function(return_unknown_handle), {}, &out), SPT_PYTHON);
  EXPECT_THAT(last_message(), StartsWith("TypeError: "));
}

int64_t object_to_raise = 0;

SplArray* raise_object(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                       const SplArray* /*names*/) {
  EXPECT_EQ(spt_py_raise_object(object_to_raise, "  where it was raised"), SPT_OK);
  return nullptr;
}

TEST_F(Functions, RaiseAnExceptionObject) {
  const Held problem = eval("LookupError('kept')");
  object_to_raise = problem.get();
  int64_t out = 0;
  EXPECT_EQ(try_call(function(raise_object), {}, &out), SPT_PYTHON);
  EXPECT_EQ(last_message(), "LookupError: kept");
  EXPECT_THAT(last_field("traceback"), HasSubstr("  where it was raised"));
  int64_t taken = 0;
  ASSERT_EQ(spt_py_take_exception(&taken), SPT_OK);
  const Held raised(taken);
  Args pair;
  pair.object(raised).object(problem);
  EXPECT_EQ(text(call(eval("lambda a, b: str(a is b)"), pair)), "True");
}

SplArray* raise_a_number(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                         const SplArray* /*names*/) {
  EXPECT_EQ(spt_py_raise_object(object_to_raise, nullptr), SPT_PYTHON);
  EXPECT_EQ(last_message(), "TypeError: exceptions must derive from BaseException, got int");
  spt_py_raise("builtins.KeyError", "instead", nullptr);
  return nullptr;
}

TEST_F(Functions, RaiseOnlyExceptions) {
  const Held seven = eval("7");
  object_to_raise = seven.get();
  EXPECT_EQ(spt_py_raise_object(object_to_raise, nullptr), SPT_INVALID_ARGUMENT);
  int64_t out = 0;
  EXPECT_EQ(try_call(function(raise_a_number), {}, &out), SPT_PYTHON);
  EXPECT_EQ(last_message(), "KeyError: 'instead'");
}

TEST_F(Functions, LeaveTheExceptionUntilTheNextCall) {
  int64_t out = 0, taken = 0;
  EXPECT_EQ(spt_py_eval("1 / 0", "", nullptr, nullptr, 0, &out), SPT_PYTHON);
  ASSERT_EQ(spt_py_take_exception(&taken), SPT_OK);
  EXPECT_EQ(text(call(eval("repr"), Args().object(Held(taken)))), "ZeroDivisionError('division by zero')");
  EXPECT_EQ(spt_py_eval("1 / 0", "", nullptr, nullptr, 0, &out), SPT_PYTHON);
  exec("1");
  bool is_none = false;
  ASSERT_EQ(spt_py_take_exception(&taken), SPT_OK);
  ASSERT_EQ(spt_py_is_none(taken, &is_none), SPT_OK);
  EXPECT_TRUE(is_none);
}

SplArray* return_one_item(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                          const SplArray* /*names*/) {
  SplArray* array = spl_array_new();
  spl_array_push(array, SplValue{});
  return array;
}

SplArray* return_unknown_letter(int64_t /*key*/, const char* /*kinds*/, const SplArray* /*values*/,
                                const SplArray* /*names*/) {
  return returned_handle("?", 1);
}

TEST_F(Functions, WithAMalformedResultRaiseAnError) {
  int64_t out = 0;
  EXPECT_EQ(try_call(function(return_one_item), {}, &out), SPT_PYTHON);
  EXPECT_EQ(last_message(), "TypeError: a function must return an array of a letter and a value");
  EXPECT_EQ(try_call(function(return_unknown_letter), {}, &out), SPT_PYTHON);
  EXPECT_EQ(last_message(), "TypeError: kinds: unknown letter ?, expected v, m, o, t or d");
}

TEST_F(Functions, AreDestroyedWithTheirLastReference) {
  last_ended = 0;
  {
    const Held held = function(sum, 77);
    exec("1");
    EXPECT_EQ(last_ended, 0);
  }
  exec("1");  // drains the queue of releases
  EXPECT_EQ(last_ended, 77);
}

TEST_F(Functions, RunWithoutTheGilOnPythonThreads) {
  const Held add = function(sum, 0);
  const Held in_threads = eval(
      "lambda f: (lambda pool: sum(pool.map(f, range(200))))(__import__('concurrent.futures', fromlist=['x'])"
      ".ThreadPoolExecutor(4))");
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(number(call(in_threads, Args().object(add))), 19900); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(Functions, NeedANameAndBothCallbacks) {
  int64_t out = 0;
  EXPECT_EQ(spt_py_function(nullptr, 0, sum, note_end, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_function("f", 0, nullptr, note_end, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_function("f", 0, sum, nullptr, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_py_raise(nullptr, "", ""), SPT_INVALID_ARGUMENT);
}

TEST_F(Functions, LeakNothing) {
  const Held failing = function(fail);
  const Held one = eval("1");
  round_trips::expect_flat([&] {
    const Held made_anew = function(sum, 1);
    const Held result = call(made_anew, Args().object(one));
    int64_t out = 0;
    ASSERT_EQ(try_call(failing, {}, &out), SPT_PYTHON);
  });
}
