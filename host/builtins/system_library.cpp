#include "host/builtins/system_library.h"

#include <dlfcn.h>

#include <algorithm>

#include "host/installation.h"
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

SystemLibrary::SystemLibrary(const char* user, const char* title, std::initializer_list<const char*> files,
                             const char* bundled)
    : user_(user), title_(title) {
  const bool is_opened =
      std::any_of(files.begin(), files.end(), [&](const char* file) { return opens(file); });
  if (!is_opened && (bundled == nullptr || !opens(installation_folder() + "/lib/" + bundled))) {
    fail_because(why_);
  }
}

bool SystemLibrary::opens(const std::string& file) {
  handle_ = dlopen(file.c_str(), kAlone);
  if (handle_ == nullptr && why_.empty()) {
    const char* const error = dlerror();
    why_ = error == nullptr ? "it cannot be opened" : error;
  }
  return handle_ != nullptr;
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
