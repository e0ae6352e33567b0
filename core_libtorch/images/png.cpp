// PNG by libpng. Source: torchvision.io.decode_png.
#include <ATen/ops/empty.h>
#include <png.h>

#include <cstring>
#include <new>

#include "core_libtorch/error.h"
#include "core_libtorch/images/decode.h"
#include "core_libtorch/images/exif.h"
#include "core_libtorch/images/png_errors.h"

namespace simple_torch::core::images {
namespace {

constexpr const char* kPngFault = "decode_png: ";
// Weights of red and green in a gray pixel.
constexpr double kRed = 0.2989, kGreen = 0.587;

class PngDecoder {
 public:
  explicit PngDecoder(Bytes bytes)
      : bytes_(bytes),
        left_(bytes),
        png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, &errors_, PngErrors::fail, PngErrors::ignore)),
        info_(png_ != nullptr ? png_create_info_struct(png_) : nullptr) {
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png_, &left_, take);
  }
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  void read_header(ReadMode mode) {
    // libpng 1.6.39 recognizes some profiles as sRGB and then uses another formula for gray; 1.6.56 does not.
    static constexpr uint8_t kProfile[] = "iCCP";
    guarded_png(png_, errors_, kPngFault, [&] {
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, kProfile, 1);
      png_read_info(png_, info_);
      choose_color_space(mode);
      passes_ = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    check_pixel_count(bytes_.size);
  }

  // [height, width, channels]
  at::Tensor pixels() {
    const int64_t height = png_get_image_height(png_, info_), width = png_get_image_width(png_, info_);
    const bool is_wide = png_get_bit_depth(png_, info_) == 16;
    at::Tensor all =
        at::empty({height, width, png_get_channels(png_, info_)}, is_wide ? at::kUInt16 : at::kByte);
    auto* const first = static_cast<uint8_t*>(all.mutable_data_ptr());
    guarded_png(png_, errors_, kPngFault, [&] { read_lines(first, height); });
    return all;
  }

  int orientation() {
    png_uint_32 size = 0;
    png_bytep exif = nullptr;
    return png_get_eXIf_1(png_, info_, &size, &exif) != 0 ? orientation_in(exif, size) : 0;
  }

 private:
  static void take(png_structp png, png_bytep out, png_size_t count) {
    auto* left = static_cast<Bytes*>(png_get_io_ptr(png));
    if (count > left->size) {
      png_error(png, "the file is truncated");
    }
    std::memcpy(out, left->data, count);
    left->data += count;
    left->size -= count;
  }

  // Gray values of fewer bits are scaled to 8; palette indices are not.
  void choose_color_space(ReadMode mode) {
    const int type = png_get_color_type(png_, info_), depth = png_get_bit_depth(png_, info_);
    png_set_swap(png_);
    if (type == PNG_COLOR_TYPE_GRAY && depth < 8) {
      png_set_expand_gray_1_2_4_to_8(png_);
    }
    if (mode == ReadMode::kUnchanged) {
      png_set_packing(png_);
      return;
    }
    const bool has_palette = type == PNG_COLOR_TYPE_PALETTE;
    if (has_palette) {
      png_set_palette_to_rgb(png_);
    }
    const bool with_alpha = mode == ReadMode::kGrayAlpha || mode == ReadMode::kRgbAlpha;
    choose_alpha(with_alpha, has_palette ? 8 : depth, has_palette, type);
    const bool is_gray = mode == ReadMode::kGray || mode == ReadMode::kGrayAlpha;
    const bool was_gray = (type & PNG_COLOR_MASK_COLOR) == 0;
    if (is_gray && !was_gray) {
      png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, kRed, kGreen);
    } else if (!is_gray && was_gray) {
      png_set_gray_to_rgb(png_);
    }
  }

  // A transparent palette color becomes alpha; one of an image without palette is ignored.
  void choose_alpha(bool with_alpha, int depth, bool has_palette, int type) {
    const bool has_alpha =
        (type & PNG_COLOR_MASK_ALPHA) != 0 || (has_palette && png_get_valid(png_, info_, PNG_INFO_tRNS) != 0);
    if (with_alpha && !has_alpha) {
      png_set_add_alpha(png_, (1U << depth) - 1, PNG_FILLER_AFTER);
    } else if (!with_alpha && has_alpha) {
      png_set_strip_alpha(png_);
    }
  }

  // zlib expands one byte to at most 1032.
  void check_pixel_count(size_t file_size) const {
    const uint64_t height = png_get_image_height(png_, info_), width = png_get_image_width(png_, info_);
    if (height * (width / 8 + 1) > file_size * 1040) {
      throw Error(ErrorKind::kIo, kPngFault + std::to_string(width) + " x " + std::to_string(height) +
                                      " pixels do not fit into a file of " + std::to_string(file_size) +
                                      " bytes");
    }
  }

  void read_lines(uint8_t* first, int64_t height) {
    const size_t stride = png_get_rowbytes(png_, info_);
    for (int pass = 0; pass < passes_; ++pass) {
      uint8_t* line = first;
      for (int64_t y = 0; y < height; ++y, line += stride) {
        png_read_row(png_, line, nullptr);
      }
    }
  }

  Bytes bytes_, left_;
  PngErrors errors_;
  png_structp png_;
  png_infop info_;
  int passes_ = 1;
};

}  // namespace

at::Tensor decode_png(Bytes bytes, ReadMode mode, bool oriented) {
  PngDecoder decoder(bytes);
  decoder.read_header(mode);
  const int orientation = oriented ? decoder.orientation() : 0;
  return apply_orientation(decoder.pixels().permute({2, 0, 1}), orientation);
}

}  // namespace simple_torch::core::images
