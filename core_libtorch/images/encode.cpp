#include "core_libtorch/images/encode.h"

#include <ATen/ops/empty.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "core_libtorch/error.h"
#include "core_libtorch/images/jpeg_errors.h"
#include "core_libtorch/images/png_errors.h"

namespace simple_torch::core::images {
namespace {

void need(bool holds, const std::string& message) {
  if (!holds) {
    throw Error(ErrorKind::kInvalidArgument, message);
  }
}

at::Tensor bytes_of(const uint8_t* data, size_t size) {
  at::Tensor bytes = at::empty({static_cast<int64_t>(size)}, at::kByte);
  std::memcpy(bytes.mutable_data_ptr(), data, size);
  return bytes;
}

class JpegWriter {
 public:
  JpegWriter() {
    errors_.watch(reinterpret_cast<jpeg_common_struct&>(info_));
    guarded_jpeg(errors_, kFault, [&] {
      jpeg_create_compress(&info_);
      jpeg_mem_dest(&info_, &data_, &size_);
    });
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&info_);
    std::free(data_);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  at::Tensor written(const at::Tensor& rows, int quality) {
    const uint8_t* const first = rows.const_data_ptr<uint8_t>();
    const auto width = static_cast<JDIMENSION>(rows.size(1)), height = static_cast<JDIMENSION>(rows.size(0));
    const auto channels = static_cast<int>(rows.size(2));
    guarded_jpeg(errors_, kFault, [&] { write(first, width, height, channels, quality); });
    return bytes_of(data_, size_);
  }

 private:
  static constexpr const char* kFault = "encode_jpeg: ";

  void write(const uint8_t* line, JDIMENSION width, JDIMENSION height, int channels, int quality) {
    info_.image_width = width;
    info_.image_height = height;
    info_.input_components = channels;
    info_.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    jpeg_start_compress(&info_, TRUE);
    for (; info_.next_scanline < height; line += size_t{width} * static_cast<size_t>(channels)) {
      auto* row = const_cast<uint8_t*>(line);  // libjpeg only reads it
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
  }

  jpeg_compress_struct info_{};
  JpegErrors errors_{};
  unsigned char* data_ = nullptr;
  unsigned long size_ = 0;
};

class PngWriter {
 public:
  PngWriter()
      : png_(png_create_write_struct(PNG_LIBPNG_VER_STRING, &errors_, PngErrors::fail, PngErrors::ignore)),
        info_(png_ != nullptr ? png_create_info_struct(png_) : nullptr) {
    if (info_ == nullptr) {
      png_destroy_write_struct(&png_, nullptr);
      throw std::bad_alloc();
    }
    png_set_write_fn(
        png_, this, [](png_structp png, png_bytep data, png_size_t count) { of(png)->add(data, count); },
        [](png_structp) {});
  }
  ~PngWriter() {
    png_destroy_write_struct(&png_, &info_);
    std::free(data_);
  }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  at::Tensor written(const at::Tensor& rows, int level) {
    const uint8_t* const first = rows.const_data_ptr<uint8_t>();
    const auto width = static_cast<png_uint_32>(rows.size(1)),
               height = static_cast<png_uint_32>(rows.size(0));
    const auto channels = static_cast<png_uint_32>(rows.size(2));
    guarded_png(png_, errors_, "encode_png: ", [&] { write(first, width, height, channels, level); });
    return bytes_of(data_, size_);
  }

 private:
  static PngWriter* of(png_structp png) { return static_cast<PngWriter*>(png_get_io_ptr(png)); }

  // libpng calls it, so it reports errors as libpng does.
  void add(const uint8_t* data, size_t count) {
    if (size_ + count > capacity_) {
      capacity_ = 2 * (size_ + count);
      auto* grown = static_cast<uint8_t*>(std::realloc(data_, capacity_));
      if (grown == nullptr) {
        png_error(png_, "out of memory");
      }
      data_ = grown;
    }
    std::memcpy(data_ + size_, data, count);
    size_ += count;
  }

  void write(const uint8_t* line, png_uint_32 width, png_uint_32 height, png_uint_32 channels, int level) {
    const int type = channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB;
    png_set_IHDR(png_, info_, width, height, 8, type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png_, level);
    png_write_info(png_, info_);
    for (png_uint_32 y = 0; y < height; ++y, line += size_t{width} * channels) {
      png_write_row(png_, line);
    }
    png_write_end(png_, info_);
  }

  PngErrors errors_;
  png_structp png_;
  png_infop info_;
  uint8_t* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace

at::Tensor rows_of_image(const at::Tensor& image) {
  need(image.is_cpu() && image.scalar_type() == at::kByte && image.dim() == 3 && image.numel() > 0,
       "encode_image: image must be a non-empty uint8 tensor [channels, height, width] on the CPU");
  need(image.size(0) == 1 || image.size(0) == 3,
       "encode_image: image must have 1 or 3 channels, got " + std::to_string(image.size(0)));
  return image.permute({1, 2, 0}).contiguous();
}

at::Tensor encode_jpeg(const at::Tensor& image, int64_t quality) {
  need(quality >= 1 && quality <= 100, "Image quality should be a positive number between 1 and 100");
  return JpegWriter().written(rows_of_image(image), static_cast<int>(quality));
}

at::Tensor encode_png(const at::Tensor& image, int64_t level) {
  need(level >= 0 && level <= 9, "Compression level should be between 0 and 9");
  return PngWriter().written(rows_of_image(image), static_cast<int>(level));
}

}  // namespace simple_torch::core::images
