// Libraries of the system that std modules open at their first use, so that other programs do not load them.
#pragma once

#include <initializer_list>
#include <string>

namespace spl {

class SystemLibrary {
 public:
  /// Opens the first of the system's files that exists, else that of a wheel, `bundled`. Without one, fails:
  /// `user` (std.regex) needs `title` (PCRE2, Debian package libpcre2-8-0).
  SystemLibrary(const char* user, const char* title, std::initializer_list<const char*> files,
                const char* bundled = nullptr);

  template <class Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(address_of(name));
  }

 private:
  bool opens(const std::string& file);
  void* address_of(const char* name) const;
  [[noreturn]] void fail_because(const std::string& why) const;

  const char* user_;
  const char* title_;
  std::string why_;  // the first file cannot be opened
  void* handle_ = nullptr;
};

}  // namespace spl
