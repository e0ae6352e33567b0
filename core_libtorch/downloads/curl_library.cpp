#include "core_libtorch/downloads/curl_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::core::downloads {
namespace {

// RTLD_DEEPBIND makes libcurl bind to its own functions before those of a global libcurl. TensorFlow's
// library exports another version, and a mix of both corrupts memory. The address sanitizer does not support
// the flag.
#ifdef __SANITIZE_ADDRESS__
constexpr int kAlone = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int kAlone = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

[[noreturn]] void fail(const std::string& why) {
  throw Error(ErrorKind::kUnavailable,
              "downloads require libcurl (libcurl.so.4; Debian package libcurl4): " + why);
}

/// The library of a wheel that brings its own libcurl: libsimple_torch_curl.so next to this code.
std::string bundled() {
  Dl_info here{};
  const bool is_known = dladdr(reinterpret_cast<void*>(&curl), &here) != 0 && here.dli_fname != nullptr;
  const std::string file = is_known ? here.dli_fname : "";
  return file.substr(0, file.rfind('/') + 1) + "libsimple_torch_curl.so";
}

/// The system's libcurl, which knows the system's certificates, else that of the wheel.
void* opened() {
  std::string why;
  for (const std::string& name :
       {std::string("libcurl.so.4"), std::string("libcurl-gnutls.so.4"), bundled()}) {
    if (void* const library = dlopen(name.c_str(), kAlone)) {
      return library;
    }
    const char* const error = dlerror();
    why = why.empty() && error != nullptr ? error : why;
  }
  fail(why.empty() ? "it cannot be opened" : why);
}

template <class Function>
void find(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    fail(std::string("missing function ") + name);
  }
}

CurlLibrary loaded() {
  void* const library = opened();
  decltype(&::curl_global_init) global_init = nullptr;
  find(library, global_init, "curl_global_init");
  CurlLibrary made{};
  find(library, made.easy_init, "curl_easy_init");
  find(library, made.easy_setopt, "curl_easy_setopt");
  find(library, made.easy_getinfo, "curl_easy_getinfo");
  find(library, made.easy_strerror, "curl_easy_strerror");
  find(library, made.easy_cleanup, "curl_easy_cleanup");
  find(library, made.multi_init, "curl_multi_init");
  find(library, made.multi_add_handle, "curl_multi_add_handle");
  find(library, made.multi_remove_handle, "curl_multi_remove_handle");
  find(library, made.multi_perform, "curl_multi_perform");
  find(library, made.multi_poll, "curl_multi_poll");
  find(library, made.multi_info_read, "curl_multi_info_read");
  find(library, made.multi_strerror, "curl_multi_strerror");
  find(library, made.multi_cleanup, "curl_multi_cleanup");
  if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    fail("curl_global_init failed");
  }
  return made;
}

}  // namespace

const CurlLibrary& curl() {
  static const CurlLibrary library = loaded();
  return library;
}

const char* certificate_file() {
  for (const char* const name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* const file = std::getenv(name);
    if (file != nullptr && *file != '\0') {
      return file;
    }
  }
  return nullptr;
}

}  // namespace simple_torch::core::downloads
