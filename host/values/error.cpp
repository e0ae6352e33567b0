#include "host/values/error.h"

namespace spl {

void fail(std::string message, std::string hint) { throw SimpleError(std::move(message), std::move(hint)); }

void fail_arguments(std::string message, std::string hint) {
  SimpleError error(std::move(message), std::move(hint));
  error.error_class = ErrorClass::kArguments;
  throw error;
}

void fail_value(std::string message, std::string hint) {
  SimpleError error(std::move(message), std::move(hint));
  error.error_class = ErrorClass::kValue;
  throw error;
}

const StackEntry* user_entry(const SimpleError& error) {
  for (const StackEntry& entry : error.stack) {
    if (!entry.library) {
      return &entry;
    }
  }
  return error.stack.empty() ? nullptr : &error.stack.front();
}

}  // namespace spl
