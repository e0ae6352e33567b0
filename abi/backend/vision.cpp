// Bodies of the image and raw file functions.
#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/file_bytes.h"
#include "core_libtorch/images/adjust.h"
#include "core_libtorch/images/decode.h"
#include "core_libtorch/images/encode.h"

namespace simple_torch::abi::body {

int32_t file_read(const char* path, bool decompress, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(path, "path");
    *out = new_handle(core::with_error_context("file_read", core::kNoOperands,
                                               [&] { return core::read_bytes(path, decompress); }));
  });
}

int32_t file_write(const char* path, int64_t bytes) {
  return guarded([&] {
    require(path, "path");
    core::write_bytes(path, *tensor_argument(bytes));
  });
}

int32_t image_decode(int64_t data, const char* format, int64_t mode, bool apply_exif_orientation,
                     int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(format, "format");
    const auto held = tensor_argument(data);
    *out = new_handle(core::with_error_context("image_decode", {&*held}, [&] {
      return core::images::decode(*held, format, mode, apply_exif_orientation);
    }));
  });
}

int32_t image_encode_jpeg(int64_t image, int64_t quality, int64_t* out) {
  return guarded_result(
      out, [&] { return new_handle(core::images::encode_jpeg(*tensor_argument(image), quality)); });
}

int32_t image_encode_png(int64_t image, int64_t level, int64_t* out) {
  return guarded_result(out,
                        [&] { return new_handle(core::images::encode_png(*tensor_argument(image), level)); });
}

int32_t image_adjust(int64_t image, const char* aspect, double factor, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(aspect, "aspect");
    const auto held = tensor_argument(image);
    *out = new_handle(core::with_error_context("image_adjust", {&*held},
                                               [&] { return core::images::adjust(*held, aspect, factor); }));
  });
}

}  // namespace simple_torch::abi::body
