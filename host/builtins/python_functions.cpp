// Python's functions map, filter, repr, slice and divmod.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "host/builtins/builtins.h"
#include "host/builtins/collection_elements.h"
#include "host/modules/loader.h"
#include "host/values/arithmetic.h"
#include "host/values/module.h"
#include "host/values/nesting.h"
#include "host/values/objects.h"
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

// filter(f, xs): the elements for which f holds; the true ones if f is nil.
Value filter_function(Thread& thread, Value* args, int) {
  if (makes_elements(args[1])) {
    return thread.call(library_function("std/iteration", "filter_lazily"), args, 2);
  }
  Collected result;
  each_to_end(thread, args[1], [&](Value v) {
    if (args[0].is_nil() ? truthy(v) : holds_for(thread, args[0], v)) {
      result.add(retained(v));
    }
    return true;
  });
  return result.array();
}

std::string quoted(const std::string& text) {
  const bool has_single = text.find('\'') != std::string::npos;
  const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
  std::string result(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      result += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\x%02x", byte);
      result += code;
    } else {
      result += c;
    }
  }
  return result + quote;
}

std::string shown(Thread& thread, Value v);

std::string shown_items(Thread& thread, const std::vector<Value>& items) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "" : ", ") + shown(thread, items[i]);
  }
  return text;
}

// As display(), with texts in quotes.
std::string shown(Thread& thread, Value v) {
  const Nesting nesting(200, "shown");
  if (v.is(Kind::kText)) {
    return quoted(text_of(v));
  }
  if (v.is(Kind::kArray)) {
    return "[" + shown_items(thread, as_object<Array>(v)->items) + "]";
  }
  if (v.is(Kind::kTuple) && as_object<Tuple>(v)->names.empty()) {
    const auto& items = as_object<Tuple>(v)->items;
    return "(" + shown_items(thread, items) + (items.size() == 1 ? ",)" : ")");
  }
  if (v.is(Kind::kDict)) {
    auto* dict = as_object<Dict>(v);
    dict->compact();
    std::string text = "{";
    for (size_t i = 0; i < dict->entries.size(); ++i) {
      text += (i == 0 ? "" : ", ") + shown(thread, dict->entries[i].key) + ": " +
              shown(thread, dict->entries[i].value);
    }
    return text + "}";
  }
  static const Symbol hook = intern("__repr__");
  if (v.is(Kind::kInstance) && thread.find_method(v, hook) != nullptr) {
    const Ref text = Ref::owned(thread.call_method(v, hook, nullptr, 0));
    return display(text.get());
  }
  return display(v);
}

Value repr_function(Thread& thread, Value* args, int) { return make_text(shown(thread, args[0])); }

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
    if (b.as_int == -1) {  // the quotient of the smallest integer has no value
      return make_tuple({number_arithmetic(BinaryOp::kMultiply, a, b), Value::integer(0)});
    }
    int64_t quotient = a.as_int / b.as_int, remainder = a.as_int % b.as_int;
    if (remainder != 0 && (remainder < 0) != (b.as_int < 0)) {
      --quotient;
      remainder += b.as_int;
    }
    return make_tuple({Value::integer(quotient), Value::integer(remainder)});
  }
  const double left = to_number(a), right = to_number(b);
  double remainder = std::fmod(left, right);
  double quotient = (left - remainder) / right;
  if (remainder != 0.0 && (remainder < 0.0) != (right < 0.0)) {
    remainder += right;
    quotient -= 1.0;
  }
  return make_tuple({Value::number(std::round(quotient)), Value::number(remainder)});
}

const NativeEntry kFunctionsOfPython[] = {
    {"map", map_function, 2, -1},    {"filter", filter_function, 2, 2}, {"repr", repr_function, 1, 1},
    {"slice", slice_function, 1, 3}, {"divmod", divmod_function, 2, 2},
};

}  // namespace

void install_python_functions() { add_functions(kFunctionsOfPython); }

}  // namespace spl
