// Opens libcurl at the first download, so that other programs load neither libcurl nor its dependencies.
#pragma once

#define CURL_DISABLE_TYPECHECK  // libcurl's macros that replace functions
#include <curl/curl.h>

#include <memory>

namespace simple_torch::core::downloads {

struct CurlLibrary {
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_strerror) multi_strerror;
  decltype(&::curl_multi_cleanup) multi_cleanup;
};

/// The machine's libcurl. Throws Error(kUnavailable) if there is none.
const CurlLibrary& curl();

/// The file of certificates that the environment names by CURL_CA_BUNDLE or SSL_CERT_FILE, as for the program
/// curl; nullptr: libcurl's own.
const char* certificate_file();

struct EasyCleanup {
  void operator()(CURL* easy) const { curl().easy_cleanup(easy); }
};
struct MultiCleanup {
  void operator()(CURLM* multi) const { curl().multi_cleanup(multi); }
};
using Easy = std::unique_ptr<CURL, EasyCleanup>;
using Multi = std::unique_ptr<CURLM, MultiCleanup>;

}  // namespace simple_torch::core::downloads
