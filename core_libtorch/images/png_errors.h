// libpng reports a fault by a function that must not return.
#pragma once

#include <png.h>

#include <csetjmp>
#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::core::images {

/// The message of the fault that a png_struct jumped for.
struct PngErrors {
  char message[256] = "";

  /// For png_create_read_struct and png_create_write_struct; warnings are passed over.
  static void fail(png_structp png, png_const_charp message);
  static void pass_over(png_structp, png_const_charp) {}
};

/// Runs `body`, which calls libpng; a fault is an Error(kIo) that begins with `what`. No object with a
/// destructor may live in `body`: it may be left by a jump.
template <class Body>
void guarded_png(png_structp png, const PngErrors& errors, const char* what, Body&& body) {
  if (setjmp(png_jmpbuf(png)) != 0) {
    throw Error(ErrorKind::kIo, std::string(what) + errors.message);
  }
  body();
}

}  // namespace simple_torch::core::images
