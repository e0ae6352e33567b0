// Format specs of interpolations, as in Python: [[fill]align][sign][#][0][width][,][.precision][type].
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "host/syntax/utf8.h"
#include "host/values/error.h"
#include "host/values/object_hooks.h"
#include "host/values/objects.h"
#include "host/values/sized.h"

namespace spl {

namespace {

struct Format {
  std::string fill = " ";
  char align = 0, sign = '-', type = 0, grouping = 0;
  bool alternate = false, zero = false;
  size_t width = 0;
  int precision = -1;
};

Format parse_format(const std::string& spec) {
  Format format;
  size_t at = 0;
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  const size_t first = spec.empty() ? 0 : utf8_step(spec, 0);
  if (first < spec.size() && is_align(spec[first])) {
    format.fill = spec.substr(0, first);
    format.align = spec[first];
    at = first + 1;
  } else if (!spec.empty() && is_align(spec[0])) {
    format.align = spec[at++];
  }
  if (at < spec.size() && (spec[at] == '+' || spec[at] == '-' || spec[at] == ' ')) {
    format.sign = spec[at++];
  }
  if (at < spec.size() && spec[at] == '#') {
    format.alternate = true;
    ++at;
  }
  if (at < spec.size() && spec[at] == '0') {
    format.zero = true;
    ++at;
  }
  while (at < spec.size() && spec[at] >= '0' && spec[at] <= '9' && format.width < 100000) {
    format.width = format.width * 10 + static_cast<size_t>(spec[at++] - '0');
  }
  if (at < spec.size() && (spec[at] == ',' || spec[at] == '_')) {
    format.grouping = spec[at++];
  }
  if (at < spec.size() && spec[at] == '.') {
    ++at;
    format.precision = 0;
    while (at < spec.size() && spec[at] >= '0' && spec[at] <= '9' && format.precision < 1000) {
      format.precision = format.precision * 10 + (spec[at++] - '0');
    }
  }
  if (at < spec.size()) {
    format.type = spec[at++];
  }
  if (at != spec.size()) {
    fail("'" + spec + "' is not a valid format");
  }
  return format;
}

std::string grouped(const std::string& digits, char separator, size_t every) {
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % every == 0) {
      text += separator;
    }
    text += digits[i];
  }
  return text;
}

std::string in_base(uint64_t value, unsigned base, bool upper) {
  const char* const symbols = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string digits;
  do {
    digits.insert(digits.begin(), symbols[value % base]);
    value /= base;
  } while (value != 0);
  return digits;
}

struct Digits {
  bool negative = false;
  std::string prefix, body;
};

Digits integer_digits(Value v, const Format& format) {
  Digits digits;
  digits.negative = v.as_int < 0 && v.tag != Tag::kUint64;
  const auto bits = static_cast<uint64_t>(v.as_int);
  const uint64_t size = digits.negative ? 0 - bits : bits;
  switch (format.type) {
    case 'x':
    case 'X':
      digits.body = in_base(size, 16, format.type == 'X');
      break;
    case 'b':
      digits.body = in_base(size, 2, false);
      break;
    case 'o':
      digits.body = in_base(size, 8, false);
      break;
    default:
      digits.body = in_base(size, 10, false);
      break;
  }
  if (format.grouping != 0) {
    digits.body = grouped(digits.body, format.grouping, format.type == 0 || format.type == 'd' ? 3 : 4);
  }
  if (format.alternate && format.type != 0 && format.type != 'd') {
    digits.prefix = std::string("0") + format.type;
  }
  return digits;
}

Digits float_digits(Value v, const Format& format) {
  const double value = number_as_double(v);
  Digits digits;
  digits.negative = std::signbit(value) && !std::isnan(value);
  const double size = std::fabs(value);
  if (format.type == 0 && format.precision < 0) {
    digits.body = is_single(v) ? display_single(static_cast<float>(size)) : display_float(size);
  } else {
    const char type = format.type == 0 ? 'g' : format.type == '%' ? 'f' : format.type;
    const std::string pattern = std::string("%") + (format.alternate ? "#" : "") + ".*" + type;
    char buffer[1500];
    const double shown = format.type == '%' ? size * 100 : size;
    std::snprintf(buffer, sizeof buffer, pattern.c_str(), format.precision < 0 ? 6 : format.precision, shown);
    digits.body = buffer;
    if (format.type == 0 && digits.body.find_first_of(".ein") == std::string::npos) {
      digits.body += ".0";
    }
  }
  if (format.grouping != 0) {
    const size_t whole = std::min(digits.body.find_first_of(".e"), digits.body.size());
    digits.body = grouped(digits.body.substr(0, whole), format.grouping, 3) + digits.body.substr(whole);
  }
  if (format.type == '%') {
    digits.body += "%";
  }
  return digits;
}

std::string repeat(const std::string& text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) {
    result += text;
  }
  return result;
}

std::string padded(const std::string& text, const Format& format, char default_align) {
  const size_t length = utf8_length(text);
  if (length >= format.width) {
    return text;
  }
  const size_t padding = format.width - length;
  switch (format.align == 0 ? default_align : format.align) {
    case '<':
      return text + repeat(format.fill, padding);
    case '^':
      return repeat(format.fill, padding / 2) + text + repeat(format.fill, padding - padding / 2);
    default:
      return repeat(format.fill, padding) + text;
  }
}

bool is_float_type(char type) {
  return type == 'f' || type == 'F' || type == 'e' || type == 'E' || type == 'g' || type == 'G' ||
         type == '%';
}

const Method* format_hook(Value v) {
  static const Symbol hook = intern("__format__");
  return v.is(Kind::kInstance) ? as_object<Instance>(v)->record->find(hook) : nullptr;
}

}  // namespace

std::string interpolated_text(Value v) {
  return format_hook(v) != nullptr ? format_value(v, "") : display(v);
}

std::string format_value(Value v, const std::string& spec) {
  if (const Method* method = format_hook(v)) {
    const Ref text = Ref::owned(make_text(spec));
    const Value argument = text.get();
    const Ref result = Ref::owned(object_hooks().call_method(v, *method, &argument, 1));
    if (result.get().is(Kind::kInstance)) {
      return display(result.get());
    }
    // A text is the formatted value itself; other results are formatted by the same spec.
    return format_value(result.get(), result.get().is(Kind::kText) ? "" : spec);
  }
  Format format = parse_format(spec);
  if (v.is_bool() && format.type != 0 && format.type != 's') {
    v = Value::integer(v.as_bool ? 1 : 0);  // a number, as in Python
  }
  if (!is_any_number(v) || format.type == 's') {
    if (format.type != 0 && format.type != 's') {
      fail("the format '" + spec + "' requires a number, got " + type_name(v));
    }
    std::string text = display(v);
    if (format.precision >= 0) {
      size_t at = 0;
      for (int i = 0; i < format.precision && at < text.size(); ++i) {
        at += utf8_step(text, at);
      }
      text.resize(at);
    }
    if (format.zero && format.align == 0) {
      format.fill = "0";
    }
    return padded(text, format, '<');
  }
  if (format.type != 0 && format.type != 'd' && !is_float_type(format.type) &&
      std::string("xXboc").find(format.type) == std::string::npos) {
    fail("'" + spec + "' is not a number format");
  }
  if (format.type == 'c' && v.is_int() && v.as_int >= 0 && v.as_int <= kMaxCodePoint) {
    std::string character;
    append_utf8(character, static_cast<uint32_t>(v.as_int));
    return padded(character, format, '<');
  }
  const bool fraction = v.is_float() || is_single(v);
  const bool as_float = fraction || is_float_type(format.type);
  if (fraction && format.type != 0 && !is_float_type(format.type)) {
    fail("the format '" + spec + "' requires an integer, got " + type_name(v));
  }
  const Digits digits = as_float ? float_digits(v, format) : integer_digits(v, format);
  const std::string sign = digits.negative ? "-" : format.sign == '-' ? "" : std::string(1, format.sign);
  const std::string head = sign + digits.prefix;
  if ((format.zero && format.align == 0) || format.align == '=') {
    const size_t length = head.size() + digits.body.size();
    const std::string fill = format.align == '=' ? format.fill : "0";
    return head + (length < format.width ? repeat(fill, format.width - length) : "") + digits.body;
  }
  return padded(head + digits.body, format, '>');
}

}  // namespace spl
