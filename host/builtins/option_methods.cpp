// Methods of Option and Result. A plain value stands for Some of itself, nil for None.
#include "methods.h"

namespace spl {
namespace {

bool is_option(Value v) { return v.is(Kind::kEnumValue) && as_object<EnumValue>(v)->type == core_types().option; }
Value payload(Value v) { return as_object<EnumValue>(v)->payload()[0]; }
Value inside(Value v) { return is_option(v) ? payload(v) : v; }
bool is_ok(Value v) { return as_object<EnumValue>(v)->variant == kOk; }
Value apply(Thread& t, Value f, Value v) { return t.call(f, &v, 1); }

/// The message that a failed unwrap() shows: what the payload says of itself.
[[noreturn]] void fail_with(Value error) {
  SimpleError failure(display(error));
  failure.payload = Ref::shared(error);
  throw failure;
}

// ---- Option

Value option_unwrap(Thread&, Value* args, int) {
  if (is_none(args[0])) fail("unwrap() on None: there is no value");
  return retained(inside(args[0]));
}

Value option_expect(Thread&, Value* args, int) {
  if (is_none(args[0])) fail(text_argument(args[1], "expect"));
  return retained(inside(args[0]));
}

Value option_map(Thread& t, Value* args, int) {
  return is_none(args[0]) ? make_none() : make_some(apply(t, args[1], inside(args[0])));
}

Value option_and_then(Thread& t, Value* args, int) {
  return is_none(args[0]) ? make_none() : apply(t, args[1], inside(args[0]));
}

Value option_ok_or(Thread&, Value* args, int) {
  return is_none(args[0]) ? make_err(retained(args[1])) : make_ok(retained(inside(args[0])));
}

Value option_unwrap_or(Thread&, Value* args, int) { return retained(is_none(args[0]) ? args[1] : inside(args[0])); }

// ---- Result

Value result_unwrap(Thread&, Value* args, int) {
  if (!is_ok(args[0])) fail_with(payload(args[0]));
  return retained(payload(args[0]));
}

Value result_unwrap_err(Thread&, Value* args, int) {
  if (is_ok(args[0])) fail("unwrap_err() on " + display(args[0]) + ": there is no error");
  return retained(payload(args[0]));
}

Value result_map(Thread& t, Value* args, int) {
  return is_ok(args[0]) ? make_ok(apply(t, args[1], payload(args[0]))) : retained(args[0]);
}

Value result_map_err(Thread& t, Value* args, int) {
  return is_ok(args[0]) ? retained(args[0]) : make_err(apply(t, args[1], payload(args[0])));
}

Value result_and_then(Thread& t, Value* args, int) {
  return is_ok(args[0]) ? apply(t, args[1], payload(args[0])) : retained(args[0]);
}

Value result_unwrap_or(Thread&, Value* args, int) { return retained(is_ok(args[0]) ? payload(args[0]) : args[1]); }

Value result_ok(Thread&, Value* args, int) {
  return is_ok(args[0]) ? make_some(retained(payload(args[0]))) : make_none();
}

Value result_err(Thread&, Value* args, int) {
  return is_ok(args[0]) ? make_none() : make_some(retained(payload(args[0])));
}

}  // namespace

const MethodTable& option_methods() {
  static const MethodTable table = {
      {"is_some", [](Thread&, Value* a, int) { return Value::boolean(!is_none(a[0])); }, 0, 0, false},
      {"is_none", [](Thread&, Value* a, int) { return Value::boolean(is_none(a[0])); }, 0, 0, false},
      {"unwrap", option_unwrap, 0, 0, false},
      {"expect", option_expect, 1, 1, false},
      {"unwrap_or", option_unwrap_or, 1, 1, false},
      {"map", option_map, 1, 1, false},
      {"and_then", option_and_then, 1, 1, false},
      {"ok_or", option_ok_or, 1, 1, false},
      {"to_string", [](Thread&, Value* a, int) { return make_text(display(a[0])); }, 0, 0, false},
  };
  return table;
}

const MethodTable& result_methods() {
  static const MethodTable table = {
      {"is_ok", [](Thread&, Value* a, int) { return Value::boolean(is_ok(a[0])); }, 0, 0, false},
      {"is_err", [](Thread&, Value* a, int) { return Value::boolean(!is_ok(a[0])); }, 0, 0, false},
      {"unwrap", result_unwrap, 0, 0, false},
      {"unwrap_err", result_unwrap_err, 0, 0, false},
      {"unwrap_or", result_unwrap_or, 1, 1, false},
      {"map", result_map, 1, 1, false},
      {"map_err", result_map_err, 1, 1, false},
      {"and_then", result_and_then, 1, 1, false},
      {"ok", result_ok, 0, 0, false},
      {"err", result_err, 0, 0, false},
      {"to_string", [](Thread&, Value* a, int) { return make_text(display(a[0])); }, 0, 0, false},
  };
  return table;
}

}  // namespace spl
