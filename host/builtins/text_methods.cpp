// Methods of text. Positions and lengths count characters; texts are UTF-8.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <clocale>
#include <cstdlib>
#include <cwctype>

#include "host/builtins/builtins.h"
#include "host/builtins/named_arguments.h"
#include "host/syntax/utf8.h"
#include "host/values/sized.h"
#include "host/vm/thread.h"

namespace spl {

namespace text_methods {
namespace {

const std::string& self_text(Value* args) { return text_of(args[0]); }

// Without the locale C.UTF-8, only ASCII characters change case.
locale_t unicode_locale() {
  const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return unicode != nullptr ? unicode : newlocale(LC_CTYPE_MASK, "C", nullptr);
}

// Maps each character by the simple Unicode case mapping. ß and invalid UTF-8 stay unchanged.
template <class Change>
Value in_case(Value* args, const Change& change) {
  static const locale_t unicode = unicode_locale();
  const std::string_view text = self_text(args);
  std::string changed;
  changed.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = utf8_step(text, at);
    const uint32_t code = utf8_code(text.substr(at, bytes));
    if (const auto other = static_cast<uint32_t>(change(code, unicode, at == 0)); other != code) {
      append_utf8(changed, other);
    } else {
      changed += text.substr(at, bytes);
    }
    at += bytes;
  }
  return make_text(std::move(changed));
}

Value len(Thread&, Value* args, int) {
  return Value::integer(static_cast<int64_t>(as_object<Text>(args[0])->length()));
}
Value upper(Thread&, Value* args, int) {
  return in_case(args, [](wint_t c, locale_t unicode, bool) { return towupper_l(c, unicode); });
}
Value lower(Thread&, Value* args, int) {
  return in_case(args, [](wint_t c, locale_t unicode, bool) { return towlower_l(c, unicode); });
}

Value capitalize(Thread&, Value* args, int) {
  return in_case(args, [](wint_t c, locale_t unicode, bool first) {
    return first ? towupper_l(c, unicode) : towlower_l(c, unicode);
  });
}

// The first letter of each word in upper case; other characters separate words, as in Python.
Value title(Thread&, Value* args, int) {
  static const locale_t unicode = unicode_locale();
  bool in_word = false;
  return in_case(args, [&](wint_t c, locale_t, bool) {
    const bool starts = !std::exchange(in_word, iswalpha_l(c, unicode) != 0);
    return starts ? towupper_l(c, unicode) : towlower_l(c, unicode);
  });
}

std::string stripped(const std::string& text, bool front, bool back) {
  size_t first = 0, last = text.size();
  const auto space = [&](size_t at) { return std::isspace(static_cast<unsigned char>(text[at])) != 0; };
  while (front && first < last && space(first)) {
    ++first;
  }
  while (back && last > first && space(last - 1)) {
    --last;
  }
  return text.substr(first, last - first);
}

// Without any of the characters of `set` at its ends.
std::string stripped_of(const std::string& text, const std::string& set, bool front, bool back) {
  size_t first = 0, last = text.size();
  const auto holds = [&](size_t at, size_t bytes) {
    return set.find(text.substr(at, bytes)) != std::string::npos;
  };
  while (front && first < last && holds(first, utf8_step(text, first))) {
    first += utf8_step(text, first);
  }
  while (back && last > first) {
    size_t at = last - 1;
    while (at > first && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
      --at;
    }
    if (!holds(at, last - at)) {
      break;
    }
    last = at;
  }
  return text.substr(first, last - first);
}

// strip(), strip("characters").
Value strip_at(Value* args, int count, bool front, bool back) {
  const std::string& text = self_text(args);
  if (count == 1 || is_none(args[1])) {
    return make_text(stripped(text, front, back));
  }
  return make_text(stripped_of(text, expect_text(args[1], "the characters of strip()"), front, back));
}
Value strip(Thread&, Value* args, int count) { return strip_at(args, count, true, true); }
Value lstrip(Thread&, Value* args, int count) { return strip_at(args, count, true, false); }
Value rstrip(Thread&, Value* args, int count) { return strip_at(args, count, false, true); }

Value split(Thread&, Value* args, int count) {
  const std::string& text = self_text(args);
  std::vector<Value> parts;
  const int64_t limit = count > 2 ? to_integer(args[2]) : -1;  // of splits; negative: none
  if (count == 1 || is_none(args[1])) {                        // at white space
    for (size_t at = 0; at < text.size();) {
      const auto space = [&](size_t i) { return std::isspace(static_cast<unsigned char>(text[i])) != 0; };
      while (at < text.size() && space(at)) {
        ++at;
      }
      const size_t first = at;
      if (limit >= 0 && parts.size() == static_cast<size_t>(limit)) {
        at = text.size();
      }
      while (at < text.size() && !space(at)) {
        ++at;
      }
      if (at > first) {
        parts.push_back(make_text(text.substr(first, at - first)));
      }
    }
    return make_array(std::move(parts));
  }
  const std::string& separator = expect_text(args[1], "the separator of split()");
  if (separator.empty()) {
    for (size_t at = 0; at < text.size(); at += utf8_step(text, at)) {
      parts.push_back(make_text(text.substr(at, utf8_step(text, at))));
    }
    return make_array(std::move(parts));
  }
  size_t count_of_parts = 1;
  for (size_t at = text.find(separator); at != std::string::npos;
       at = text.find(separator, at + separator.size())) {
    ++count_of_parts;
  }
  parts.reserve(limit < 0 ? count_of_parts : std::min(count_of_parts, static_cast<size_t>(limit) + 1));
  size_t first = 0;
  for (size_t at = text.find(separator); at != std::string::npos; at = text.find(separator, first)) {
    if (limit >= 0 && parts.size() == static_cast<size_t>(limit)) {
      break;
    }
    parts.push_back(make_text(text.substr(first, at - first)));
    first = at + separator.size();
  }
  parts.push_back(make_text(text.substr(first)));
  return make_array(std::move(parts));
}

// split(sep: …, maxsplit: …). args: the text, the names, the others.
Value split_with(Thread& thread, Value* args, int count) {
  const NamedArguments named("split", args[1], {"sep", "maxsplit"});
  Value all[] = {args[0], named.get("sep"), named.get("maxsplit")};
  std::copy(args + 2, args + count, all + 1);
  return split(thread, all, all[2].is_nil() ? 2 : 3);
}

// The parts before and after the first separator, as a pair; None without a separator.
Value split_once(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  const std::string& separator = expect_text(args[1], "the separator of split_once()");
  const size_t at = text.find(separator);
  if (at == std::string::npos) {
    return make_none();
  }
  return make_some(
      make_tuple({make_text(text.substr(0, at)), make_text(text.substr(at + separator.size()))}));
}

Value lines(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  std::vector<Value> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t stop = end > at && text[end - 1] == '\r' ? end - 1 : end;
    parts.push_back(make_text(text.substr(at, stop - at)));
    at = end + 1;
  }
  return make_array(std::move(parts));
}

Value chars(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  std::vector<Value> parts;
  for (size_t at = 0; at < text.size(); at += utf8_step(text, at)) {
    parts.push_back(make_text(text.substr(at, utf8_step(text, at))));
  }
  return make_array(std::move(parts));
}
Value bytes(Thread&, Value* args, int) {
  std::vector<Value> parts;
  for (const char c : self_text(args)) {
    parts.push_back(Value::integer(static_cast<unsigned char>(c)));
  }
  return make_array(std::move(parts));
}

Value contains(Thread&, Value* args, int) {
  return Value::boolean(self_text(args).find(expect_text(args[1], "the argument of contains()")) !=
                        std::string::npos);
}

// The characters between the bounds at args[2] and args[3], as in a slice, and how many come before them.
struct Part {
  std::string text;
  int64_t first = 0;
};
Part part_of(Thread& thread, Value* args, int count) {
  const auto length = static_cast<int64_t>(as_object<Text>(args[0])->length());
  const auto bound = [&](int i, int64_t otherwise) {
    const int64_t at = count > i && !args[i].is_nil() ? to_integer(args[i]) : otherwise;
    return std::clamp<int64_t>(at < 0 ? at + length : at, 0, length);
  };
  const int64_t first = bound(2, 0), end = std::max(bound(3, length), first);
  const Ref range = Ref::owned(make_range(Value::integer(first), Value::integer(end), false));
  return {text_of(Ref::owned(thread.get_index(args[0], range.get())).get()), first};
}

// starts_with(part), starts_with((part, other)), starts_with(part, first, end).
template <class Test>
Value has_at_end(Thread& thread, Value* args, int count, const char* what, const Test& test) {
  const std::string text = count > 2 ? part_of(thread, args, count).text : self_text(args);
  if (!args[1].is(Kind::kTuple)) {
    return Value::boolean(test(text, expect_text(args[1], what)));
  }
  const auto& parts = as_object<Tuple>(args[1])->items;
  return Value::boolean(std::any_of(parts.begin(), parts.end(),
                                    [&](Value part) { return test(text, expect_text(part, what)); }));
}
Value starts_with(Thread& thread, Value* args, int count) {
  return has_at_end(thread, args, count, "the argument of starts_with()",
                    [](const std::string& text, const std::string& part) { return text.starts_with(part); });
}
Value ends_with(Thread& thread, Value* args, int count) {
  return has_at_end(thread, args, count, "the argument of ends_with()",
                    [](const std::string& text, const std::string& part) { return text.ends_with(part); });
}
Value is_empty(Thread&, Value* args, int) { return Value::boolean(self_text(args).empty()); }

Value found_at(const std::string& text, size_t at, int64_t first = 0) {
  if (at == std::string::npos) {
    return Value();
  }
  return Value::integer(first + static_cast<int64_t>(utf8_length(std::string_view(text).substr(0, at))));
}
// find(part), find(part, first, end): nil without a match.
Value find(Thread& thread, Value* args, int count) {
  const std::string& wanted = expect_text(args[1], "the argument of find()");
  if (count == 2) {
    return found_at(self_text(args), self_text(args).find(wanted));
  }
  const Part part = part_of(thread, args, count);
  return found_at(part.text, part.text.find(wanted), part.first);
}
// As find(), but an error without a match.
Value index(Thread& thread, Value* args, int count) {
  const Value found = find(thread, args, count);
  if (!found.is_int()) {
    fail_value("index(): substring not found: " + display(args[1]));
  }
  return found;
}
Value rfind(Thread& thread, Value* args, int count) {
  const std::string& wanted = expect_text(args[1], "the argument of rfind()");
  if (count == 2) {
    return found_at(self_text(args), self_text(args).rfind(wanted));
  }
  const Part part = part_of(thread, args, count);
  return found_at(part.text, part.text.rfind(wanted), part.first);
}
Value count(Thread& thread, Value* args, int arguments) {
  const std::string& part = expect_text(args[1], "the argument of count()");
  if (part.empty()) {
    fail("count(): the argument must not be empty");
  }
  const std::string text = arguments > 2 ? part_of(thread, args, arguments).text : self_text(args);
  int64_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
    ++found;
  }
  return Value::integer(found);
}

// replace(from, to), replace(from, to, most).
Value replace(Thread&, Value* args, int count) {
  const std::string& text = self_text(args);
  const std::string& from = expect_text(args[1], "the first argument of replace()");
  const std::string& to = expect_text(args[2], "the second argument of replace()");
  if (from.empty()) {
    return retained(args[0]);
  }
  int64_t left = count > 3 ? to_integer(args[3]) : -1;  // negative: all
  std::string result;
  size_t first = 0;
  for (size_t at = text.find(from); at != std::string::npos && left != 0;
       at = text.find(from, first), --left) {
    result.append(text, first, at - first).append(to);
    first = at + from.size();
  }
  return make_text(result.append(text, first));
}

Value remove_prefix(Thread&, Value* args, int) {
  const std::string& prefix = expect_text(args[1], "the argument of remove_prefix()");
  return self_text(args).starts_with(prefix) ? make_text(self_text(args).substr(prefix.size()))
                                             : retained(args[0]);
}
Value remove_suffix(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  const std::string& suffix = expect_text(args[1], "the argument of remove_suffix()");
  return text.ends_with(suffix) ? make_text(text.substr(0, text.size() - suffix.size())) : retained(args[0]);
}

// The rest after the prefix as an Option; None without it.
Value strip_prefix(Thread&, Value* args, int) {
  const std::string& prefix = expect_text(args[1], "the argument of strip_prefix()");
  const std::string& text = self_text(args);
  return text.starts_with(prefix) ? make_some(make_text(text.substr(prefix.size()))) : make_none();
}
Value strip_suffix(Thread&, Value* args, int) {
  const std::string& suffix = expect_text(args[1], "the argument of strip_suffix()");
  const std::string& text = self_text(args);
  return text.ends_with(suffix) ? make_some(make_text(text.substr(0, text.size() - suffix.size())))
                                : make_none();
}
// Without the prefix, however often it is there.
Value trim_start_matches(Thread&, Value* args, int) {
  const std::string& prefix = expect_text(args[1], "the argument of trim_start_matches()");
  const std::string& text = self_text(args);
  size_t first = 0;
  while (!prefix.empty() && text.compare(first, prefix.size(), prefix) == 0) {
    first += prefix.size();
  }
  return make_text(text.substr(first));
}
Value trim_end_matches(Thread&, Value* args, int) {
  const std::string& suffix = expect_text(args[1], "the argument of trim_end_matches()");
  std::string text = self_text(args);
  while (!suffix.empty() && text.ends_with(suffix)) {
    text.resize(text.size() - suffix.size());
  }
  return make_text(std::move(text));
}
// Without one line break at the end.
Value chomp(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  for (const std::string_view end : {"\r\n", "\n", "\r"}) {
    if (text.ends_with(end)) {
      return make_text(text.substr(0, text.size() - end.size()));
    }
  }
  return retained(args[0]);
}
// The parts before and after a separator, with the separator between them, as in Python.
Value partition_at(const std::string& text, const std::string& separator, size_t at, bool from_end) {
  if (separator.empty()) {
    fail("partition: the separator must not be empty");
  }
  if (at == std::string::npos) {
    const std::string empty;
    return make_tuple(
        {make_text(from_end ? empty : text), make_text(empty), make_text(from_end ? text : empty)});
  }
  return make_tuple(
      {make_text(text.substr(0, at)), make_text(separator), make_text(text.substr(at + separator.size()))});
}
Value partition(Thread&, Value* args, int) {
  const std::string& separator = expect_text(args[1], "the argument of partition()");
  return partition_at(self_text(args), separator, self_text(args).find(separator), false);
}
Value rpartition(Thread&, Value* args, int) {
  const std::string& separator = expect_text(args[1], "the argument of rpartition()");
  return partition_at(self_text(args), separator, self_text(args).rfind(separator), true);
}
Value replace_first(Thread&, Value* args, int) {
  const std::string& from = expect_text(args[1], "the argument of replace_first()");
  const std::string& to = expect_text(args[2], "the argument of replace_first()");
  std::string text = self_text(args);
  const size_t at = text.find(from);
  return at == std::string::npos ? retained(args[0]) : make_text(text.replace(at, from.size(), to));
}
// The indexes at which a text begins, without overlaps.
Value find_all(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  const std::string& part = expect_text(args[1], "the argument of find_all()");
  std::vector<Value> found;
  size_t counted = 0, index = 0;
  for (size_t at = part.empty() ? std::string::npos : text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    index += utf8_length(std::string_view(text).substr(counted, at - counted));
    counted = at;
    found.push_back(Value::integer(static_cast<int64_t>(index)));
  }
  return make_array(std::move(found));
}
// The characters from an index on, at most as many as given.
Value substr(Thread& thread, Value* args, int count) {
  const auto length = static_cast<int64_t>(as_object<Text>(args[0])->length());
  const int64_t first = std::clamp<int64_t>(to_integer(args[1]), 0, length);
  const int64_t most = count > 2 ? std::max<int64_t>(to_integer(args[2]), 0) : length;
  const Ref range = Ref::owned(
      make_range(Value::integer(first), Value::integer(first + std::min(most, length - first)), false));
  return thread.get_index(args[0], range.get());
}
Value take(Thread& thread, Value* args, int) {
  Value arguments[] = {args[0], Value::integer(0), args[1]};
  return substr(thread, arguments, 3);
}
Value skip(Thread& thread, Value* args, int) { return substr(thread, args, 2); }
// The characters in their order.
Value sorted_characters(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  std::vector<std::string_view> characters;
  for (size_t at = 0; at < text.size(); at += characters.back().size()) {
    characters.push_back(std::string_view(text).substr(at, utf8_step(text, at)));
  }
  std::sort(characters.begin(), characters.end());
  std::string result;
  for (const std::string_view character : characters) {
    result += character;
  }
  return make_text(std::move(result));
}
Value prepended(Thread&, Value* args, int) {
  return make_text(expect_text(args[1], "the argument of prepended()") + self_text(args));
}

Value concat(Thread&, Value* args, int) {
  return make_text(self_text(args) + expect_text(args[1], "the argument of concat()"));
}
Value char_at(Thread& thread, Value* args, int) { return thread.get_index(args[0], args[1]); }
Value substring(Thread& thread, Value* args, int count) {
  const Ref range = Ref::owned(make_range(args[1], count > 2 ? args[2] : Value(), false));
  return thread.get_index(args[0], range.get());
}
// Joins the elements of another value with this text.
Value join(Thread& thread, Value* args, int) {
  const Value separator = args[0];
  static const Symbol name = intern("join");
  const bool is_object_without_join =
      args[1].is(Kind::kInstance) && as_object<Instance>(args[1])->record->find(name) == nullptr;
  if (args[1].is(Kind::kGenerator) || args[1].is(Kind::kText) || is_object_without_join) {
    const Ref elements = Ref::owned(thread.collected(args[1]));
    return thread.call_method(elements.get(), name, &separator, 1);
  }
  return thread.call_method(args[1], name, &separator, 1);
}

// The leading digits, else 0.
int64_t leading_integer(const char* method, const std::string& text) {
  errno = 0;
  const int64_t value = std::strtoll(text.c_str(), nullptr, 10);
  if (errno == ERANGE) {
    fail_value(std::string(method) + ": '" + text + "' does not fit into 64 bits",
               "parse_int() returns None for such a string");
  }
  return value;
}
Value to_int(Thread&, Value* args, int) { return Value::integer(leading_integer("to_int", self_text(args))); }
template <Tag Type>
Value to_sized(Thread&, Value* args, int) {
  if (Type == Tag::kFloat32) {
    return single(to_number(args[0]));
  }
  const std::string& text = self_text(args);
  const std::string type = sized_name(Type);
  if (Type == Tag::kUint64) {
    errno = 0;
    const uint64_t value = std::strtoull(text.c_str(), nullptr, 10);
    const bool is_negative = text.find_first_not_of(" \t\n") < text.size() &&
                             text[text.find_first_not_of(" \t\n")] == '-' && value != 0;
    if (errno == ERANGE || is_negative) {
      fail_value("to_u64: '" + text + "' does not fit into u64");
    }
    return sized_integer(Type, static_cast<int64_t>(value));
  }
  const Value value = Value::integer(leading_integer(("to_" + type).c_str(), text));
  if (!fits_width(value, narrow_width(type))) {
    fail_value("to_" + type + ": '" + text + "' does not fit into " + type);
  }
  return sized_integer(Type, value.as_int);
}
Value to_float(Thread&, Value* args, int) { return Value::number(to_number(args[0])); }

Value parse_int(Thread&, Value* args, int) {
  const std::string text = stripped(self_text(args), true, true);
  const size_t skip = text.starts_with("+") ? 1 : 0;
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data() + skip, text.data() + text.size(), value);
  if (text.size() == skip || problem != std::errc() || end != text.data() + text.size()) {
    return make_none();
  }
  return make_some(Value::integer(value));
}
Value parse_float(Thread&, Value* args, int) {
  const std::optional<double> value = parsed_number(self_text(args));
  return value ? make_some(Value::number(*value)) : make_none();
}

Value repeat(Thread& thread, Value* args, int) {
  return thread.arithmetic(BinaryOp::kMultiply, args[0], args[1]);
}
Value reversed(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  std::string result(text.size(), '\0');
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = utf8_step(text, at);
    text.copy(&result[text.size() - at - bytes], bytes, at);
    at += bytes;
  }
  return make_text(std::move(result));
}

Value padded(Value* args, int count, bool left) {
  const int64_t width = to_integer(args[1]);
  if (width > INT64_C(1) << 32) {
    fail("text is too long");
  }
  const std::string fill = count > 2 ? expect_text(args[2], "the padding") : " ";
  std::string text = self_text(args);
  const auto length = static_cast<int64_t>(as_object<Text>(args[0])->length());
  std::string padding;
  for (int64_t i = length; i < width; ++i) {
    padding += fill;
  }
  return make_text(left ? padding + text : text + padding);
}
Value pad_left(Thread&, Value* args, int count) { return padded(args, count, true); }
Value pad_right(Thread&, Value* args, int count) { return padded(args, count, false); }

// As in Python, the odd space is on the left where the width is odd.
Value center(Thread&, Value* args, int count) {
  const int64_t width = to_integer(args[1]);
  const auto length = static_cast<int64_t>(as_object<Text>(args[0])->length());
  const int64_t spare = std::max<int64_t>(width - length, 0);
  Value padding[] = {args[0], Value::integer(length + spare / 2 + (spare & width & 1)),
                     count > 2 ? args[2] : Value()};
  const Ref left = Ref::owned(padded(padding, count, true));
  padding[0] = left.get();
  padding[1] = args[1];
  return padded(padding, count, false);
}
// Zeros go after the sign.
Value zfill(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  const std::string sign = text.starts_with('-') || text.starts_with('+') ? text.substr(0, 1) : "";
  const Ref digits = Ref::owned(make_text(text.substr(sign.size())));
  const Ref zero = Ref::owned(make_text("0"));
  const int64_t width = to_integer(args[1]) - static_cast<int64_t>(sign.size());
  Value padding[] = {digits.get(), Value::integer(width), zero.get()};
  const Ref filled = Ref::owned(padded(padding, 3, true));
  return make_text(sign + text_of(filled.get()));
}

Value to_string(Thread&, Value* args, int) { return retained(args[0]); }

Value ord(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  if (text.empty()) {
    fail("ord() of an empty text");
  }
  return Value::integer(utf8_code(text.substr(0, utf8_step(text, 0))));
}

template <int (*Test)(int)>
Value every(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  const bool holds =
      std::all_of(text.begin(), text.end(), [](char c) { return Test(static_cast<unsigned char>(c)) != 0; });
  return Value::boolean(!text.empty() && holds);
}

const NativeEntry kMethods[] = {
    {"len", len, 1, 1},
    {"length", len, 1, 1},
    {"upper", upper, 1, 1},
    {"lower", lower, 1, 1},
    {"to_upper", upper, 1, 1},
    {"to_lower", lower, 1, 1},
    {"to_uppercase", upper, 1, 1},
    {"to_lowercase", lower, 1, 1},
    {"capitalize", capitalize, 1, 1},
    {"title", title, 1, 1},
    {"trim", strip, 1, 1},
    {"strip", strip, 1, 2},
    {"trim_start", lstrip, 1, 1},
    {"trim_end", rstrip, 1, 1},
    {"lstrip", lstrip, 1, 2},
    {"rstrip", rstrip, 1, 2},
    {"split", split, 1, 3, split_with},
    {"split_whitespace", split, 1, 1},
    {"split_once", split_once, 2, 2},
    {"lines", lines, 1, 1},
    {"chars", chars, 1, 1},
    {"bytes", bytes, 1, 1},
    {"contains", contains, 2, 2},
    {"starts_with", starts_with, 2, 4},
    {"ends_with", ends_with, 2, 4},
    {"startswith", starts_with, 2, 4},
    {"endswith", ends_with, 2, 4},
    {"is_empty", is_empty, 1, 1},
    {"find", find, 2, 4},
    {"index_of", find, 2, 2},
    {"index", index, 2, 4},
    {"rfind", rfind, 2, 4},
    {"last_index_of", rfind, 2, 2},
    {"count", count, 2, 4},
    {"replace", replace, 3, 4},
    {"remove_prefix", remove_prefix, 2, 2},
    {"remove_suffix", remove_suffix, 2, 2},
    {"concat", concat, 2, 2},
    {"char_at", char_at, 2, 2},
    {"substring", substring, 2, 3},
    {"slice", substring, 2, 3},
    {"clone", to_string, 1, 1},
    {"join", join, 2, 2},
    {"to_int", to_int, 1, 1},
    {"to_i64", to_int, 1, 1},
    {"to_u8", to_sized<Tag::kUint8>, 1, 1},
    {"to_u16", to_sized<Tag::kUint16>, 1, 1},
    {"to_u32", to_sized<Tag::kUint32>, 1, 1},
    {"to_u64", to_sized<Tag::kUint64>, 1, 1},
    {"to_usize", to_sized<Tag::kUint64>, 1, 1},
    {"to_i8", to_sized<Tag::kInt8>, 1, 1},
    {"to_i16", to_sized<Tag::kInt16>, 1, 1},
    {"to_i32", to_sized<Tag::kInt32>, 1, 1},
    {"to_f32", to_sized<Tag::kFloat32>, 1, 1},
    {"to_float", to_float, 1, 1},
    {"to_f64", to_float, 1, 1},
    {"parse_int", parse_int, 1, 1},
    {"parse_i64", parse_int, 1, 1},
    {"parse_float", parse_float, 1, 1},
    {"parse_f64", parse_float, 1, 1},
    {"repeat", repeat, 2, 2},
    {"reverse", reversed, 1, 1},
    {"pad_left", pad_left, 2, 3},
    {"pad_right", pad_right, 2, 3},
    {"rjust", pad_left, 2, 3},
    {"ljust", pad_right, 2, 3},
    {"center", center, 2, 3},
    {"zfill", zfill, 2, 2},
    {"to_string", to_string, 1, 1},
    {"to_text", to_string, 1, 1},
    {"ord", ord, 1, 1},
    {"is_digit", every<std::isdigit>, 1, 1},
    {"is_alpha", every<std::isalpha>, 1, 1},
    {"is_alphanumeric", every<std::isalnum>, 1, 1},
    {"is_space", every<std::isspace>, 1, 1},
    {"is_whitespace", every<std::isspace>, 1, 1},
    {"is_numeric", every<std::isdigit>, 1, 1},
    {"isdigit", every<std::isdigit>, 1, 1},
    {"isalpha", every<std::isalpha>, 1, 1},
    {"isalnum", every<std::isalnum>, 1, 1},
    {"isspace", every<std::isspace>, 1, 1},
    {"is_alphabetic", every<std::isalpha>, 1, 1},
    {"char_count", len, 1, 1},
    {"has", contains, 2, 2},
    {"uppercase", upper, 1, 1},
    {"lowercase", lower, 1, 1},
    {"titlecase", title, 1, 1},
    {"trimmed", strip, 1, 1},
    {"trim_left", lstrip, 1, 1},
    {"trim_right", rstrip, 1, 1},
    {"trim_start_matches", trim_start_matches, 2, 2},
    {"trim_end_matches", trim_end_matches, 2, 2},
    {"chomp", chomp, 1, 1},
    {"removeprefix", remove_prefix, 2, 2},
    {"removesuffix", remove_suffix, 2, 2},
    {"strip_prefix", strip_prefix, 2, 2},
    {"strip_suffix", strip_suffix, 2, 2},
    {"split_lines", lines, 1, 1},
    {"partition", partition, 2, 2},
    {"rpartition", rpartition, 2, 2},
    {"replace_first", replace_first, 3, 3},
    {"find_all", find_all, 2, 2},
    {"find_indices", find_all, 2, 2},
    {"substr", substr, 2, 3},
    {"take", take, 2, 2},
    {"skip", skip, 2, 2},
    {"reversed", reversed, 1, 1},
    {"rev", reversed, 1, 1},
    {"sorted", sorted_characters, 1, 1},
    {"appended", concat, 2, 2},
    {"prepended", prepended, 2, 2},
    {"codepoint", ord, 1, 1},
    {"pad_start", pad_left, 2, 3},
    {"pad_end", pad_right, 2, 3},
};

}  // namespace
}  // namespace text_methods

std::optional<double> parsed_number(const std::string& field) {
  const std::string text = text_methods::stripped(field, true, true);
  const size_t skip = text.starts_with("+") ? 1 : 0;
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data() + skip, text.data() + text.size(), value);
  if (text.size() == skip || problem != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string stripped(const std::string& field) { return text_methods::stripped(field, true, true); }

void install_text_methods() { add_methods(Kind::kText, text_methods::kMethods); }

}  // namespace spl
