// libsimple_torch_curl.so has no functions of its own: those of libcurl, on which it depends, are found in
// it.
namespace simple_torch::core::downloads {

extern const int bundled_curl_marker;
const int bundled_curl_marker = 0;

}  // namespace simple_torch::core::downloads
