// std.json.dumps: values as JSON, in the format of Python's json.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "host/builtins/embedding.h"
#include "host/builtins/json_externs.h"
#include "host/syntax/utf8.h"
#include "host/values/error.h"
#include "host/values/nesting.h"
#include "host/values/sized.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"
#include "host/vm/thread.h"

namespace spl {
namespace {

/// The one argument of rt_json_dumps: an array of the value, then of Python's parameters.
struct JsonSettings {
  Value value;
  bool is_pretty, sorts_keys, ensures_ascii, allows_nan;
  std::string indent, item_separator, key_separator;
  Value fallback;  // nil, or a function that returns what to write for a value of another type

  explicit JsonSettings(Value array)
      : value(element(array, 0)),
        is_pretty(!element(array, 1).is_nil()),
        sorts_keys(truthy(element(array, 2))),
        ensures_ascii(truthy(element(array, 3))),
        allows_nan(truthy(element(array, 4))),
        indent(is_pretty ? expect_text(element(array, 1), "json.dumps: indent") : ""),
        item_separator(expect_text(element(array, 5), "json.dumps: the separator")),
        key_separator(expect_text(element(array, 6), "json.dumps: the separator")),
        fallback(element(array, 7)) {}
};

class JsonWriter {
 public:
  JsonWriter(Thread& thread, const JsonSettings& settings) : thread_(thread), settings_(settings) {}

  std::string take() { return std::move(out_); }

  void write(Value v) {
    if (write_scalar(v)) {
      return;
    }
    const Nesting nesting(kMaxJsonDepth, "written as JSON");
    if (v.is(Kind::kArray)) {
      write_items(as_object<Array>(v)->items);
    } else if (v.is(Kind::kTuple)) {
      write_items(as_object<Tuple>(v)->items);
    } else if (v.is(Kind::kDict)) {
      write_dict(*as_object<Dict>(v));
    } else {
      write_other(v);
    }
  }

 private:
  bool write_scalar(Value v) {
    if (v.is(Kind::kText)) {
      write_text(text_of(v));
    } else if (v.is_bool()) {
      out_ += v.as_bool ? "true" : "false";
    } else if (v.is_float()) {
      write_float(v.as_float);
    } else if (v.tag == Tag::kFloat32) {
      write_float(to_number(v));
    } else if (v.is_int() || v.is_sized()) {
      out_ += display(v);
    } else if (is_none(v)) {
      out_ += "null";
    } else {
      return false;
    }
    return true;
  }

  void write_float(double number) {
    if (std::isfinite(number)) {
      out_ += display_float(number);
      return;
    }
    if (!settings_.allows_nan) {
      fail("json.dumps: Out of range float values are not JSON compliant, got " + display_float(number));
    }
    out_ += std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
  }

  void write_items(const Elements& items) {
    out_ += '[';
    ++depth_;
    for (size_t i = 0; i < items.size(); ++i) {
      begin_item(i == 0);
      write(items[i]);
    }
    end_items(items.empty(), ']');
  }

  void write_dict(const Dict& dict) {
    std::vector<std::pair<Value, Value>> pairs;
    pairs.reserve(dict.live);
    for (const Dict::Entry& entry : dict.entries) {
      if (!entry.key.is_missing()) {
        pairs.emplace_back(entry.key, entry.value);
      }
    }
    if (settings_.sorts_keys) {
      std::sort(pairs.begin(), pairs.end(),
                [](const auto& a, const auto& b) { return compare(a.first, b.first) < 0; });
    }
    out_ += '{';
    ++depth_;
    for (const auto& [key, value] : pairs) {
      begin_item(&key == &pairs.front().first);
      write_key(key);
      out_ += settings_.key_separator;
      write(value);
    }
    end_items(pairs.empty(), '}');
  }

  // As in Python, numbers, bools and nil become texts.
  void write_key(Value key) {
    if (key.is(Kind::kText)) {
      return write_text(text_of(key));
    }
    const size_t begin = out_.size();
    out_ += '"';
    if (!write_scalar(key)) {
      out_.resize(begin);
      fail("json.dumps: keys must be text, numbers, bool or nil, got " + type_name(key));
    }
    out_ += '"';
  }

  void write_other(Value v) {
    if (settings_.fallback.is_nil()) {
      fail("json.dumps: Object of type " + type_name(v) + " is not JSON serializable",
           "pass default: a function that returns what to write for it");
    }
    const Ref replacement = Ref::owned(thread_.call(settings_.fallback, &v, 1));
    write(replacement.get());
  }

  void begin_item(bool is_first) {
    if (++written_ % 256 == 0 && host_lock().wanted()) {
      safepoint();
    }
    if (!is_first) {
      out_ += settings_.item_separator;
    }
    begin_line();
  }
  void end_items(bool are_none, char close) {
    --depth_;
    if (!are_none) {
      begin_line();
    }
    out_ += close;
  }
  void begin_line() {
    if (settings_.is_pretty) {
      out_ += '\n';
      for (int i = 0; i < depth_; ++i) {
        out_ += settings_.indent;
      }
    }
  }

  void write_text(const std::string& text) {
    out_ += '"';
    size_t begin = 0;
    for (size_t at = 0; at < text.size();) {
      if (is_plain(text[at])) {
        ++at;
        continue;
      }
      out_.append(text, begin, at - begin);
      at += write_escaped(text, at);
      begin = at;
    }
    out_.append(text, begin);
    out_ += '"';
  }
  bool is_plain(char c) const {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != '"' && byte != '\\' && (byte < 0x7f || !settings_.ensures_ascii);
  }
  /// Returns the number of bytes that it has written.
  size_t write_escaped(const std::string& text, size_t at) {
    switch (text[at]) {
      case '"':
        out_ += "\\\"";
        return 1;
      case '\\':
        out_ += "\\\\";
        return 1;
      case '\n':
        out_ += "\\n";
        return 1;
      case '\r':
        out_ += "\\r";
        return 1;
      case '\t':
        out_ += "\\t";
        return 1;
      case '\b':
        out_ += "\\b";
        return 1;
      case '\f':
        out_ += "\\f";
        return 1;
      default:
        break;
    }
    const size_t size = utf8_step(text, at);
    if (size == 1 && static_cast<unsigned char>(text[at]) >= 0x80) {
      fail("json.dumps: the text is not valid UTF-8");
    }
    const uint32_t code = utf8_code(std::string_view(text).substr(at, size));
    if (code >= 0x10000) {
      write_unit(0xd800 + ((code - 0x10000) >> 10U));
      write_unit(0xdc00 + ((code - 0x10000) & 0x3ffU));
    } else {
      write_unit(code);
    }
    return size;
  }
  void write_unit(uint32_t unit) {
    static constexpr char kDigits[] = "0123456789abcdef";
    out_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) {
      out_ += kDigits[(unit >> static_cast<unsigned>(shift)) & 0xfU];
    }
  }

  Thread& thread_;
  const JsonSettings& settings_;
  std::string out_;
  int depth_ = 0;
  size_t written_ = 0;  // items
};

constexpr NativeEntry kJsonExterns[] = {
    {"rt_json_loads", json_loads, 2, 2},
    {"rt_json_dumps", json_dumps, 1, 1},
    {"rt_json_items", json_items, 1, 1},
};

}  // namespace

Value json_dumps(Thread& thread, Value* args, int) {
  const Ref kept = Ref::shared(args[0]);  // `default` may run other code
  const JsonSettings settings(kept.get());
  JsonWriter writer(thread, settings);
  writer.write(settings.value);
  return make_text(writer.take());
}

std::span<const NativeEntry> json_externs() { return kJsonExterns; }

}  // namespace spl
