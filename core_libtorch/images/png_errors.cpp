#include "core_libtorch/images/png_errors.h"

#include <cstring>

namespace simple_torch::core::images {

void PngErrors::fail(png_structp png, png_const_charp message) {
  auto* errors = static_cast<PngErrors*>(png_get_error_ptr(png));
  std::strncpy(errors->message, message, sizeof(errors->message) - 1);
  png_longjmp(png, 1);
}

}  // namespace simple_torch::core::images
