#include "host/tokenizers/pattern.h"

#include <algorithm>
#include <array>

#include "host/builtins/pcre2_library.h"
#include "host/syntax/utf8.h"

namespace spl::tokenizers {
namespace {

constexpr size_t kJitStack = size_t{1} << 20U;

/// What a thread needs to run patterns.
struct Matcher {
  pcre2_match_data_8* data = pcre2().match_data_create_for(16, nullptr);
  pcre2_match_context_8* context = pcre2().match_context_create(nullptr);
  pcre2_jit_stack_8* stack = pcre2().jit_stack_create(size_t{1} << 15U, kJitStack, nullptr);
  Matcher() { pcre2().jit_stack_assign(context, nullptr, stack); }
  ~Matcher() {
    pcre2().jit_stack_free(stack);
    pcre2().match_context_free(context);
    pcre2().match_data_free(data);
  }
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;
};

Matcher& matcher() {
  thread_local Matcher of_thread;
  return of_thread;
}

std::string pcre2_message(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2().get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

struct Pattern::Program {
  std::string expression;
  pcre2_code_8* code = nullptr;
  Program() = default;
  ~Program() { pcre2().code_free(code); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
};

Pattern::Pattern(const std::string& expression, const std::string& translated, uint32_t options,
                 const std::string& place) {
  auto program = std::make_shared<Program>();
  program->expression = expression;
  int code = 0;
  PCRE2_SIZE offset = 0;
  program->code = pcre2().compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(), options,
                                  &code, &offset, pcre2().compile_context);
  if (program->code == nullptr) {
    fail_broken(place, "invalid regular expression '" + expression + "': " + pcre2_message(code));
  }
  pcre2().jit_compile(program->code, PCRE2_JIT_COMPLETE);  // without JIT, the interpreter runs the pattern
  program_ = std::move(program);
}

Pattern Pattern::regex(const std::string& expression, const std::string& place) {
  return {expression, translated_regex(expression, place), PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, place};
}

Pattern Pattern::literal(const std::string& text, const std::string& place) {
  if (text.empty()) {
    fail_unsupported(place, "an empty pattern is not supported");
  }
  return {text, text, PCRE2_UTF | PCRE2_LITERAL, place};
}

Pattern Pattern::of_field(const Json& value, const std::string& place) {
  Fields fields(value, place);
  const bool is_regex = fields.find("Regex") != nullptr;
  const char* const name = is_regex ? "Regex" : "String";
  const std::string text = fields.text(name);
  fields.finish();
  return is_regex ? regex(text, fields.place_of(name)) : literal(text, fields.place_of(name));
}

bool Pattern::matches_empty() const {
  uint32_t answer = 0;
  pcre2().pattern_info(program_->code, PCRE2_INFO_MATCHEMPTY, &answer);
  return answer != 0;
}

void Pattern::find_all(std::string_view text, std::vector<Match>& out) const {
  Matcher& with = matcher();
  const auto* const subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  size_t done = 0, from = 0;  // an empty match after another match moves `from` only
  size_t last_end = SIZE_MAX;
  while (from <= text.size()) {
    const int found = pcre2().match(program_->code, subject, text.size(), from, PCRE2_NO_UTF_CHECK, with.data,
                                    with.context);
    if (found == PCRE2_ERROR_NOMATCH) {
      break;
    }
    if (found < 0) {
      throw Error(ErrorKind::kInvalidArgument,
                  "regular expression '" + program_->expression + "': " + pcre2_message(found));
    }
    const PCRE2_SIZE* const ends = pcre2().get_ovector(with.data);
    const size_t begin = ends[0], end = ends[1];
    if (begin == end && end == last_end) {
      from = from < text.size() ? from + utf8_step(text, from) : from + 1;
      continue;
    }
    if (done != begin) {
      out.push_back({done, begin, false});
    }
    out.push_back({begin, end, true});
    done = from = last_end = end;
  }
  if (done != text.size()) {
    out.push_back({done, text.size(), false});
  }
}

SplitBehavior split_behavior(Fields& fields) {
  return static_cast<SplitBehavior>(fields.choice(
      "behavior", {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"}));
}

namespace {

void merge_contiguous(std::vector<Match>& matches) {
  size_t kept = 0;
  bool previous = false;
  for (const Match& match : matches) {
    if (match.is_match == previous && kept > 0) {
      matches[kept - 1].end = match.end;
    } else {
      matches[kept++] = match;
    }
    previous = match.is_match;
  }
  matches.resize(kept);
}

void merge_with_previous(std::vector<Match>& matches) {
  size_t kept = 0;
  bool previous = false;
  for (const Match& match : matches) {
    if (match.is_match && !previous && kept > 0) {
      matches[kept - 1].end = match.end;
    } else {
      matches[kept++] = match;
    }
    previous = match.is_match;
  }
  matches.resize(kept);
}

void merge_with_next(std::vector<Match>& matches) {
  std::vector<Match> kept;
  bool previous = false;
  for (auto match = matches.rbegin(); match != matches.rend(); ++match) {
    if (match->is_match && !previous && !kept.empty()) {
      kept.back().begin = match->begin;
    } else {
      kept.push_back(*match);
    }
    previous = match->is_match;
  }
  matches.assign(kept.rbegin(), kept.rend());
}

}  // namespace

void apply_behavior(std::vector<Match>& matches, SplitBehavior behavior) {
  switch (behavior) {
    case SplitBehavior::kRemoved:
      matches.erase(std::remove_if(matches.begin(), matches.end(), [](const Match& m) { return m.is_match; }),
                    matches.end());
      break;
    case SplitBehavior::kIsolated:
      break;
    case SplitBehavior::kContiguous:
      merge_contiguous(matches);
      break;
    case SplitBehavior::kMergedWithPrevious:
      merge_with_previous(matches);
      break;
    case SplitBehavior::kMergedWithNext:
      merge_with_next(matches);
      break;
  }
}

}  // namespace spl::tokenizers
