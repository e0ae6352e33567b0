// Python's `text.format(…)` and `format(value, spec)`.
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "host/builtins/builtins.h"
#include "host/values/error.h"
#include "host/values/objects.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

constexpr const char* kHint =
    "a text between \" and \" replaces its {…} at once; write '…' for the text of a later format()";

/// The fields of a text and the arguments that replace them.
class TextFormatter {
 public:
  TextFormatter(Thread& thread, const Value* positional, int count, Dict* named)
      : thread_(thread),
        positional_(positional, positional + count),
        named_(named),
        used_(positional_.size()) {}

  std::string run(std::string_view pattern) {
    std::string text = formatted(pattern, 0);
    for (size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i]) {
        fail("format(): the text has no field for argument " + std::to_string(i + 1), kHint);
      }
    }
    return text;
  }

 private:
  std::string formatted(std::string_view pattern, int depth) {
    if (depth > 2) {
      fail("format(): fields may be nested once: {:{width}}");
    }
    std::string text;
    for (size_t i = 0; i < pattern.size(); ++i) {
      const char c = pattern[i];
      if (c != '{' && c != '}') {
        text += c;
      } else if (i + 1 < pattern.size() && pattern[i + 1] == c && depth == 0) {
        text += c;
        ++i;
      } else {
        const size_t close = c == '{' ? end_of_field(pattern, i) : std::string_view::npos;
        if (close == std::string_view::npos) {
          fail(std::string("format(): single '") + c + "' in the text", "write it twice for a literal brace");
        }
        text += field(pattern.substr(i + 1, close - i - 1), depth);
        i = close;
      }
    }
    return text;
  }

  static size_t end_of_field(std::string_view pattern, size_t open) {
    int depth = 0;
    for (size_t i = open; i < pattern.size(); ++i) {
      depth += pattern[i] == '{' ? 1 : pattern[i] == '}' ? -1 : 0;
      if (depth == 0) {
        return i;
      }
    }
    return std::string_view::npos;
  }

  // `name!r:spec`; the spec may contain fields.
  std::string field(std::string_view inside, int depth) {
    std::string spec;
    if (const size_t colon = inside.find(':'); colon != std::string_view::npos) {
      spec = inside.substr(colon + 1);
      inside = inside.substr(0, colon);
    }
    char conversion = 0;
    if (const size_t mark = inside.find('!'); mark != std::string_view::npos) {
      if (mark + 2 != inside.size() || (inside[mark + 1] != 'r' && inside[mark + 1] != 's')) {
        fail("format(): expected !r or !s in the field '{" + std::string(inside) + "}'");
      }
      conversion = inside[mark + 1];
      inside = inside.substr(0, mark);
    }
    const Ref value = argument(inside);
    spec = formatted(spec, depth + 1);  // after the value: automatic numbers count from left to right
    if (conversion == 0) {
      return format_value(value.get(), spec);
    }
    const std::string shown = conversion == 'r' ? representation(value.get()) : display(value.get());
    return format_value(Ref::owned(make_text(shown)).get(), spec);
  }

  // `name`, `0`, `name.member`, `name[key]`.
  Ref argument(std::string_view path) {
    const size_t end = std::min(path.find_first_of(".["), path.size());
    Ref value = Ref::shared(named_or_numbered(path.substr(0, end)));
    for (path.remove_prefix(end); !path.empty();) {
      if (path[0] == '[') {
        const size_t close = std::min(path.find(']'), path.size() - 1);
        value = Ref::owned(element(value.get(), path.substr(1, close - 1)));
        path.remove_prefix(close + 1);
      } else {
        const size_t next = std::min(path.find_first_of(".[", 1), path.size());
        value = Ref::owned(thread_.get_field(value.get(), intern(std::string(path.substr(1, next - 1)))));
        path.remove_prefix(next);
      }
    }
    return value;
  }

  Value named_or_numbered(std::string_view name) {
    const bool has_number = !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
    if (!name.empty() && !has_number) {
      return named(name);
    }
    size_t number = next_;
    if (has_number) {
      std::from_chars(name.data(), name.data() + name.size(), number);
    } else {
      ++next_;
    }
    if (number >= positional_.size()) {
      fail("format(): a field '{" + std::string(name) + "}' without an argument");
    }
    used_[number] = true;
    return positional_[number];
  }

  Value named(std::string_view name) const {
    const Ref key = Ref::owned(make_text(std::string(name)));
    const Value* found = named_ == nullptr ? nullptr : named_->find(key.get());
    if (found == nullptr) {
      fail("format(): a field '{" + std::string(name) + "}' without an argument");
    }
    return *found;
  }

  Value element(Value of, std::string_view key) {
    int64_t number = 0;
    const auto [end, problem] = std::from_chars(key.data(), key.data() + key.size(), number);
    const bool is_number = problem == std::errc() && end == key.data() + key.size();
    const Ref index = Ref::owned(is_number ? Value::integer(number) : make_text(std::string(key)));
    return thread_.get_index(of, index.get());
  }

  Thread& thread_;
  std::vector<Value> positional_;
  Dict* named_;
  std::vector<bool> used_;
  size_t next_ = 0;
};

Value format_method(Thread& thread, Value* args, int count) {
  return make_text(TextFormatter(thread, args + 1, count - 1, nullptr).run(text_of(args[0])));
}
Value format_method_with(Thread& thread, Value* args, int count) {  // args: the text, the names, the others
  auto* named = as_object<Dict>(args[1]);
  return make_text(TextFormatter(thread, args + 2, count - 2, named).run(text_of(args[0])));
}

// text.encode() and text.decode(): a text is its bytes in UTF-8.
Value same_bytes(Thread&, Value* args, int count) {
  const std::string encoding = count > 1 ? expect_text(args[1], "the encoding") : "utf-8";
  if (encoding != "utf-8" && encoding != "utf8" && encoding != "UTF-8") {
    fail("encode() and decode(): the encoding must be utf-8, got " + encoding);
  }
  return retained(args[0]);
}

Value format_function(Thread&, Value* args, int count) {
  return make_text(format_value(args[0], count > 1 ? expect_text(args[1], "format(): the format") : ""));
}

const NativeEntry kFormatMethods[] = {{"format", format_method, 1, -1, format_method_with},
                                      {"encode", same_bytes, 1, 2},
                                      {"decode", same_bytes, 1, 2}};
const NativeEntry kFormatFunctions[] = {{"format", format_function, 1, 2}};

}  // namespace

void install_text_format() {
  add_methods(Kind::kText, kFormatMethods);
  add_functions(kFormatFunctions);
}

}  // namespace spl
