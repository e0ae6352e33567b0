// Python's functions map, filter, repr, slice and divmod.
#include <algorithm>
#include <cmath>

#include "host/builtins/builtins.h"
#include "host/builtins/collection_elements.h"
#include "host/builtins/named_arguments.h"
#include "host/modules/loader.h"
#include "host/values/arithmetic.h"
#include "host/values/module.h"
#include "host/values/objects.h"
#include "host/values/sized.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

// map(f, xs, ys, …): f of the elements at equal places, as many as the shortest has.
Value map_function(Thread& thread, Value* args, int count) {
  const std::vector<Value> iterables(args + 1, args + count);
  if (std::any_of(iterables.begin(), iterables.end(), makes_elements)) {
    std::vector<Value> held;
    held.reserve(iterables.size());
    for (const Value one : iterables) {
      held.push_back(retained(one));
    }
    const Ref all = Ref::owned(make_array(std::move(held)));
    const Value arguments[] = {args[0], all.get()};
    return thread.call(library_function("std/iteration", "map_lazily"), arguments, 2);
  }
  std::vector<Collected> columns;
  size_t rows = SIZE_MAX;
  for (const Value one : iterables) {
    columns.push_back(collected_elements(thread, one));
    rows = std::min(rows, columns.back().items().size());
  }
  Collected result;
  std::vector<Value> row(columns.size());
  for (size_t at = 0; at < rows; ++at) {
    for (size_t i = 0; i < columns.size(); ++i) {
      row[i] = columns[i].items()[at];
    }
    const Ref value = Ref::owned(thread.call(args[0], row.data(), static_cast<int>(row.size())));
    result.add(retained(value.get()));
  }
  return result.array();
}

// filter(f, xs): the elements for which f holds; the true ones if f is None.
Value filter_function(Thread& thread, Value* args, int) {
  if (makes_elements(args[1])) {
    return thread.call(library_function("std/iteration", "filter_lazily"), args, 2);
  }
  Collected result;
  each_to_end(thread, args[1], [&](Value v) {
    if (is_none(args[0]) ? truthy(v) : holds_for(thread, args[0], v)) {
      result.add(retained(v));
    }
    return true;
  });
  return result.array();
}

// ascii(x): repr(x) with escapes for characters outside ASCII.
Value ascii_function(Thread&, Value* args, int) { return make_text(in_ascii(representation(args[0]))); }

// bin(5) is 0b101, hex(255) 0xff, oct(8) 0o10.
template <char Type>
Value digits_function(Thread& thread, Value* args, int) {
  const Ref integer = thread.with_integers(args[0]);
  const Value number =
      integer.get().is_bool() ? Value::integer(integer.get().as_bool ? 1 : 0) : integer.get();
  if (!is_any_integer(number)) {
    fail_arguments("the argument must be an integer, got " + type_name(args[0]));
  }
  return make_text(format_value(number, std::string("#") + Type));
}

// hash(x): equal values have equal hashes, and the hash of a small integer is its value, as in Python.
Value hash_function(Thread& thread, Value* args, int) {
  static const Symbol hook = intern("__hash__");
  const Value of = args[0];
  if (of.is(Kind::kInstance)) {
    if (const Method* method = thread.find_method(of, hook)) {
      const Ref result = Ref::owned(thread.call_method_of(of, *method, nullptr, 0));
      Value inner = result.get();
      return hash_function(thread, &inner, 1);
    }
  }
  constexpr double kLargest = 1e18;
  const bool is_whole =
      of.is_float() && of.as_float == std::trunc(of.as_float) && std::fabs(of.as_float) < kLargest;
  if (of.is_int() || of.is_bool() || is_whole) {
    const int64_t value = to_integer(of);
    constexpr int64_t kModulus = (INT64_C(1) << 61) - 1;
    const int64_t reduced = value % kModulus;
    return Value::integer(reduced == -1 ? -2 : reduced);
  }
  return Value::integer(static_cast<int64_t>(hash_of(of) >> 1));
}

// id(x): equal for the same object while it lives.
Value id_function(Thread&, Value* args, int) {
  return Value::integer(args[0].is_object()
                            ? static_cast<int64_t>(reinterpret_cast<uintptr_t>(args[0].as_object))
                            : static_cast<int64_t>(hash_of(args[0]) >> 1));
}

// `+x`: the number, as an integer that of a boolean; what an object's __pos__() or positive() returns.
Value positive_function(Thread& thread, Value* args, int) {
  static const Symbol hook = intern("__pos__"), positive = intern("positive");
  const Value of = args[0];
  if (of.is_bool()) {
    return Value::integer(of.as_bool ? 1 : 0);
  }
  if (of.is_number()) {
    return of;
  }
  if (!of.is(Kind::kInstance)) {
    fail_arguments("bad operand for unary +: " + type_name(of));
  }
  const bool has_hook = thread.find_method(of, hook) != nullptr;
  return thread.call_method(of, has_hook ? hook : positive, nullptr, 0);
}

Value repr_function(Thread&, Value* args, int) { return make_text(representation(args[0])); }

// slice(stop), slice(start, stop, step): what `start:stop:step` is in a subscript.
Value slice_function(Thread&, Value* args, int count) {
  auto* slice = new Slice();
  const auto bound = [](Value v) { return is_none(v) ? Value() : retained(v); };
  slice->start = count == 1 ? Value() : bound(args[0]);
  slice->stop = bound(count == 1 ? args[0] : args[1]);
  slice->step = count > 2 ? bound(args[2]) : Value();
  return Value::object(slice);
}

// divmod(a, b): the quotient, rounded down, and the remainder, which has the sign of the divisor.
Value divmod_function(Thread&, Value* args, int) {
  const Value a = args[0], b = args[1];
  if (!a.is_number() || !b.is_number()) {
    fail("divmod(): arguments must be numbers, got " + type_name(a) + " and " + type_name(b));
  }
  if (to_number(b) == 0.0) {
    fail("divmod(): division by zero");
  }
  if (a.is_int() && b.is_int()) {
    const Value quotient = number_arithmetic(BinaryOp::kFloorDivide, a, b);
    const Value whole = number_arithmetic(BinaryOp::kMultiply, quotient, b);
    return make_tuple({quotient, number_arithmetic(BinaryOp::kSubtract, a, whole)});
  }
  const FloorDivision parts = floor_division(to_number(a), to_number(b));
  return make_tuple({Value::number(parts.quotient), Value::number(parts.remainder)});
}

Value by_method(Thread& thread, Value argument, const char* method) {
  return thread.call_method(argument, intern(method), nullptr, 0);
}
// chr(65): the character with this code point.
Value chr_function(Thread& thread, Value* args, int) {
  if (!is_any_integer(args[0])) {
    fail("chr(): the argument must be an integer, got " + type_name(args[0]));
  }
  return by_method(thread, args[0], "chr");
}
// ord("A"): the code point of a character.
Value ord_function(Thread& thread, Value* args, int) {
  if (!args[0].is(Kind::kText)) {
    fail("ord(): the argument must be text, got " + type_name(args[0]));
  }
  if (args[0].is(Kind::kText) && as_object<Text>(args[0])->length() != 1) {
    fail("ord(): argument must be a text of one character, got " + representation(args[0]));
  }
  return by_method(thread, args[0], "ord");
}

// pow(a, b), pow(a, b, m): a ** b, and its remainder by m, which has the sign of m.
Value pow_function(Thread& thread, Value* args, int count) {
  if (count == 2) {
    return thread.arithmetic(BinaryOp::kPower, args[0], args[1]);
  }
  if (!args[0].is_int() || !args[1].is_int() || !args[2].is_int() || args[1].as_int < 0 ||
      args[2].as_int == 0) {
    fail(
        "pow(): with a third argument, all must be integers, the exponent not negative and the modulus not "
        "0");
  }
  __extension__ using Wide = __int128;  // of a product of two integers
  const Wide modulus = args[2].as_int;
  const auto reduced = [modulus](Wide v) {
    const Wide rest = v % modulus;
    return rest != 0 && (rest < 0) != (modulus < 0) ? rest + modulus : rest;
  };
  Wide result = reduced(1), factor = reduced(args[0].as_int);
  for (auto left = static_cast<uint64_t>(args[1].as_int); left != 0; left >>= 1) {
    if ((left & 1) != 0) {
      result = reduced(result * factor);
    }
    factor = reduced(factor * factor);
  }
  return Value::integer(static_cast<int64_t>(result));
}

// vars(object): its fields by name.
Value vars_function(Thread& thread, Value* args, int) {
  if (!args[0].is(Kind::kInstance)) {
    fail("vars(): the argument must be an object, got " + type_name(args[0]));
  }
  return thread.fields_of(args[0]);
}

// open(file, mode, …) of std.io.
Value open_function(Thread& thread, Value* args, int count) {
  return thread.call(library_function("std/io", "open"), args, count);
}
Value open_with_names(Thread& thread, Value* args, int count) {  // args: the names, the others
  const NamedArguments named("open", args[0], {"file", "mode", "encoding", "newline"});
  const Ref mode = Ref::owned(make_text("r"));
  Value all[] = {named.get("file"), named.get("mode"), named.get("encoding"), named.get("newline")};
  std::copy(args + 1, args + count, all);
  if (all[1].is_nil()) {
    all[1] = mode.get();
  }
  return thread.call(library_function("std/io", "open"), all, 4);
}

// Python's hooks of built-in collections, which programs pass as functions: `key=counts.__getitem__`.
Value length_hook(Thread& thread, Value* args, int) { return Value::integer(thread.length(args[0])); }
Value contains_hook(Thread& thread, Value* args, int) {
  return Value::boolean(thread.contains(args[0], args[1]));
}
Value item_hook(Thread& thread, Value* args, int) {
  if (args[0].is(Kind::kDict)) {
    thread.check_key(args[0], args[1]);
  }
  return thread.get_index(args[0], args[1]);
}
const NativeEntry kHooks[] = {
    {"__len__", length_hook, 1, 1},
    {"__contains__", contains_hook, 2, 2},
    {"__getitem__", item_hook, 2, 2},
};

const NativeEntry kFunctionsOfPython[] = {
    {"map", map_function, 2, -1},
    {"filter", filter_function, 2, 2},
    {"repr", repr_function, 1, 1},
    {"slice", slice_function, 1, 3},
    {"divmod", divmod_function, 2, 2},
    {"pow", pow_function, 2, 3},
    {"chr", chr_function, 1, 1},
    {"ord", ord_function, 1, 1},
    {"vars", vars_function, 1, 1},
    {"open", open_function, 1, 4, open_with_names},
    {"ascii", ascii_function, 1, 1},
    {"bin", digits_function<'b'>, 1, 1},
    {"hex", digits_function<'x'>, 1, 1},
    {"oct", digits_function<'o'>, 1, 1},
    {"hash", hash_function, 1, 1},
    {"id", id_function, 1, 1},
    {"__positive__", positive_function, 1, 1},
};

// What the parser makes of `{x!r}`, also where the program has a `repr` of its own.
const NativeEntry kFormatFunctions[] = {{"__repr__", repr_function, 1, 1}};

}  // namespace

void install_python_functions() {
  add_functions(kFormatFunctions);
  add_functions(kFunctionsOfPython);
  for (const Kind kind : {Kind::kText, Kind::kArray, Kind::kTuple, Kind::kDict}) {
    add_methods(kind, kHooks);
  }
}

}  // namespace spl
