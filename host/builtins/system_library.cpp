#include "host/builtins/system_library.h"

#include <dlfcn.h>

#include "host/values/error.h"

namespace spl {
namespace {

// RTLD_DEEPBIND binds a library to its own functions before those of another version that the process has.
// The address sanitizer does not support the flag.
#ifdef __SANITIZE_ADDRESS__
constexpr int kAlone = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int kAlone = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

}  // namespace

SystemLibrary::SystemLibrary(const char* user, const char* title, std::initializer_list<const char*> files)
    : user_(user), title_(title) {
  std::string why;
  for (const char* const file : files) {
    handle_ = dlopen(file, kAlone);
    if (handle_ != nullptr) {
      return;
    }
    const char* const error = dlerror();
    why = why.empty() && error != nullptr ? error : why;
  }
  fail_because(why);
}

void* SystemLibrary::address_of(const char* name) const {
  void* const address = dlsym(handle_, name);
  if (address == nullptr) {
    fail_because(std::string("missing function ") + name);
  }
  return address;
}

void SystemLibrary::fail_because(const std::string& why) const {
  fail(std::string(user_) + " needs " + title_ + ": " + why);
}

}  // namespace spl
