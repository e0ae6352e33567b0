// repr(): the text of a value as code would write it.
#include <cstdio>

#include "host/syntax/utf8.h"
#include "host/values/nesting.h"
#include "host/values/object_hooks.h"
#include "host/values/objects.h"

namespace spl {

namespace {

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

std::string representations(const Elements& items) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "" : ", ") + representation(items[i]);
  }
  return text;
}

std::string representation_of_dict(Dict& dict) {
  dict.compact();
  std::string text = "{";
  for (size_t i = 0; i < dict.entries.size(); ++i) {
    text += (i == 0 ? "" : ", ") + representation(dict.entries[i].key) + ": " +
            representation(dict.entries[i].value);
  }
  return text + "}";
}

}  // namespace

std::string in_ascii(const std::string& text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const std::string_view bytes = std::string_view(text).substr(at, utf8_step(text, at));
    at += bytes.size();
    const uint32_t code = utf8_code(bytes);
    char escape[16];
    std::snprintf(escape, sizeof(escape),
                  code < 0x100     ? "\\x%02x"
                  : code < 0x10000 ? "\\u%04x"
                                   : "\\U%08x",
                  code);
    result += code < 0x80 ? std::string(bytes) : escape;
  }
  return result;
}

std::string representation(Value v) {
  const Nesting nesting(200, "shown");
  if (v.is(Kind::kText)) {
    return quoted(text_of(v));
  }
  if (v.is(Kind::kArray)) {
    return "[" + representations(as_object<Array>(v)->items) + "]";
  }
  if (v.is(Kind::kTuple) && as_object<Tuple>(v)->names.empty()) {
    const auto& items = as_object<Tuple>(v)->items;
    return "(" + representations(items) + (items.size() == 1 ? ",)" : ")");
  }
  if (v.is(Kind::kDict)) {
    return representation_of_dict(*as_object<Dict>(v));
  }
  if (v.is(Kind::kEnumValue) && as_object<EnumValue>(v)->type->is_of_python) {
    const auto* value = as_object<EnumValue>(v);
    return "<" + name_of(value->type->name) + "." + name_of(value->info().name) + ": " +
           representation(value->info().value) + ">";
  }
  return v.is(Kind::kInstance) ? object_hooks().representation(v) : display(v);
}

}  // namespace spl
