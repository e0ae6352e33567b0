// Methods that Python's strings have in addition to those of text_methods.cpp.
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "host/builtins/builtins.h"
#include "host/builtins/named_arguments.h"
#include "host/syntax/utf8.h"
#include "host/vm/thread.h"

namespace spl {

namespace python_text_methods {
namespace {

const std::string& self_text(Value* args) { return text_of(args[0]); }

bool is_upper(uint32_t code) { return utf8proc_isupper(static_cast<int32_t>(code)) != 0; }
bool is_lower(uint32_t code) { return utf8proc_islower(static_cast<int32_t>(code)) != 0; }
bool is_digit(uint32_t code) { return code >= '0' && code <= '9'; }

bool is_letter(uint32_t code) {
  const utf8proc_category_t category = utf8proc_category(static_cast<int32_t>(code));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

/// Calls `visit` with the code point and the bytes of each character, until it returns false.
template <class Visit>
void each_character(std::string_view text, Visit&& visit) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view bytes = text.substr(at, utf8_step(text, at));
    if (!visit(utf8_code(bytes), bytes)) {
      return;
    }
    at += bytes.size();
  }
}

/// Whether there is a letter with a case, and each such letter has the case.
bool has_only(std::string_view text, bool (*wanted)(uint32_t), bool (*other)(uint32_t)) {
  bool found = false, holds = true;
  each_character(text, [&](uint32_t code, std::string_view) {
    found |= wanted(code);
    holds = !other(code);
    return holds;
  });
  return found && holds;
}

Value is_upper_text(Thread&, Value* args, int) {
  return Value::boolean(has_only(self_text(args), is_upper, is_lower));
}
Value is_lower_text(Thread&, Value* args, int) {
  return Value::boolean(has_only(self_text(args), is_lower, is_upper));
}

// Upper case begins words, and lower case continues them.
Value is_title(Thread&, Value* args, int) {
  bool in_word = false, found = false, holds = true;
  each_character(self_text(args), [&](uint32_t code, std::string_view) {
    const bool upper = is_upper(code), cased = upper || is_lower(code);
    holds = !cased || upper != in_word;
    found |= cased;
    in_word = cased;
    return holds;
  });
  return Value::boolean(found && holds);
}

Value is_identifier(Thread&, Value* args, int) {
  bool is_first = true, holds = !self_text(args).empty();
  each_character(self_text(args), [&](uint32_t code, std::string_view) {
    holds = code == '_' || is_letter(code) || (!is_first && is_digit(code));
    is_first = false;
    return holds;
  });
  return Value::boolean(holds);
}

Value is_ascii(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  return Value::boolean(std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; }));
}

Value is_printable(Thread&, Value* args, int) {
  bool holds = true;
  each_character(self_text(args), [&](uint32_t code, std::string_view) {
    const utf8proc_category_t category = utf8proc_category(static_cast<int32_t>(code));
    holds = code == ' ' || (category != UTF8PROC_CATEGORY_CN && category < UTF8PROC_CATEGORY_ZS);
    return holds;
  });
  return Value::boolean(holds);
}

Value is_decimal(Thread&, Value* args, int) {
  const std::string& text = self_text(args);
  return Value::boolean(!text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(static_cast<unsigned char>(c));
  }));
}

Value swapcase(Thread&, Value* args, int) {
  std::string changed;
  each_character(self_text(args), [&](uint32_t code, std::string_view bytes) {
    const auto character = static_cast<int32_t>(code);
    if (is_upper(code) || is_lower(code)) {
      append_utf8(changed, static_cast<uint32_t>(is_upper(code) ? utf8proc_tolower(character)
                                                                : utf8proc_toupper(character)));
    } else {
      changed += bytes;
    }
    return true;
  });
  return make_text(std::move(changed));
}

// Unicode's full case folding: ß becomes ss. Bytes that are not UTF-8 stay.
Value casefold(Thread&, Value* args, int) {
  std::string folded;
  each_character(self_text(args), [&](uint32_t code, std::string_view bytes) {
    utf8proc_uint8_t* mapped = nullptr;
    const utf8proc_ssize_t length =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(bytes.data()),
                     static_cast<utf8proc_ssize_t>(bytes.size()), &mapped, UTF8PROC_CASEFOLD);
    folded += length < 0 || code == 0
                  ? bytes
                  : std::string_view(reinterpret_cast<char*>(mapped), static_cast<size_t>(length));
    std::free(mapped);
    return true;
  });
  return make_text(std::move(folded));
}

// Spaces in place of tabs, up to the next multiple of the width in the line.
Value expandtabs(Thread&, Value* args, int count) {
  const int64_t width = count > 1 ? to_integer(args[1]) : 8;
  constexpr int64_t kMaxWidth = INT64_C(1) << 20;
  if (width > kMaxWidth) {
    fail("expandtabs(): the width must be at most " + std::to_string(kMaxWidth) + ", got " +
         std::to_string(width));
  }
  std::string expanded;
  int64_t column = 0;
  each_character(self_text(args), [&](uint32_t code, std::string_view bytes) {
    if (code != '\t') {
      expanded += bytes;
      column = code == '\n' || code == '\r' ? 0 : column + 1;
    } else if (width > 0) {
      const int64_t spaces = width - column % width;
      expanded.append(static_cast<size_t>(spaces), ' ');
      column += spaces;
    }
    return true;
  });
  return make_text(std::move(expanded));
}

// The parts from the end on; the first one is what more splits would divide.
Value rsplit(Thread&, Value* args, int count) {
  std::string_view text = self_text(args);
  const int64_t limit = count > 2 ? to_integer(args[2]) : -1;
  const bool at_space = count == 1 || is_none(args[1]);
  const std::string separator = at_space ? "" : expect_text(args[1], "the separator of rsplit()");
  if (!at_space && separator.empty()) {
    fail("rsplit(): the separator must not be empty");
  }
  constexpr std::string_view kSpaces = " \t\n\r\v\f";
  const auto trim = [&] {
    const size_t last = text.find_last_not_of(kSpaces);
    text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  };
  std::vector<Value> parts;
  const auto may_split = [&] { return limit < 0 || parts.size() < static_cast<size_t>(limit); };
  if (at_space) {
    trim();
  }
  while (may_split()) {
    const size_t at = at_space ? text.find_last_of(kSpaces) : text.rfind(separator);
    if (at == std::string_view::npos) {
      break;
    }
    parts.push_back(make_text(std::string(text.substr(at + (at_space ? 1 : separator.size())))));
    text = text.substr(0, at);
    if (at_space) {
      trim();
    }
  }
  if (!at_space || !text.empty()) {
    parts.push_back(make_text(std::string(text)));
  }
  std::reverse(parts.begin(), parts.end());
  return make_array(std::move(parts));
}

// rsplit(sep: …, maxsplit: …). args: the text, the names, the others.
Value rsplit_with(Thread& thread, Value* args, int count) {
  const NamedArguments named("rsplit", args[1], {"sep", "maxsplit"});
  Value all[] = {args[0], named.get("sep"), named.get("maxsplit")};
  std::copy(args + 2, args + count, all + 1);
  return rsplit(thread, all, all[2].is_nil() ? 2 : 3);
}

Value splitlines(Thread&, Value* args, int count) {
  const std::string_view text = self_text(args);
  const bool keeps_ends = count > 1 && truthy(args[1]);
  std::vector<Value> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of("\n\r\v\f", at), text.size());
    const size_t next = end == text.size() ? end : end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
    lines.push_back(make_text(std::string(text.substr(at, (keeps_ends ? next : end) - at))));
    at = next;
  }
  return make_array(std::move(lines));
}
Value splitlines_with(Thread& thread, Value* args, int count) {  // args: the text, the names, the others
  const NamedArguments named("splitlines", args[1], {"keepends"});
  Value all[] = {args[0], count > 2 ? args[2] : named.get("keepends")};
  return splitlines(thread, all, 2);
}

Value rindex(Thread& thread, Value* args, int count) {
  static const Symbol rfind = intern("rfind");
  const Value found = thread.call_method(args[0], rfind, args + 1, count - 1);
  if (!found.is_int()) {
    fail("rindex(): substring not found: " + display(args[1]));
  }
  return found;
}

// A dict from code points to code points, texts or nil, as str.maketrans() makes.
Value translate(Thread&, Value* args, int) {
  if (!args[1].is(Kind::kDict)) {
    fail("translate(): the table must be a dict, got " + type_name(args[1]), "str.maketrans() makes one");
  }
  std::string translated;
  each_character(self_text(args), [&](uint32_t code, std::string_view bytes) {
    const Value* found = as_object<Dict>(args[1])->find(Value::integer(code));
    if (found == nullptr) {
      translated += bytes;
    } else if (found->is_int()) {
      append_utf8(translated, static_cast<uint32_t>(found->as_int));
    } else if (!is_none(*found)) {
      translated += expect_text(*found, "a value of the table of translate()");
    }
    return true;
  });
  return make_text(std::move(translated));
}

// str.maketrans(table), str.maketrans(from, to), str.maketrans(from, to, removed).
Value maketrans(Thread&, Value* args, int count) {
  const Ref table = Ref::owned(Value::object(new Dict()));
  Dict& entries = *as_object<Dict>(table.get());
  if (count == 1) {
    if (!args[0].is(Kind::kDict)) {
      fail("maketrans(): one argument must be a dict, got " + type_name(args[0]));
    }
    for (const auto& entry : as_object<Dict>(args[0])->entries) {
      if (!entry.key.is_missing()) {
        const bool is_text = entry.key.is(Kind::kText);
        entries.set(is_text ? Value::integer(utf8_code(text_of(entry.key))) : retained(entry.key),
                    retained(entry.value));
      }
    }
    return retained(table.get());
  }
  std::vector<uint32_t> codes;
  each_character(expect_text(args[1], "the second argument of maketrans()"),
                 [&](uint32_t code, std::string_view) { return codes.push_back(code), true; });
  const std::string& from = expect_text(args[0], "the first argument of maketrans()");
  if (utf8_length(from) != codes.size()) {
    fail("maketrans(): the first two arguments must have equal length");
  }
  size_t at = 0;
  each_character(from, [&](uint32_t code, std::string_view) {
    entries.set(Value::integer(code), Value::integer(codes[at++]));
    return true;
  });
  if (count > 2) {
    each_character(expect_text(args[2], "the third argument of maketrans()"),
                   [&](uint32_t code, std::string_view) {
                     entries.set(Value::integer(code), Value());
                     return true;
                   });
  }
  return retained(table.get());
}

const NativeEntry kMethods[] = {
    {"rsplit", rsplit, 1, 3, rsplit_with},
    {"splitlines", splitlines, 1, 2, splitlines_with},
    {"rindex", rindex, 2, 4},
    {"isupper", is_upper_text, 1, 1},
    {"islower", is_lower_text, 1, 1},
    {"istitle", is_title, 1, 1},
    {"isidentifier", is_identifier, 1, 1},
    {"isascii", is_ascii, 1, 1},
    {"isprintable", is_printable, 1, 1},
    {"isdecimal", is_decimal, 1, 1},
    {"isnumeric", is_decimal, 1, 1},
    {"swapcase", swapcase, 1, 1},
    {"casefold", casefold, 1, 1},
    {"expandtabs", expandtabs, 1, 2},
    {"translate", translate, 2, 2},
};

}  // namespace
}  // namespace python_text_methods

void install_python_text_methods() {
  static const NativeEntry functions[] = {{"maketrans", python_text_methods::maketrans, 1, 3}};
  add_methods(Kind::kText, python_text_methods::kMethods);
  add_functions_of_type("str", Kind::kText, functions);
  add_functions_of_type("text", Kind::kText, functions);
}

}  // namespace spl
