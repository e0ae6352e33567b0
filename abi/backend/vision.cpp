// Bodies of the pictures and the files of bytes.
#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/file_bytes.h"
#include "core_libtorch/images/adjust.h"
#include "core_libtorch/images/decode.h"
#include "core_libtorch/images/encode.h"

namespace simple_torch::abi::body {

int32_t file_read(const char* path, bool unpacked, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(path, "path");
    *out = give(core::with_error_context("file_read", core::kNoOperands,
                                         [&] { return core::read_bytes(path, unpacked); }));
  });
}

int32_t file_write(const char* path, int64_t bytes) {
  return guarded([&] {
    require(path, "path");
    core::write_bytes(path, *tensor_argument(bytes));
  });
}

int32_t picture_decode(int64_t data, const char* format, int64_t mode, bool oriented, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(format, "format");
    const auto held = tensor_argument(data);
    *out = give(core::with_error_context(
        "picture_decode", {&*held}, [&] { return core::images::decode(*held, format, mode, oriented); }));
  });
}

int32_t picture_encode_jpeg(int64_t picture, int64_t quality, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    *out = give(core::images::encode_jpeg(*tensor_argument(picture), quality));
  });
}

int32_t picture_encode_png(int64_t picture, int64_t level, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    *out = give(core::images::encode_png(*tensor_argument(picture), level));
  });
}

int32_t picture_adjust(int64_t picture, const char* aspect, double factor, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(aspect, "aspect");
    const auto held = tensor_argument(picture);
    *out = give(core::with_error_context("picture_adjust", {&*held},
                                         [&] { return core::images::adjust(*held, aspect, factor); }));
  });
}

}  // namespace simple_torch::abi::body
