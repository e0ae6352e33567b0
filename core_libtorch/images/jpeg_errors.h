// Converts libjpeg's errors, which it reports by a function that must not return.
#pragma once

#include <csetjmp>
#include <cstdio>
// jpeglib.h needs stdio.h before it.
#include <jpeglib.h>

#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::core::images {

/// libjpeg's error manager, with the jump buffer and the message.
struct JpegErrors {
  jpeg_error_mgr manager;  // first: libjpeg's pointer to it is a pointer to this
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];

  /// Makes `info` report here. Warnings are ignored, as in torchvision.
  void watch(jpeg_common_struct& info);
};

/// Runs `body`, which calls libjpeg. An error becomes Error(kIo) with the prefix `what`. `body` must have no
/// objects with destructors, because longjmp may leave it.
template <class Body>
void guarded_jpeg(JpegErrors& errors, const char* what, Body&& body) {
  if (setjmp(errors.back) != 0) {
    throw Error(ErrorKind::kIo, std::string(what) + errors.message);
  }
  body();
}

}  // namespace simple_torch::core::images
