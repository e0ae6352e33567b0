// Built-in functions.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "host/builtins/builtins.h"
#include "host/builtins/collection_elements.h"
#include "host/builtins/host_externs.h"
#include "host/builtins/named_arguments.h"
#include "host/modules/loader.h"
#include "host/output.h"
#include "host/values/module.h"
#include "host/values/sized.h"
#include "host/vm/failure.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

std::string joined(Value* args, int count, const std::string& separator) {
  std::string line;
  for (int i = 0; i < count; ++i) {
    line += (i == 0 ? "" : separator) + display(args[i]);
  }
  return line;
}
std::string line_of(Value* args, int count) { return joined(args, count, " ") + '\n'; }
// print(x, sep: ", ", end: "", file: f, flush: true), as in Python.
std::string line_with(const char* function, Value* args, int count) {
  const NamedArguments named(function, args[0], {"sep", "end", "file", "flush"});
  const auto text = [&](const char* name, const char* otherwise) {
    const Value value = named.get(name);
    return value.is_nil() ? std::string(otherwise) : expect_text(value, name);
  };
  return joined(args + 1, count - 1, text("sep", " ")) + text("end", "\n");
}
// A line for an object with write(), such as an open file, sys.stderr or io.StringIO().
void print_to(Thread& thread, Value file, const std::string& line, bool flush) {
  const Ref text = Ref::owned(make_text(line));
  const Value argument = text.get();
  release(thread.call_method(file, intern("write"), &argument, 1));
  if (flush) {
    release(thread.call_method(file, intern("flush"), nullptr, 0));
  }
}
Value print_with(Thread& thread, Value* args, int count) {
  const std::string line = line_with("print", args, count);
  const NamedArguments named("print", args[0], {"sep", "end", "file", "flush"});
  const bool flush = named.is_true("flush");
  if (const Value file = named.get("file"); !file.is_nil()) {
    print_to(thread, file, line, flush);
    return Value();
  }
  print_text(line);
  if (flush) {
    flush_output();
  }
  return Value();
}
Value eprint_with(Thread&, Value* args, int count) {
  print_error_text(line_with("eprint", args, count));
  return Value();
}
Value print_fn(Thread&, Value* args, int count) {
  print_text(line_of(args, count));
  return Value();
}
Value eprint_fn(Thread&, Value* args, int count) {
  print_error_text(line_of(args, count));
  return Value();
}
Value print_raw(Thread&, Value* args, int count) {
  for (int i = 0; i < count; ++i) {
    print_text(display(args[i]));
  }
  return Value();
}

Value assert_fn(Thread&, Value* args, int count) {
  if (truthy(args[0])) {
    return Value();
  }
  fail(count > 1 ? "assertion failed: " + display(args[1]) : "assertion failed");
}
Value len_fn(Thread& thread, Value* args, int) { return Value::integer(thread.length(args[0])); }
// A text as Python's int() and float() read it, without spaces around it and `_` between digits; empty if
// they raise a ValueError.
std::string digits_of(const std::string& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const size_t start = text.find_first_not_of(" \t\n\r\f\v"), last = text.find_last_not_of(" \t\n\r\f\v");
  std::string plain;
  for (size_t i = start; i <= last && last != std::string::npos; ++i) {
    if (text[i] == '_' && i > start && i < last && is_digit(text[i - 1]) && is_digit(text[i + 1])) {
      continue;
    }
    plain += text[i];
  }
  return plain.find_first_of("xXpP(_") == std::string::npos ? plain : "";
}

// int(text) and float(text) in a program that comes from Python, where `except ValueError` expects an error.
Value python_number(const std::string& text, bool is_int) {
  const std::string digits = digits_of(text);
  char* end = nullptr;
  errno = 0;
  const Value number = is_int ? Value::integer(std::strtoll(digits.c_str(), &end, 10))
                              : Value::number(std::strtod(digits.c_str(), &end));
  const bool is_number = !digits.empty() && *end == '\0';
  if (is_number && !(is_int && errno == ERANGE)) {
    return number;
  }
  fail_value(is_number ? "int(): '" + text + "' does not fit into 64 bits"
             : is_int  ? "invalid literal for int() with base 10: '" + text + "'"
                       : "could not convert string to float: '" + text + "'",
             "catch ValueError, or use parse_int() and parse_float(), which return an Option");
}
bool is_text_of_port(Thread& thread, Value value) { return value.is(Kind::kText) && thread.runs_port(); }

// int(), float(), str() and bool() without an argument are 0, 0.0, "" and false, as in Python.
// int(text, base): ValueError unless all of the text is a number of that base.
Value integer_of_base(Value text, Value base) {
  int64_t radix = to_integer(base);
  if (radix != 0 && (radix < 2 || radix > 36)) {
    fail_value("int() base must be >= 2 and <= 36, got " + std::to_string(radix));
  }
  std::string digits = stripped(expect_text(text, "the first argument of int() with a base"));
  const bool is_negative = digits.starts_with('-');
  digits.erase(0, is_negative || digits.starts_with('+') ? 1 : 0);
  for (const auto& [prefix, of] : {std::pair{"0x", 16}, std::pair{"0o", 8}, std::pair{"0b", 2}}) {
    if ((radix == of || radix == 0) &&
        (digits.starts_with(prefix) ||
         digits.starts_with(std::string("0") + static_cast<char>(prefix[1] - 32)))) {
      digits.erase(0, 2);
      radix = of;
      break;
    }
  }
  radix = radix == 0 ? 10 : radix;  // without a prefix
  int64_t value = 0;
  const char* last = digits.data() + digits.size();
  const auto [end, problem] = std::from_chars(digits.data(), last, value, static_cast<int>(radix));
  if (digits.empty() || digits[0] == '-' || problem != std::errc() || end != last) {
    fail_value("invalid literal for int() with base " + std::to_string(radix) + ": " + representation(text));
  }
  return Value::integer(is_negative ? -value : value);
}
[[noreturn]] void fail_range(Value value) {
  fail_value("int(): " + representation(value) + " does not fit into 64 bits",
             "catch ValueError, or use parse_int() for a text, which returns an Option");
}
// The digits at the start of a text; 0 without one.
Value leading_number(Value text) {
  const std::string digits = digits_of(text_of(text));
  errno = 0;
  const long long number = std::strtoll((digits.empty() ? text_of(text) : digits).c_str(), nullptr, 10);
  return errno == ERANGE ? (fail_range(text), Value()) : Value::integer(number);
}
bool is_float_out_of_range(Value value) {
  constexpr double kEnd = 0x1p63;
  return value.is_float() && !(value.as_float >= -kEnd && value.as_float < kEnd);
}
Value int_fn(Thread& thread, Value* args, int count) {
  if (count == 0) {
    return Value::integer(0);
  }
  if (count > 1) {
    return integer_of_base(args[0], args[1]);
  }
  if (args[0].is(Kind::kText)) {
    return thread.runs_port() ? python_number(text_of(args[0]), true) : leading_number(args[0]);
  }
  if (is_float_out_of_range(plain(args[0]))) {
    fail_range(args[0]);
  }
  return Value::integer(to_integer(args[0]));
}
Value int_with(Thread&, Value* args, int count) {  // args: the names, the text
  const NamedArguments named("int", args[0], {"base"});
  if (count != 2 || named.get("base").is_nil()) {
    fail_arguments("int(): a text and base were expected");
  }
  return integer_of_base(args[1], named.get("base"));
}
Value float_fn(Thread& thread, Value* args, int count) {
  if (count > 0 && is_text_of_port(thread, args[0])) {
    return python_number(text_of(args[0]), false);
  }
  return Value::number(count == 0 ? 0.0 : to_number(args[0]));
}
template <Tag Type>
Value sized_fn(Thread&, Value* args, int) {
  return cast_to(Type, args[0]);
}
Value str_fn(Thread&, Value* args, int count) { return make_text(count == 0 ? "" : display(args[0])); }
Value bool_fn(Thread&, Value* args, int count) { return Value::boolean(count > 0 && truthy(args[0])); }
Value type_of_fn(Thread&, Value* args, int) { return make_text(type_name(args[0])); }

// type(x): the class of an instance, as in Python; of any other value its name.
Value type_fn(Thread& thread, Value* args, int count) {
  static const Symbol type = intern("__class__");
  return args[0].is(Kind::kInstance) ? thread.get_field(args[0], type) : type_of_fn(thread, args, count);
}

// `type(x).__name__`: the name of the class; Python's of a built-in type.
Value python_type_name(Thread& thread, Value* args, int) {
  static const std::unordered_map<std::string, std::string> names = {
      {"i64", "int"},    {"f64", "float"},    {"text", "str"},
      {"array", "list"}, {"nil", "NoneType"}, {"None", "NoneType"},
      {"class", "type"}, {"Set", "set"},      {"FrozenSet", "frozenset"}};
  static const Symbol own_name = intern("__name__");
  if (is_none(args[0])) {
    return make_text("NoneType");
  }
  if (args[0].is(Kind::kTuple) &&
      as_object<Tuple>(args[0])->names.size() > as_object<Tuple>(args[0])->items.size()) {
    return make_text(name_of(as_object<Tuple>(args[0])->names.back()));
  }
  if (args[0].is(Kind::kInstance)) {
    const Ref type = Ref::owned(type_fn(thread, args, 1));
    const Ref name = Ref::owned(thread.get_field(type.get(), own_name));
    const auto found = names.find(display(name.get()));
    return found == names.end() ? retained(name.get()) : make_text(found->second);
  }
  const std::string name = type_name(args[0]);
  const auto found = names.find(name);
  return make_text(found == names.end() ? name : found->second);
}

Value abs_fn(Thread& thread, Value* args, int) {
  if (args[0].is_sized()) {
    return absolute_sized(args[0]);
  }
  if (args[0].is_int()) {
    return Value::integer(args[0].as_int < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(args[0].as_int))
                                             : args[0].as_int);
  }
  if (args[0].is_float()) {
    return Value::number(std::fabs(args[0].as_float));
  }
  static const Symbol abs = intern("abs"), hook = intern("__abs__");
  if (const Method* method = thread.find_method(args[0], hook)) {
    return thread.call_method_of(args[0], *method, nullptr, 0);
  }
  if (args[0].is_object()) {
    return thread.call_method(args[0], abs, nullptr, 0);
  }
  fail("abs(): argument must be a number, got " + type_name(args[0]));
}

Value extreme(Thread& thread, Value* args, int count, int wanted) {
  Value best = Value::missing();
  const auto consider = [&](Value v) {
    if (best.is_missing() || compare(v, best) * wanted > 0) {
      retained(v);
      if (!best.is_missing()) {
        release(best);
      }
      best = v;
    }
    return true;
  };
  if (count == 1) {
    thread.each(args[0], consider);
  } else {
    for (int i = 0; i < count; ++i) {
      consider(args[i]);
    }
  }
  if (best.is_missing()) {
    fail(wanted > 0 ? "max() iterable argument is empty" : "min() iterable argument is empty");
  }
  return best;
}
// min(xs, key: f, default: x), where a dict stands for its keys if the key is its get(). The first of several
// best elements wins, as in Python.
Value extreme_with(Thread& thread, const char* function, Value* args, int count, int wanted) {
  const NamedArguments named(function, args[0], {"key", "default"});
  const Value key = named.get("key");
  Ref best = Ref::owned(Value::missing()), best_key;
  const auto consider = [&](Value v) {
    Ref own_key = key.is_nil() ? Ref::shared(v) : Ref::owned(thread.call(key, &v, 1));
    if (own_key.get().is_nil() && count == 2 && args[1].is(Kind::kDict)) {
      fail(std::string(function) + "(): the key of " + display(v) + " is nil",
           "the elements of a dict are its pairs; write d.keys() for its keys");
    }
    if (best.get().is_missing() || compare(own_key.get(), best_key.get()) * wanted > 0) {
      best = Ref::shared(v);
      best_key = std::move(own_key);
    }
    return true;
  };
  const Ref keys = count == 2 ? keys_for(args[1], key) : Ref();
  if (count == 2) {
    thread.each(keys.get().is_nil() ? args[1] : keys.get(), consider);
  } else {
    std::for_each(args + 1, args + count, consider);
  }
  if (best.get().is_missing() && !named.has("default")) {
    fail(std::string(function) + "() iterable argument is empty");
  }
  return best.get().is_missing() ? retained(named.get("default")) : best.take();
}
Value min_with(Thread& thread, Value* args, int count) {
  return extreme_with(thread, "min", args, count, -1);
}
Value max_with(Thread& thread, Value* args, int count) { return extreme_with(thread, "max", args, count, 1); }

Value min_fn(Thread& thread, Value* args, int count) { return extreme(thread, args, count, -1); }
Value max_fn(Thread& thread, Value* args, int count) { return extreme(thread, args, count, 1); }

// sum(xs), sum(xs, start)
Value sum_fn(Thread& thread, Value* args, int count) {
  if (int64_t of_range = 0; count == 1 && sum_of_range(args[0], of_range)) {
    return Value::integer(of_range);
  }
  Ref total = count == 1 ? Ref::owned(Value::integer(0)) : Ref::shared(args[1]);
  thread.each(args[0], [&](Value v) {
    const Value part = v.is_bool() ? Value::integer(v.as_bool ? 1 : 0) : v;  // counts, as in Python
    total = Ref::owned(thread.arithmetic(BinaryOp::kAdd, total.get(), part));
    return true;
  });
  return total.take();
}

// set(), set(xs): a Set of std.set.
Value set_fn(Thread& thread, Value* args, int count) {
  const Ref none = Ref::owned(make_array({}));
  const Value items = count == 0 ? none.get() : args[0];
  return thread.call(library_function("std/set", "make_set"), &items, 1);
}

// frozenset(xs): a FrozenSet of std.set.
Value frozenset_fn(Thread& thread, Value* args, int count) {
  const Ref none = Ref::owned(make_array({}));
  const Value items = count == 0 ? none.get() : args[0];
  return thread.call(library_function("std/set", "make_frozen_set"), &items, 1);
}

Value range_fn(Thread& thread, Value* args, int count) {
  std::array<Value, 3> bounds;
  for (int i = 0; i < count; ++i) {
    const Ref integer = thread.with_integers(args[i]);
    if (!is_any_integer(integer.get())) {
      fail("range(): arguments must be integers, got " + type_name(args[i]));
    }
    bounds[static_cast<size_t>(i)] = plain(integer.get());
  }
  if (count < 3) {
    const Value range = count == 1 ? make_range(Value::integer(0), bounds[0], false)
                                   : make_range(bounds[0], bounds[1], false);
    as_object<Range>(range)->from_function = true;
    return range;
  }
  if (bounds[2].as_int == 0) {
    fail("range() step must not be zero");
  }
  return integers_with_step(bounds[0].as_int, bounds[1].as_int, bounds[2].as_int, false);
}

Value attempt_fn(Thread& thread, Value* args, int) { return attempted(thread, args[0]); }
Value panic_fn(Thread& thread, Value* args, int count) { panic_with(thread, count == 0 ? Value() : args[0]); }
Value exit_fn(Thread&, Value* args, int count) {
  if (count != 0 && !args[0].is_int()) {
    fail("exit(): argument must be an integer, got " + type_name(args[0]));
  }
  throw ExitRequest{count == 0 ? 0 : static_cast<int>(args[0].as_int)};
}
Value some_fn(Thread&, Value* args, int) { return make_some(retained(args[0])); }
Value ok_fn(Thread&, Value* args, int count) { return make_ok(count == 0 ? Value() : retained(args[0])); }
Value err_fn(Thread&, Value* args, int) { return make_err(retained(args[0])); }
// The function that reads a line in place of standard input; nil without one. Guarded by the host lock.
Value& line_reader() {
  static Value reader;
  return reader;
}

/// Standard input, read in parts.
struct StandardInput {
  std::string unread;
  bool is_busy = false;  // a thread reads, while the others wait
};

// Waits in short intervals for what SIGINT or another thread ends.
template <class Try>
void wait_until(Try&& is_done) {
  while (!is_done()) {
    if (host_lock().wanted()) {
      safepoint();
    }
  }
}

// Appends what standard input has. False if there is no more. Whoever sends it may wait for what was printed,
// as with Python's input().
bool read_more(std::string& unread) {
  flush_output();
  constexpr int kPart = 50;  // milliseconds
  bool is_open = true;
  wait_until([&] {
    const Unlocked unlocked;
    pollfd entry{STDIN_FILENO, POLLIN, 0};
    if (poll(&entry, 1, kPart) <= 0) {
      return false;
    }
    char part[1 << 16];
    const ssize_t count = read(STDIN_FILENO, part, sizeof part);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
      return false;
    }
    is_open = count > 0;
    unread.append(part, count > 0 ? static_cast<size_t>(count) : 0);
    return true;
  });
  return is_open;
}

// The next line without its end. False at the end of input.
bool read_input_line(std::string& line) {
  static StandardInput input;
  wait_until([&] {
    if (input.is_busy) {
      const Unlocked unlocked;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return false;
    }
    return true;
  });
  struct Reading {
    Reading() { input.is_busy = true; }
    ~Reading() { input.is_busy = false; }
  } reading;
  size_t end = input.unread.find('\n');
  for (size_t known = 0; end == std::string::npos; end = input.unread.find('\n', known)) {
    known = input.unread.size();
    if (!read_more(input.unread)) {
      line = std::exchange(input.unread, {});
      return !line.empty();
    }
  }
  line = input.unread.substr(0, end);
  input.unread.erase(0, end + 1);
  return true;
}

// nil at the end of input.
Value input_fn(Thread& thread, Value* args, int count) {
  if (!line_reader().is_nil()) {
    const Ref reader = Ref::shared(line_reader());
    const Ref prompt = Ref::owned(make_text(count == 1 ? display(args[0]) : ""));
    const Value argument = prompt.get();
    return thread.call(reader.get(), &argument, 1);
  }
  if (count == 1) {
    print_text(display(args[0]));
    flush_output();
  }
  std::string line;
  return read_input_line(line) ? make_text(std::move(line)) : Value();
}

Value channel_fn(Thread&, Value*, int) { fail("channels are not supported"); }

const NativeEntry kFunctions[] = {
    {"print", print_fn, 0, -1, print_with},
    {"println", print_fn, 0, -1, print_with},
    {"eprint", eprint_fn, 0, -1, eprint_with},
    {"eprintln", eprint_fn, 0, -1, eprint_with},
    {"print_raw", print_raw, 0, -1},
    {"assert", assert_fn, 1, 2},
    {"len", len_fn, 1, 1},
    {"int", int_fn, 0, 2, int_with},
    {"i64", int_fn, 1, 1},
    {"float", float_fn, 0, 1},
    {"f64", float_fn, 1, 1},
    {"i8", sized_fn<Tag::kInt8>, 1, 1},
    {"i16", sized_fn<Tag::kInt16>, 1, 1},
    {"i32", sized_fn<Tag::kInt32>, 1, 1},
    {"u8", sized_fn<Tag::kUint8>, 1, 1},
    {"u16", sized_fn<Tag::kUint16>, 1, 1},
    {"u32", sized_fn<Tag::kUint32>, 1, 1},
    {"u64", sized_fn<Tag::kUint64>, 1, 1},
    {"f32", sized_fn<Tag::kFloat32>, 1, 1},
    {"str", str_fn, 0, 1},
    {"text", str_fn, 1, 1},
    {"bool", bool_fn, 0, 1},
    {"type_of", type_of_fn, 1, 1},
    {"__type_name__", python_type_name, 1, 1},
    {"type", type_fn, 1, 1},
    {"abs", abs_fn, 1, 1},
    {"min", min_fn, 1, -1, min_with},
    {"max", max_fn, 1, -1, max_with},
    {"sum", sum_fn, 1, 2},
    {"set", set_fn, 0, 1},
    {"frozenset", frozenset_fn, 0, 1},
    {"range", range_fn, 1, 3},
    {"attempt", attempt_fn, 1, 1},
    {"panic", panic_fn, 0, 1},
    {"exit", exit_fn, 0, 1},
    {"Some", some_fn, 1, 1},
    {"Ok", ok_fn, 0, 1},
    {"Err", err_fn, 1, 1},
    {"input", input_fn, 0, 1},
    {"channel", channel_fn, 0, -1},
    {"Channel", channel_fn, 0, -1},
};

// Older names of built-in types.
constexpr std::pair<const char*, const char*> kOlderNames[] = {
    {"Int", "i64"},   {"Int8", "i8"},     {"Int16", "i16"},   {"Int32", "i32"},  {"Int64", "i64"},
    {"UInt8", "u8"},  {"UInt16", "u16"},  {"UInt32", "u32"},  {"UInt64", "u64"}, {"usize", "u64"},
    {"Float", "f64"}, {"Float32", "f32"}, {"Float64", "f64"}, {"Bool", "bool"},  {"String", "text"},
};

}  // namespace

void set_line_reader(Value function) { assign(line_reader(), retained(function)); }

void install_builtins() {
  add_functions(kFunctions);
  for (const auto& [older, today] : kOlderNames) {
    builtins()[intern(older)] = retained(builtins()[intern(today)]);
  }
  builtins()[intern("None")] = make_none();
  builtins()[intern("Ellipsis")] = retained(core_types().ellipsis->variants[0].singleton);
  builtins()[intern("Option")] = Value::object(core_types().option);
  builtins()[intern("Result")] = Value::object(core_types().result);
  install_text_methods();
  install_python_text_methods();
  install_text_format();
  install_collection_methods();
  install_dict_methods();
  install_value_methods();
  install_integer_methods();
  install_object_functions();
  install_python_functions();
  install_generators();
  install_iterators();
  install_host_externs();
}

}  // namespace spl
