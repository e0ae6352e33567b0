#include "host/builtins/regex_externs.h"

#include <algorithm>
#include <memory>

#include "host/builtins/builtins.h"
#include "host/builtins/numbered_objects.h"
#include "host/builtins/regex.h"
#include "host/values/error.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"

namespace spl {
namespace {

using Regexes = NumberedObjects<Regex>;

std::shared_ptr<Regex> regex_of(Value number) {
  return Regexes::all().get(number, "std.regex: no such pattern");
}

void check_interrupts(size_t count) {
  if (count % 256 == 255 && host_lock().wanted()) {
    safepoint();
  }
}

Value spans_value(RegexSubject& subject, const size_t* spans, size_t count) {
  std::vector<Value> items;
  items.reserve(2 * count);
  for (size_t i = 0; i < 2 * count; ++i) {
    items.push_back(Value::integer(spans[i] == Regex::kUnset ? -1 : subject.character_at(spans[i])));
  }
  return make_array(std::move(items));
}

// [number, flags, parents of groups, whether a group is in an assertion, name, group, name, group...]
Value regex_compile(Thread&, Value* args, int) {
  const auto regex = std::make_shared<Regex>(expect_text(args[0], "regex.compile: the pattern"),
                                             static_cast<uint32_t>(to_integer(args[1])));
  const RegexTranslation& syntax = regex->syntax();
  std::vector<Value> parents;
  for (const int parent : syntax.parents) {
    parents.push_back(Value::integer(parent));
  }
  std::vector<Value> parts = {Regexes::all().insert(regex), Value::integer(syntax.flags),
                              make_array(std::move(parents)), Value::boolean(syntax.has_group_in_assertion)};
  for (const auto& [name, group] : syntax.names) {
    parts.push_back(make_text(name));
    parts.push_back(Value::integer(group));
  }
  return make_array(std::move(parts));
}

Value regex_free(Thread&, Value* args, int) {
  Regexes::all().remove(args[0]);
  return Value();
}

// (number, text, pos, endpos, mode): the spans of the groups; empty if there is no match.
Value regex_find(Thread&, Value* args, int) {
  const auto regex = regex_of(args[0]);
  RegexSubject subject(args[1], to_integer(args[2]), to_integer(args[3]));
  const size_t* const spans =
      regex->find(subject, subject.begin(), static_cast<RegexMode>(to_integer(args[4])));
  return spans == nullptr ? make_array({}) : spans_value(subject, spans, regex->span_count());
}

// (number, text, pos, endpos, rejects_empty, limit): the spans of the next matches.
Value regex_scan(Thread&, Value* args, int) {
  const auto regex = regex_of(args[0]);
  RegexSubject subject(args[1], to_integer(args[2]), to_integer(args[3]));
  RegexMatches matches(*regex, subject, truthy(args[4]));
  const auto limit = static_cast<size_t>(to_integer(args[5]));
  std::vector<Value> found;
  while (found.size() < limit) {
    const size_t* const spans = matches.next();
    if (spans == nullptr) {
      break;
    }
    found.push_back(spans_value(subject, spans, regex->span_count()));
  }
  return make_array(std::move(found));
}

Value group_text(const RegexSubject& subject, const size_t* spans, size_t group) {
  return spans[2 * group] == Regex::kUnset ? make_text("")
                                           : subject.part(spans[2 * group], spans[2 * group + 1]);
}

Value found_value(const RegexSubject& subject, const size_t* spans, size_t count) {
  if (count <= 2) {
    return group_text(subject, spans, count - 1);
  }
  std::vector<Value> groups;
  for (size_t group = 1; group < count; ++group) {
    groups.push_back(group_text(subject, spans, group));
  }
  return make_tuple(std::move(groups));
}

// (number, text, pos, endpos)
Value regex_find_all(Thread&, Value* args, int) {
  const auto regex = regex_of(args[0]);
  RegexSubject subject(args[1], to_integer(args[2]), to_integer(args[3]));
  RegexMatches matches(*regex, subject);
  const Ref found = Ref::owned(make_array({}));
  auto& items = as_object<Array>(found.get())->items;
  while (const size_t* const spans = matches.next()) {
    items.push_back(found_value(subject, spans, regex->span_count()));
    check_interrupts(items.size());
  }
  return retained(found.get());
}

// (number, text, maxsplit); 0 is no limit.
Value regex_split(Thread&, Value* args, int) {
  const auto regex = regex_of(args[0]);
  RegexSubject subject(args[1], 0, INT64_MAX);
  RegexMatches matches(*regex, subject);
  const int64_t limit = to_integer(args[2]);
  const Ref found = Ref::owned(make_array({}));
  auto& items = as_object<Array>(found.get())->items;
  size_t last = 0;
  for (int64_t count = 0; limit == 0 || count < limit; ++count) {
    const size_t* const spans = matches.next();
    if (spans == nullptr) {
      break;
    }
    items.push_back(subject.part(last, spans[0]));
    for (size_t group = 1; group < regex->span_count(); ++group) {
      const bool is_set = spans[2 * group] != Regex::kUnset;
      items.push_back(is_set ? group_text(subject, spans, group) : Value());
    }
    last = spans[1];
    check_interrupts(static_cast<size_t>(count));
  }
  items.push_back(subject.part(last, subject.end()));
  return retained(found.get());
}

// (number, text, replacement, count): the text and the number of replacements. A count of 0 is no limit.
Value regex_sub(Thread&, Value* args, int) {
  const auto regex = regex_of(args[0]);
  RegexSubject subject(args[1], 0, INT64_MAX);
  const RegexTemplate pieces =
      parse_regex_template(expect_text(args[2], "regex.sub: the replacement"), regex->syntax());
  RegexMatches matches(*regex, subject);
  const int64_t limit = to_integer(args[3]);
  std::string out;
  size_t last = 0;
  int64_t count = 0;
  for (; limit == 0 || count < limit; ++count) {
    const size_t* const spans = matches.next();
    if (spans == nullptr) {
      break;
    }
    out += subject.content().substr(last, spans[0] - last);
    for (const auto& [text, group] : pieces) {
      out += text;
      const size_t* const span = group < 0 ? nullptr : spans + 2 * static_cast<size_t>(group);
      if (span != nullptr && span[0] != Regex::kUnset) {
        out += subject.content().substr(span[0], span[1] - span[0]);
      }
    }
    last = spans[1];
    check_interrupts(static_cast<size_t>(count));
  }
  out += subject.content().substr(last);
  return make_array({make_text(std::move(out)), Value::integer(count)});
}

// (number, replacement): text, group, text, group...; -1 is no group.
Value regex_template(Thread&, Value* args, int) {
  const auto regex = regex_of(args[0]);
  std::vector<Value> parts;
  for (const auto& [text, group] :
       parse_regex_template(expect_text(args[1], "regex.sub: the replacement"), regex->syntax())) {
    parts.push_back(make_text(text));
    parts.push_back(Value::integer(group));
  }
  return make_array(std::move(parts));
}

constexpr NativeEntry kRegexExterns[] = {
    {"rt_regex_compile", regex_compile, 2, 2},   {"rt_regex_free", regex_free, 1, 1},
    {"rt_regex_find", regex_find, 5, 5},         {"rt_regex_scan", regex_scan, 6, 6},
    {"rt_regex_find_all", regex_find_all, 4, 4}, {"rt_regex_split", regex_split, 3, 3},
    {"rt_regex_sub", regex_sub, 4, 4},           {"rt_regex_template", regex_template, 2, 2},
};

}  // namespace

std::span<const NativeEntry> regex_externs() { return kRegexExterns; }

}  // namespace spl
