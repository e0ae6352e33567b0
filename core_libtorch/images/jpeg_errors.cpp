#include "core_libtorch/images/jpeg_errors.h"

namespace simple_torch::core::images {
namespace {

[[noreturn]] void leave(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  (*info->err->format_message)(info, errors->message);
  std::longjmp(errors->back, 1);
}

void ignore(j_common_ptr) {}
void ignore_level(j_common_ptr, int) {}

}  // namespace

void JpegErrors::watch(jpeg_common_struct& info) {
  info.err = jpeg_std_error(&manager);
  manager.error_exit = leave;
  manager.output_message = ignore;
  manager.emit_message = ignore_level;
  message[0] = '\0';
}

}  // namespace simple_torch::core::images
