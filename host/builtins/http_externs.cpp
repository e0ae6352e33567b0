#include "host/builtins/http_externs.h"

#define CURL_DISABLE_TYPECHECK  // libcurl's macros that replace functions
#include <curl/curl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "host/builtins/builtins.h"
#include "host/builtins/embedding.h"
#include "host/builtins/system_library.h"
#include "host/values/error.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"

namespace spl {
namespace {

struct CurlLibrary {
  decltype(&curl_global_init) global_init;
  decltype(&curl_easy_init) easy_init;
  decltype(&curl_easy_setopt) set_option;
  decltype(&curl_easy_perform) perform;
  decltype(&curl_easy_getinfo) get_info;
  decltype(&curl_easy_strerror) error_message;
  decltype(&curl_easy_cleanup) cleanup;
  decltype(&curl_slist_append) list_append;
  decltype(&curl_slist_free_all) list_free;
};

CurlLibrary opened_curl() {
  const SystemLibrary library("std.http", "libcurl (libcurl.so.4; Debian package libcurl4)",
                              {"libcurl.so.4", "libcurl-gnutls.so.4"}, "libsimple_torch_curl.so");
  CurlLibrary made{};
  library.find(made.global_init, "curl_global_init");
  library.find(made.easy_init, "curl_easy_init");
  library.find(made.set_option, "curl_easy_setopt");
  library.find(made.perform, "curl_easy_perform");
  library.find(made.get_info, "curl_easy_getinfo");
  library.find(made.error_message, "curl_easy_strerror");
  library.find(made.cleanup, "curl_easy_cleanup");
  library.find(made.list_append, "curl_slist_append");
  library.find(made.list_free, "curl_slist_free_all");
  if (made.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    fail("http: libcurl cannot start");
  }
  return made;
}
const CurlLibrary& curl() {
  static const CurlLibrary library = opened_curl();
  return library;
}

struct EasyCleanup {
  void operator()(CURL* easy) const { curl().cleanup(easy); }
};
struct ListFree {
  void operator()(curl_slist* list) const { curl().list_free(list); }
};
struct FileClose {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// One request and its response.
class Exchange {
 public:
  Exchange() : easy_(curl().easy_init()) {
    if (!easy_) {
      fail("http: libcurl cannot start a request");
    }
  }

  template <class Setting>
  void set(CURLoption option, Setting setting) {
    if (curl().set_option(easy_.get(), option, setting) != CURLE_OK) {
      fail("http: libcurl does not support option " + std::to_string(static_cast<int>(option)));
    }
  }
  void add_header(const std::string& line) {
    curl_slist* const grown = curl().list_append(headers_.get(), line.c_str());
    static_cast<void>(headers_.release());
    headers_.reset(grown);
  }
  /// The body of a response without a fault goes into a file.
  void write_to(const std::string& path) {
    file_.reset(std::fopen(path.c_str(), "wbe"));
    if (!file_) {
      fail("http: cannot write " + path + ": " + std::strerror(errno));
    }
    path_ = path;
  }

  void perform() {
    set(CURLOPT_HTTPHEADER, headers_.get());
    set(CURLOPT_WRITEFUNCTION, &Exchange::take_body);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_HEADERFUNCTION, &Exchange::take_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_XFERINFOFUNCTION, &Exchange::stops);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_NOSIGNAL, 1L);
    char reason[CURL_ERROR_SIZE] = {};
    set(CURLOPT_ERRORBUFFER, static_cast<char*>(reason));
    CURLcode result = CURLE_OK;
    {
      const Unlocked unlocked;
      result = curl().perform(easy_.get());
    }
    if (result == CURLE_ABORTED_BY_CALLBACK) {
      safepoint();  // raises the interrupt
    }
    if (has_failed_to_write_ || (file_ && std::fflush(file_.get()) != 0)) {
      fail("http: cannot write " + path_ + ": " + std::strerror(errno));
    }
    if (result != CURLE_OK) {
      fail(std::string("http: ") + (reason[0] != '\0' ? reason : curl().error_message(result)));
    }
  }

  // [status, headers, body, URL]
  Value response() {
    char* url = nullptr;
    curl().get_info(easy_.get(), CURLINFO_EFFECTIVE_URL, &url);
    return make_array({Value::integer(status()), make_text(std::move(header_lines_)),
                       make_text(std::move(body_)), make_text(url == nullptr ? "" : url)});
  }

 private:
  long status() const {
    long code = 0;
    curl().get_info(easy_.get(), CURLINFO_RESPONSE_CODE, &code);
    return code;
  }

  // Called by libcurl, without the host lock.
  static size_t take_body(char* data, size_t, size_t size, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    if (!exchange.file_ || exchange.status() >= 400) {
      exchange.body_.append(data, size);
      return size;
    }
    const size_t written = std::fwrite(data, 1, size, exchange.file_.get());
    exchange.has_failed_to_write_ = written != size;
    return written;
  }
  static size_t take_header(char* data, size_t, size_t size, void* self) {
    auto& lines = static_cast<Exchange*>(self)->header_lines_;
    const std::string line(data, size);
    if (line.rfind("HTTP/", 0) == 0) {
      lines.clear();  // the responses before the last one are redirections
    }
    lines += line;
    return size;
  }
  static int stops(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return is_requested(kInterruptReason) ? 1 : 0;
  }

  std::unique_ptr<CURL, EasyCleanup> easy_;
  std::unique_ptr<curl_slist, ListFree> headers_;
  std::unique_ptr<std::FILE, FileClose> file_;
  std::string path_, header_lines_, body_;
  bool has_failed_to_write_ = false;
};

// The file of certificates that the environment names, as for the program curl; else libcurl has its own.
const char* certificate_file() {
  for (const char* const name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* const file = std::getenv(name);
    if (file != nullptr && *file != '\0') {
      return file;
    }
  }
  return nullptr;
}

// The settings are the method, the URL, the lines of headers, the body or nil, the seconds, the number of
// redirections, the file for the body or nil, and whether certificates are verified.
Value http_request(Thread&, Value* args, int) {
  const Value settings = args[0];
  const std::string& method = expect_text(element(settings, 0), "http: the method");
  Exchange exchange;
  exchange.set(CURLOPT_URL, expect_text(element(settings, 1), "http: the URL").c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
  exchange.set(CURLOPT_PROTOCOLS_STR, "http,https");
  exchange.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
  exchange.set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  exchange.set(CURLOPT_REDIR_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  for (const Value line : as_object<Array>(element(settings, 2))->items) {
    exchange.add_header(expect_text(line, "http: a header"));
  }
  const Value body = element(settings, 3);
  if (!body.is_nil()) {
    const std::string& content = expect_text(body, "http: the body");
    exchange.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(content.size()));
    exchange.set(CURLOPT_COPYPOSTFIELDS, content.data());
  }
  if (method == "HEAD") {
    exchange.set(CURLOPT_NOBODY, 1L);
  } else {
    exchange.set(CURLOPT_CUSTOMREQUEST, method.c_str());
  }
  exchange.set(CURLOPT_TIMEOUT_MS, static_cast<long>(to_number(element(settings, 4)) * 1000));
  exchange.set(CURLOPT_FOLLOWLOCATION, to_integer(element(settings, 5)) > 0 ? 1L : 0L);
  exchange.set(CURLOPT_MAXREDIRS, static_cast<long>(to_integer(element(settings, 5))));
  if (!element(settings, 6).is_nil()) {
    exchange.write_to(expect_text(element(settings, 6), "http: the file"));
  }
  if (const char* const certificates = certificate_file()) {
    exchange.set(CURLOPT_CAINFO, certificates);
  }
  if (!truthy(element(settings, 7))) {
    exchange.set(CURLOPT_SSL_VERIFYPEER, 0L);
    exchange.set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
  exchange.set(CURLOPT_ACCEPT_ENCODING, "");  // those that libcurl can decode
  exchange.perform();
  return exchange.response();
}

constexpr NativeEntry kHttpExterns[] = {
    {"rt_http_request", http_request, 1, 1},
};

}  // namespace

std::span<const NativeEntry> http_externs() { return kHttpExterns; }

}  // namespace spl
