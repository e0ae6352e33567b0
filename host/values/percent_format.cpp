// `text % values`, as in Python: %[(name)][flags][width][.precision]type.
#include <cmath>
#include <string_view>
#include <vector>

#include "host/syntax/utf8.h"
#include "host/values/conversions.h"
#include "host/values/error.h"
#include "host/values/objects.h"

namespace spl {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// One conversion of the pattern.
struct Conversion {
  std::string name, flags, width, precision;
  char type = 0;
  bool is_named = false;

  bool has(char flag) const { return flags.find(flag) != std::string::npos; }
  /// The same as a format spec of an interpolation.
  std::string spec(char spec_type) const {
    std::string spec = has('-') ? "<" : has('0') && is_number() ? "" : ">";
    spec += has('+') ? "+" : has(' ') ? " " : "";
    spec += has('#') ? "#" : "";
    spec += has('0') && !has('-') && is_number() ? "0" : "";
    return spec + width + (precision.empty() ? "" : "." + precision) + spec_type;
  }
  bool is_number() const { return type != 's' && type != 'r' && type != 'c'; }
};

class PercentFormatter {
 public:
  PercentFormatter(std::string_view pattern, Value values) : pattern_(pattern), values_(values) {}

  std::string run() {
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_++];
      if (c != '%') {
        text_ += c;
      } else if (at_ < pattern_.size() && pattern_[at_] == '%') {
        text_ += pattern_[at_++];
      } else {
        const Conversion conversion = parse();
        const Ref value = Ref::shared(value_for(conversion));  // its methods may change the dict
        text_ += converted(conversion, value.get());
      }
    }
    check_all_used();
    return text_;
  }

 private:
  Conversion parse() {
    Conversion conversion;
    if (at_ < pattern_.size() && pattern_[at_] == '(') {
      const size_t end = pattern_.find(')', at_);
      if (end == std::string_view::npos) {
        fail("%: incomplete format key");
      }
      conversion.name = pattern_.substr(at_ + 1, end - at_ - 1);
      conversion.is_named = true;
      at_ = end + 1;
    }
    conversion.flags =
        taken([](char c) { return std::string_view("-+ #0").find(c) != std::string_view::npos; });
    conversion.width = size_or_argument();
    if (conversion.width.starts_with('-')) {  // a negative argument
      conversion.flags += '-';
      conversion.width.erase(0, 1);
    }
    if (at_ < pattern_.size() && pattern_[at_] == '.') {
      ++at_;
      conversion.precision = size_or_argument();
      if (conversion.precision.empty()) {
        conversion.precision = "0";
      }
    }
    if (at_ == pattern_.size()) {
      fail("%: incomplete format");
    }
    conversion.type = pattern_[at_++];
    return conversion;
  }

  /// Digits, or the next argument where the pattern has `*`.
  std::string size_or_argument() {
    if (at_ == pattern_.size() || pattern_[at_] != '*') {
      return taken(is_digit);
    }
    ++at_;
    const Value size = value_for({});
    if (!size.is_int()) {
      fail("%: * wants an integer, got " + type_name(size));
    }
    return std::to_string(size.as_int);
  }

  template <class Test>
  std::string taken(Test&& test) {
    const size_t begin = at_;
    while (at_ < pattern_.size() && test(pattern_[at_])) {
      ++at_;
    }
    return std::string(pattern_.substr(begin, at_ - begin));
  }

  Value value_for(const Conversion& conversion) {
    if (conversion.is_named) {
      if (!values_.is(Kind::kDict)) {
        fail("%: format requires a dict, got " + type_name(values_));
      }
      const Ref key = Ref::owned(make_text(conversion.name));
      const Value* found = as_object<Dict>(values_)->find(key.get());
      if (found == nullptr) {
        fail("%: the dict has no key '" + conversion.name + "'");
      }
      return *found;
    }
    if (!values_.is(Kind::kTuple)) {
      if (used_++ > 0) {
        fail("%: not enough arguments for format string");
      }
      return values_;
    }
    const auto& items = as_object<Tuple>(values_)->items;
    if (used_ == items.size()) {
      fail("%: not enough arguments for format string");
    }
    return items[used_++];
  }

  void check_all_used() const {
    const size_t count = values_.is(Kind::kTuple)  ? as_object<Tuple>(values_)->items.size()
                         : values_.is(Kind::kDict) ? used_
                                                   : 1;
    if (used_ < count) {
      fail("%: not all arguments converted during string formatting");
    }
  }

  static std::string converted(const Conversion& conversion, Value value) {
    switch (conversion.type) {
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return integer(conversion, value);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        check_number(conversion, value);
        return format_value(Value::number(to_number(value)), conversion.spec(conversion.type));
      case 'c':
        return format_value(Ref::owned(make_text(character(value))).get(), conversion.spec('s'));
      case 's':
      case 'r':
      case 'a': {
        const Ref text = Ref::owned(make_text(conversion.type == 's'   ? display(value)
                                              : conversion.type == 'r' ? representation(value)
                                                                       : in_ascii(representation(value))));
        return format_value(text.get(), conversion.spec('s'));
      }
      default:
        fail(std::string("%: unsupported format character '") + conversion.type + "'");
    }
  }

  /// A character, or that of a code point.
  static std::string character(Value value) {
    std::string text;
    if (value.is(Kind::kText) && as_object<Text>(value)->length() == 1) {
      text = text_of(value);
    } else if (value.is_int() && value.as_int >= 0 && value.as_int <= kMaxCodePoint) {
      append_utf8(text, static_cast<uint32_t>(value.as_int));
    } else {
      fail("%c requires an integer or a character, got " + display(value));
    }
    return text;
  }

  static std::string integer(const Conversion& conversion, Value value) {
    check_number(conversion, value);
    if (!conversion.precision.empty()) {
      fail("%: a precision of integers is not supported; write the width with a 0, as %05d");
    }
    if (value.is_float() && !std::isfinite(value.as_float)) {
      fail("%: cannot convert " + display(value) + " to an integer");
    }
    const bool is_decimal = conversion.type != 'x' && conversion.type != 'X' && conversion.type != 'o';
    return format_value(Value::integer(to_integer(value)),
                        conversion.spec(is_decimal ? 'd' : conversion.type));
  }

  static void check_number(const Conversion& conversion, Value value) {
    if (value.is(Kind::kText) || value.is_nil() || value.is(Kind::kArray) || value.is(Kind::kDict)) {
      fail(std::string("%") + conversion.type + " format: a real number is required, got " +
           type_name(value));
    }
  }

  std::string_view pattern_;
  Value values_;
  size_t at_ = 0, used_ = 0;
  std::string text_;
};

}  // namespace

std::string percent_format(const std::string& pattern, Value values) {
  return PercentFormatter(pattern, values).run();
}

}  // namespace spl
