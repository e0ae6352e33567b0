#include "core_libtorch/events/encoder_library.h"

#include <dlfcn.h>

#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::core::events {
namespace {

constexpr const char* kName = "libsimple_torch_events.so";

// RTLD_DEEPBIND makes the library bind to its own libprotobuf before a global one, which may have another
// version. The address sanitizer does not support the flag.
#ifdef __SANITIZE_ADDRESS__
constexpr int kAlone = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int kAlone = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

/// The folder of the library or program that contains this code.
std::string own_folder() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&encoder), &here) == 0) {
    return "";
  }
  const std::string file = here.dli_fname;
  const size_t end = file.rfind('/');
  return end == std::string::npos ? "" : file.substr(0, end + 1);
}

EncoderApi opened() {
  const std::string file = own_folder() + kName;
  void* library = dlopen(file.c_str(), kAlone);
  if (library == nullptr) {
    throw Error(ErrorKind::kUnavailable,
                std::string("TensorBoard events require libprotobuf: ") + dlerror() +
                    "; install it (Debian: libprotobuf-dev, protobuf-compiler), then bin/simple build");
  }
  auto* open =
      reinterpret_cast<decltype(&simple_torch_events_open)>(dlsym(library, "simple_torch_events_open"));
  EncoderApi api{};
  if (open == nullptr || open(kEncoderVersion, &api) != 0) {
    throw Error(ErrorKind::kUnavailable, file + " has another version; rebuild it: bin/simple build");
  }
  return api;
}

}  // namespace

const EncoderApi& encoder() {
  static const EncoderApi api = opened();
  return api;
}

}  // namespace simple_torch::core::events
