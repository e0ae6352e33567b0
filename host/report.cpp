#include "report.h"

#include <vector>

#include "builtins/failure.h"
#include "modules/loader.h"
#include "syntax/parse.h"
#include "vm/thread.h"

namespace spl {

namespace {

constexpr size_t kShownCalls = 20;  // at each end of a long stack

// Where a line begins in its file; the file's end for a line it does not have.
uint32_t offset_of(const std::string& text, uint32_t line) {
  size_t at = 0;
  for (uint32_t i = 1; i < line; ++i) {
    at = text.find('\n', at);
    if (at == std::string::npos)
      return static_cast<uint32_t>(text.size());
    ++at;
  }
  return static_cast<uint32_t>(at);
}

std::string place_of(const StackEntry& entry) {
  return entry.file + ":" + std::to_string(entry.line) + ":" + std::to_string(entry.column);
}

std::string headed(const SimpleError& error, const StackEntry& entry) {
  const SourceFile* file = loaded_source(entry.file);
  if (file == nullptr || entry.column == 0)
    return entry.file + ":" + std::to_string(entry.line) + ": error: " + error.message + "\n" +
           (error.hint.empty() ? "" : "  hint: " + error.hint + "\n");
  const SourceSpan span{file->id, offset_of(file->text, entry.line) + entry.column - 1, entry.line,
                        entry.column, 1};
  return render({span, error.message, error.hint}, *file);
}

// What the failure's payload tells beyond its message: the traceback of a Python exception, say.
std::string details_of(const SimpleError& error) {
  static const Symbol details = intern("details");
  Thread& thread = current_thread();
  const Method* method = thread.find_method(error.payload.get(), details);
  if (method == nullptr)
    return "";
  const Ref text = Ref::owned(thread.call_method_of(error.payload.get(), *method, nullptr, 0));
  return text_of(text.get()).empty() ? "" : text_of(text.get()) + "\n";
}

// A stack of one call says nothing that the first line has not said.
std::string calls_of(const std::vector<const StackEntry*>& calls) {
  if (calls.size() < 2)
    return "";
  std::string told = "  calls, innermost first:\n";
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i == kShownCalls && calls.size() > 2 * kShownCalls) {
      size_t left_out = 0;
      for (; i < calls.size() - kShownCalls; ++i)
        left_out += 1 + calls[i]->left_out;
      told += "    … " + std::to_string(left_out) + " more\n";
    }
    told += "    " + calls[i]->function + " (" + place_of(*calls[i]) + ")\n";
  }
  return told;
}

}  // namespace

std::string report_of(const SimpleError& error, bool verbose) {
  const StackEntry* entry = user_entry(error);
  if (entry == nullptr)
    return "error: " + error.message + "\n" + (error.hint.empty() ? "" : "  hint: " + error.hint + "\n");
  std::vector<const StackEntry*> calls;
  for (const StackEntry& call : error.stack)
    if (verbose || !call.library)
      calls.push_back(&call);
  return headed(error, *entry) + calls_of(calls) + (verbose ? details_of(error) : "");
}

}  // namespace spl
