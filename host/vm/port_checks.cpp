// What differs from Python in a program with PyTorch, reported once for each place: see
// compiler/port_checks.cpp.
#include "host/vm/port_checks.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "host/output.h"
#include "host/syntax/parse.h"
#include "host/values/module.h"
#include "host/values/objects.h"
#include "host/vm/patterns.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

void warn(const PortCheck& check, const Proto& proto, std::string message, std::string hint) {
  if (!check.was_reported.exchange(true, std::memory_order_relaxed)) {
    print_diagnostic(render({check.span, std::move(message), std::move(hint)}, *proto.source, "warning"));
  }
}

bool is_negative(Value v) { return v.is_int() ? v.as_int < 0 : std::signbit(v.as_float); }

void check_quotient(const PortCheck& check, const Proto& proto, Value a, Value b) {
  if (!a.is_int() || !b.is_int() || b.as_int == 0 || b.as_int == -1) {
    return;
  }
  if (a.as_int % b.as_int == 0) {
    if (check.form == PortCheck::Form::kElement) {
      warn(check, proto, "this quotient of integers is the integer " + std::to_string(a.as_int / b.as_int),
           "write float(a) / b for a float, as in Python; the dtype of the tensor follows from it");
    } else if (check.form == PortCheck::Form::kShown) {
      const std::string quotient = std::to_string(a.as_int / b.as_int);
      warn(check, proto, "this quotient of integers shows " + quotient + ", and not " + quotient + ".0",
           "write float(a) / b for a float, as in Python, or a // b for an integer");
    }
    return;
  }
  const std::string left = std::to_string(a.as_int), right = std::to_string(b.as_int);
  warn(check, proto,
       left + " / " + right + " is " + std::to_string(a.as_int / b.as_int) + ": integers truncate",
       "write float(a) / b for the fraction, or a // b for a quotient that is rounded down");
}

void check_remainder(const PortCheck& check, const Proto& proto, Value a, Value b) {
  const double divisor = b.to_double();
  if (divisor == 0 || is_negative(a) == is_negative(b) || std::fmod(a.to_double(), divisor) == 0) {
    return;
  }
  warn(check, proto, display(a) + " % " + display(b) + " has the sign of " + display(a),
       "write divmod(a, b)[1] for the remainder with the sign of the divisor, as in Python");
}

void check_identity(const PortCheck& check, const Proto& proto, Value a, Value b) {
  const bool is_collection = a.is(Kind::kArray) || a.is(Kind::kTuple) || a.is(Kind::kDict);
  if (is_collection && is_same(a, b)) {
    warn(check, proto, "'is' compares the elements of two " + type_name(a) + " values",
         "arrays, tuples and dicts are values: compare with '==', or keep them in objects of a class");
  }
}

void check_pairs(const PortCheck& check, const Proto& proto, Value value) {
  const std::string name = name_of(check.name);
  if (value.is(Kind::kDict)) {
    warn(check, proto, "'" + name + "' is a pair of a key and its value",
         "write 'for " + name + " in d.keys()', or 'for (key, value) in d'");
  }
}

void check_method(const PortCheck& check, const Proto& proto, Value object) {
  const Record* record = object.is(Kind::kInstance) ? as_object<Instance>(object)->record : nullptr;
  if (record != nullptr && record->module == proto.module && record->find(check.name) != nullptr) {
    const std::string name = name_of(check.name);
    warn(check, proto, "this calls " + name + "(), which Python would not",
         "write ." + name + "() for the call, \\: x." + name +
             "() for the method as a value, or @property before its declaration");
  }
}

void check_visited(const PortCheck& check, const Proto& proto, Value value) {
  if (value.is(Kind::kDict) && as_object<Dict>(value)->live > 0) {
    warn(check, proto, name_of(check.name) + "() of a dict visits its pairs of a key and its value",
         "write d.keys() for the keys, or d.items()");
  }
}

// The argument is an element, and not the one at the index that it is.
void check_removal(const PortCheck& check, const Proto& proto, Value array, Value index) {
  if (!array.is(Kind::kArray) || !index.is_int()) {
    return;
  }
  const Elements& items = as_object<Array>(array)->items;
  const auto size = static_cast<int64_t>(items.size());
  const int64_t at = index.as_int < 0 ? index.as_int + size : index.as_int;
  const auto is_value = [&](Value v) { return v.is_number() && equals(v, index); };
  if (at < 0 || at >= size || is_value(items[static_cast<size_t>(at)]) ||
      std::none_of(items.begin(), items.end(), is_value)) {
    return;
  }
  const std::string number = std::to_string(index.as_int);
  warn(check, proto,
       "remove(" + number + ") removes the element at index " + number + ", which is " +
           display(items[static_cast<size_t>(at)]) + ", and not the value " + number,
       "write xs.remove(xs.index(value)) for a value, or xs.remove_at(index) for an index");
}

// Python's pattern of a sequence matches lists and tuples alike.
void check_sequence(const PortCheck& check, const Proto& proto, Value value) {
  static const Symbol array = intern("array");
  const bool is_of_array = check.name == array;
  const Elements* items =
      value.is(is_of_array ? Kind::kTuple : Kind::kArray) ? sequence_items(value) : nullptr;
  if (items == nullptr || static_cast<int64_t>(items->size()) != check.divisor.as_int) {
    return;
  }
  warn(check, proto,
       is_of_array ? "[…] matches an array, and not this tuple" : "(…) matches a tuple, and not this array",
       is_of_array ? "write (…), or match list(value)" : "write […], or match tuple(value)");
}

// Nobody sees that a collection without another owner is a copy.
void check_result(const PortCheck& check, const Proto& proto, Value value) {
  const bool is_array = value.is(Kind::kArray);
  if ((!is_array && !value.is(Kind::kDict)) || value.as_object->refs == 1) {
    return;
  }
  const std::string name = name_of(check.name);
  warn(check, proto,
       name + "() changes a copy of this " + (is_array ? "array" : "dict") + ", which is a value",
       "change it in its own place, such as d[key]." + name +
           "(…), or store the changed copy there; for a copy that is meant, write " +
           (is_array ? "list(…)" : "dict(…)"));
}

}  // namespace

void Thread::note_wrap() const {
  if (!runs_port()) {
    return;
  }
  const Frame& frame = frames_[frame_count_ - 1];
  const Proto& proto = *frame.proto;
  const auto at = static_cast<size_t>(frame.pc - proto.code.data());
  const SourcePosition place = proto.positions[at > 0 ? at - 1 : 0];
  static std::mutex mutex;
  static std::set<std::pair<const SourceFile*, uint32_t>> reported;
  const std::lock_guard lock(mutex);
  if (reported.emplace(proto.source, place.line).second) {
    const uint32_t start = line_start(proto.source->text, place.line);
    const SourceSpan span = {proto.source->id, start + place.column - 1, place.line, place.column, 1};
    print_diagnostic(render({span, "this result needs more than 64 bits and wraps; integers of Python grow",
                             "use floats, or reduce the operands first, as by '%' or '&'"},
                            *proto.source, "warning"));
  }
}

void check_operands(const PortCheck& check, const Proto& proto, Value a, Value b) {
  if (check.form == PortCheck::Form::kRemoval) {
    check_removal(check, proto, a, b);
    return;
  }
  if (check.form == PortCheck::Form::kIdentity) {
    check_identity(check, proto, a, b);
    return;
  }
  if (!a.is_number() || !b.is_number()) {
    return;
  }
  check.form == PortCheck::Form::kRemainder ? check_remainder(check, proto, a, b)
                                            : check_quotient(check, proto, a, b);
}

void check_value(const PortCheck& check, const Proto& proto, Value value) {
  switch (check.form) {
    case PortCheck::Form::kPairs:
      check_pairs(check, proto, value);
      break;
    case PortCheck::Form::kMethod:
      check_method(check, proto, value);
      break;
    case PortCheck::Form::kVisited:
      check_visited(check, proto, value);
      break;
    case PortCheck::Form::kSequence:
      check_sequence(check, proto, value);
      break;
    default:
      check_result(check, proto, value);
  }
}

}  // namespace spl
