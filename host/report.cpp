#include "host/report.h"

#include <utility>
#include <vector>

#include "host/syntax/parse.h"
#include "host/vm/failure.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

constexpr size_t kShownCalls = 20;  // at each end of a deep stack

std::string position_of(const StackEntry& entry) {
  return entry.file + ":" + std::to_string(entry.line) + ":" + std::to_string(entry.column);
}

// Calls a method of the error's payload. Returns nil if there is no such method, or if it fails: the report
// then lacks what it would add.
Ref call_payload(const SimpleError& error, const char* name) {
  Thread& thread = current_thread();
  const Method* method = thread.find_method(error.payload.get(), intern(name));
  if (method == nullptr) {
    return {};
  }
  try {
    return Ref::owned(thread.call_method_of(error.payload.get(), *method, nullptr, 0));
  } catch (const SimpleError&) {
    return {};
  }
}

// The hint of the host, or that of the payload, such as a TorchError.
std::string hint_of(const SimpleError& error) {
  if (!error.hint.empty()) {
    return error.hint;
  }
  const Ref text = call_payload(error, "hint");
  return text.get().is(Kind::kText) ? text_of(text.get()) : "";
}

std::string hint_line(const std::string& hint) { return hint.empty() ? "" : "  hint: " + hint + "\n"; }

std::string header(const SimpleError& error, const StackEntry& entry) {
  const SourceFile* file = entry.source;
  if (file == nullptr || entry.column == 0) {
    return entry.file + ":" + std::to_string(entry.line) + ": error: " + error.message + "\n" +
           hint_line(hint_of(error));
  }
  const SourceSpan span{file->id, line_start(file->text, entry.line) + entry.column - 1, entry.line,
                        entry.column, 1};
  return render({span, error.message, hint_of(error)}, *file);
}

// The payload's details, such as the traceback of a Python exception.
std::string details_of(const SimpleError& error) {
  const Ref text = call_payload(error, "details");
  return !text.get().is(Kind::kText) || text_of(text.get()).empty() ? "" : text_of(text.get()) + "\n";
}

struct Call {
  std::string shown;
  size_t left_out;
};

// The strings that a method of the error's payload returns.
std::vector<std::string> lines_of_payload(const SimpleError& error, const char* method) {
  std::vector<std::string> lines;
  const Ref found = call_payload(error, method);
  if (found.get().is(Kind::kArray)) {
    for (const Value line : as_object<Array>(found.get())->items) {
      lines.push_back(text_of(line));
    }
  }
  return lines;
}

// The notes, causes and group members of an exception of another language.
std::string related_of(const SimpleError& error) {
  std::string text;
  for (const std::string& line : lines_of_payload(error, "related")) {
    text += "  " + line + "\n";
  }
  return text;
}

// The frames of another language that the error passed through, most recent call first.
std::vector<Call> foreign_calls(const SimpleError& error) {
  std::vector<Call> calls;
  for (std::string& frame : lines_of_payload(error, "frames")) {
    calls.push_back({std::move(frame), 0});
  }
  return calls;
}

std::string calls_of(const std::vector<Call>& calls) {
  std::string lines = "  stack (most recent call first):\n";
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i == kShownCalls && calls.size() > 2 * kShownCalls) {
      size_t left_out = 0;
      for (; i < calls.size() - kShownCalls; ++i) {
        left_out += 1 + calls[i].left_out;
      }
      lines += "    … " + std::to_string(left_out) + " more calls\n";
    }
    lines += "    " + calls[i].shown + "\n";
  }
  return lines;
}

// The library's own calls are included only if `verbose`.
std::vector<Call> all_calls(const SimpleError& error, bool verbose) {
  std::vector<Call> calls = foreign_calls(error);
  for (const StackEntry& call : error.stack) {
    if (verbose || !call.library) {
      calls.push_back({call.function + " (" + position_of(call) + ")", call.left_out});
    }
  }
  return calls;
}

}  // namespace

std::optional<int> exit_code_of(const SimpleError& error) {
  Ref code = call_payload(error, "exit_code");
  if (!code.get().is_int()) {
    code = call_payload(error, "__exit_code__");  // of an exception of Python
  }
  return code.get().is_int() ? std::optional(static_cast<int>(code.get().as_int)) : std::nullopt;
}

std::string report_of(const SimpleError& error, bool verbose) {
  const StackEntry* entry = user_entry(error);
  if (entry == nullptr) {
    return "error: " + error.message + "\n" + hint_line(hint_of(error));
  }
  const std::vector<Call> calls = all_calls(error, verbose);
  // A stack of one call repeats the first line.
  return header(error, *entry) + related_of(error) + (calls.size() < 2 ? "" : calls_of(calls)) +
         (verbose ? details_of(error) : "");
}

std::string note_of(const SimpleError& error) {
  const StackEntry* entry = user_entry(error);
  return entry == nullptr ? "" : header(error, *entry) + calls_of(all_calls(error, false));
}

void note_shown(const SimpleError& error) { call_payload(error, "__shown__"); }

}  // namespace spl
