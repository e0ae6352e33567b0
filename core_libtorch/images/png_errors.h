// Converts libpng's errors, which it reports by a function that must not return.
#pragma once

#include <png.h>

#include <csetjmp>
#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::core::images {

/// The message of a png_struct's error.
struct PngErrors {
  char message[256] = "";

  /// For png_create_read_struct and png_create_write_struct; warnings are ignored.
  static void fail(png_structp png, png_const_charp message);
  static void ignore(png_structp, png_const_charp) {}
};

/// Runs `body`, which calls libpng. An error becomes Error(kIo) with the prefix `what`. `body` must have no
/// objects with destructors, because longjmp may leave it.
template <class Body>
void guarded_png(png_structp png, const PngErrors& errors, const char* what, Body&& body) {
  if (setjmp(png_jmpbuf(png)) != 0) {
    throw Error(ErrorKind::kIo, std::string(what) + errors.message);
  }
  body();
}

}  // namespace simple_torch::core::images
