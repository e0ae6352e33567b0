// Lengths and iteration.
#include <algorithm>
#include <cmath>

#include "host/syntax/utf8.h"
#include "host/values/conversions.h"
#include "host/values/module.h"
#include "host/vm/generator.h"
#include "host/vm/protocols.h"
#include "host/vm/thread.h"

namespace spl {

int64_t Thread::length(Value v) {
  if (v.is_object()) {
    switch (v.as_object->kind) {
      case Kind::kText:
        return static_cast<int64_t>(as_object<Text>(v)->length());
      case Kind::kArray:
        return static_cast<int64_t>(as_object<Array>(v)->items.size());
      case Kind::kTuple:
        return static_cast<int64_t>(as_object<Tuple>(v)->items.size());
      case Kind::kDict:
        return as_object<Dict>(v)->live;
      case Kind::kRange: {
        const auto* range = as_object<Range>(v);
        if (!range->start.is_int() || !range->end.is_int()) {
          fail("an open range has no length");
        }
        int64_t between;
        if (__builtin_sub_overflow(range->end.as_int, range->start.as_int, &between) ||
            (range->inclusive && __builtin_add_overflow(between, 1, &between))) {
          fail("the length of this range does not fit in 64 bits");
        }
        return std::max<int64_t>(0, between);
      }
      case Kind::kEnum:
        return static_cast<int64_t>(as_object<Enum>(v)->variants.size());
      case Kind::kInstance: {
        static const Symbol hook = intern("__len__"), plain = intern("len");
        const Method* method = find_method(v, hook);
        if (method == nullptr) {
          method = find_method(v, plain);
        }
        if (method == nullptr) {
          break;
        }
        const Ref result = Ref::owned(call_method_of(v, *method, nullptr, 0));
        return to_integer(result.get());
      }
      default:
        break;
    }
  }
  fail(type_name(v) + " has no length");
}

/// next(), or Python's __next__().
const Method* next_method(Value source) {
  static const Symbol name = intern("next"), python_name = intern("__next__");
  const Thread& thread = current_thread();
  const Method* method = thread.find_method(source, name);
  const Method* of_python = thread.find_method(source, python_name);
  const bool is_alias = method != nullptr && of_python != nullptr &&  // `next = __next__`
                        method->function.as_object == of_python->function.as_object;
  return method == nullptr || is_alias ? of_python : method;
}

const Method* iterator_method(Value source) {
  static const Symbol python_name = intern("__iter__"), name = intern("iter");
  const Thread& thread = current_thread();
  const Method* method = thread.find_method(source, python_name);
  return method != nullptr ? method : thread.find_method(source, name);
}

namespace {

// Whether the error is what `raise` made of a class of Python, whose message begins with the name of the
// class, or a failed index for IndexError.
bool is_raised(const SimpleError& error, Symbol type) {
  static const Symbol index_error = intern("IndexError");
  if (type == index_error && error.error_class == ErrorClass::kIndexOutOfRange) {
    return true;
  }
  const std::string& name = name_of(type);
  return error.message == name || error.message.starts_with(name + ":");
}

// The value of a step of an iterator; false if it raises the error that marks the end.
template <class Step>
bool value_or_end(Step&& step, Symbol end, Value& out) {
  try {
    out = step();
    return true;
  } catch (const SimpleError& error) {
    if (!is_raised(error, end)) {
      throw;
    }
    return false;
  }
}

// The values of the variants; one with fields has no single value.
Value members_of_enum(const Enum& type) {
  Ref members = Ref::owned(make_array({}));
  for (const VariantInfo& variant : type.variants) {
    if (variant.arity != 0) {
      fail("cannot loop over " + name_of(type.name) + ": its variant " + name_of(variant.name) +
           " has fields");
    }
    as_object<Array>(members.get())->items.push_back(retained(variant.singleton));
  }
  return members.take();
}

}  // namespace

Value make_iterator(Value source) {
  if (source.is(Kind::kArray) || source.is(Kind::kIterator)) {
    return retained(source);
  }
  if (source.is(Kind::kDict)) {
    Value held = retained(source);
    as_object<Dict>(held)->compact();
    return Value::object(new Iterator(held));
  }
  if (source.is(Kind::kText) || source.is(Kind::kTuple) || source.is(Kind::kRange) ||
      source.is(Kind::kGenerator)) {
    return Value::object(new Iterator(retained(source)));
  }
  if (source.is(Kind::kEnum)) {
    return members_of_enum(*as_object<Enum>(source));
  }
  Thread& thread = current_thread();
  static const Symbol getitem = intern("__getitem__");
  if (const Method* method = iterator_method(source)) {
    Ref inner = Ref::owned(thread.call_method_of(source, *method, nullptr, 0));
    if (next_method(inner.get()) != nullptr) {
      return Value::object(new Iterator(inner.take()));
    }
    if (inner.get().is(Kind::kInstance)) {
      fail("iter() of " + type_name(source) + " returns " + type_name(inner.get()) + ", which has no next()");
    }
    return make_iterator(inner.get());
  }
  if (next_method(source) != nullptr || thread.find_method(source, getitem) != nullptr) {
    return Value::object(new Iterator(retained(source)));
  }
  if (is_none(source)) {
    return make_array({});
  }
  if (source.is(Kind::kEnumValue) && as_object<EnumValue>(source)->type == core_types().option) {
    return make_array({retained(as_object<EnumValue>(source)->payload()[0])});
  }
  fail("cannot loop over " + type_name(source));
}

namespace {

bool next_item(const Elements& items, Iterator& iterator, Value& out) {
  if (iterator.position >= static_cast<int64_t>(items.size())) {
    return false;
  }
  out = retained(items[static_cast<size_t>(iterator.position++)]);
  return true;
}

bool next_character(const std::string& text, Iterator& iterator, Value& out) {
  const auto at = static_cast<size_t>(iterator.position);
  if (at >= text.size()) {
    return false;
  }
  const size_t bytes = utf8_step(text, at);
  iterator.position += static_cast<int64_t>(bytes);
  out = make_character(text, at, bytes);
  return true;
}

bool next_integer(const Range& range, Iterator& iterator, Value& out) {
  int64_t at;
  if (__builtin_add_overflow(range.start.is_int() ? range.start.as_int : 0, iterator.position, &at)) {
    return false;  // past the largest integer
  }
  if (range.end.is_int() && (range.inclusive ? at > range.end.as_int : at >= range.end.as_int)) {
    return false;
  }
  ++iterator.position;
  out = Value::integer(at);
  return true;
}

bool next_entry(const Dict& dict, Iterator& iterator, Value& out) {
  while (iterator.position < static_cast<int64_t>(dict.entries.size())) {
    const auto& entry = dict.entries[static_cast<size_t>(iterator.position++)];
    if (!entry.key.is_missing()) {
      out = make_tuple({retained(entry.key), retained(entry.value)});
      return true;
    }
  }
  return false;
}

}  // namespace

bool Thread::iterate(Value* state, Value& out) {
  if (state[0].is(Kind::kArray)) {
    const auto& items = as_object<Array>(state[0])->items;
    const auto at = static_cast<size_t>(state[1].as_int);
    if (at >= items.size()) {
      return false;
    }
    state[1] = Value::integer(static_cast<int64_t>(at + 1));
    out = retained(items[at]);
    return true;
  }
  auto* iterator = as_object<Iterator>(state[0]);
  const Value source = iterator->source;
  switch (source.as_object->kind) {
    case Kind::kArray:
      return next_item(as_object<Array>(source)->items, *iterator, out);
    case Kind::kTuple:
      return next_item(as_object<Tuple>(source)->items, *iterator, out);
    case Kind::kText:
      return next_character(text_of(source), *iterator, out);
    case Kind::kRange:
      return next_integer(*as_object<Range>(source), *iterator, out);
    case Kind::kDict:
      return next_entry(*as_object<Dict>(source), *iterator, out);
    case Kind::kGenerator:
      return resume(static_cast<Generator*>(source.as_object), out);
    default:
      break;
  }
  static const Symbol getitem = intern("__getitem__");
  if (const Method* method = next_method(source)) {
    return next_of(source, *method, out);
  }
  static const Symbol length_hook = intern("__len__"), own_length = intern("len");
  const Method* getter = find_method(source, getitem);
  const bool has_length =
      find_method(source, length_hook) != nullptr || find_method(source, own_length) != nullptr;
  if (has_length && iterator->position >= length(source)) {
    return false;
  }
  const Value index = Value::integer(iterator->position++);
  if (has_length) {
    out = call_method_of(source, *getter, &index, 1);
    return true;
  }
  static const Symbol index_error = intern("IndexError");
  return value_or_end([&] { return call_method_of(source, *getter, &index, 1); }, index_error, out);
}

bool Thread::next_of(Value iterator, const Method& next, Value& out) {
  static const Symbol python_name = intern("__next__"), stop = intern("StopIteration");
  if (&next == find_method(iterator, python_name)) {
    if (!value_or_end([&] { return call_method_of(iterator, next, nullptr, 0); }, stop, out)) {
      return false;
    }
    return !is_none(out);
  }
  const Value value = call_method_of(iterator, next, nullptr, 0);
  if (is_none(value)) {
    release(value);
    return false;
  }
  out = value;
  if (value.is(Kind::kEnumValue) && as_object<EnumValue>(value)->type == core_types().option) {
    out = retained(as_object<EnumValue>(value)->payload()[0]);
    release(value);
  }
  return true;
}

namespace {

// The two elements of a pair, else null. An array of two is a pair if an object or a generator made it, such
// as a batch of a DataLoader; the arrays in an array are its elements.
const Elements* pair_in(Value element, Value state) {
  if (element.is(Kind::kTuple) && as_object<Tuple>(element)->items.size() == 2) {
    return &as_object<Tuple>(element)->items;
  }
  if (!element.is(Kind::kArray) || !state.is(Kind::kIterator)) {
    return nullptr;
  }
  const Value source = as_object<Iterator>(state)->source;
  const bool is_made = source.is(Kind::kInstance) || source.is(Kind::kGenerator);
  const auto& items = as_object<Array>(element)->items;
  return is_made && items.size() == 2 ? &items : nullptr;
}

}  // namespace

namespace {

// An object with two elements, such as a ModuleList of two layers, which Python takes apart.
bool is_pair_of_port(Thread& thread, Value element) {
  static const Symbol length_hook = intern("__len__");
  return thread.runs_port() && iterator_method(element) != nullptr &&
         thread.find_method(element, length_hook) != nullptr && thread.length(element) == 2;
}

}  // namespace

// Splits pairs; for other elements `first` is the index.
bool Thread::iterate_pair(Value* state, Value& first, Value& second) {
  Value element;
  const int64_t before = state[1].is_int() ? state[1].as_int : 0;
  if (!iterate(state, element)) {
    return false;
  }
  if (!state[0].is(Kind::kArray)) {
    state[1] = Value::integer(before + 1);
  }
  Ref item = Ref::owned(element);
  Ref foreign = element.is(Kind::kInstance) ? sequence_of_pair(element) : Ref();
  if (element.is(Kind::kInstance) && foreign.get().is_nil() && is_pair_of_port(*this, element)) {
    foreign = Ref::owned(collected(element));
  }
  const Elements* pair = pair_in(foreign.get().is_nil() ? element : foreign.get(), state[0]);
  first = pair == nullptr ? Value::integer(before) : retained((*pair)[0]);
  second = pair == nullptr ? item.take() : retained((*pair)[1]);
  return true;
}

Value Thread::collected(Value iterable) {
  Ref items = Ref::owned(make_tuple({}));
  each(iterable, [&](Value item) {
    as_object<Tuple>(items.get())->items.push_back(retained(item));
    return true;
  });
  return items.take();
}

void Thread::each(Value iterable, const std::function<bool(Value)>& body) {
  Value state[2] = {make_iterator(iterable), Value::integer(0)};
  const Ref held = Ref::owned(state[0]);
  Value element;
  while (iterate(state, element)) {
    const Ref current = Ref::owned(element);
    native_safepoint(nullptr);
    if (!body(element)) {
      return;
    }
  }
}

}  // namespace spl
