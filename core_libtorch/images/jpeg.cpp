// JPEG by libjpeg-turbo. Source: torchvision.io.decode_jpeg.
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "core_libtorch/error.h"
#include "core_libtorch/images/decode.h"
#include "core_libtorch/images/exif.h"
#include "core_libtorch/images/jpeg_errors.h"

namespace simple_torch::core::images {
namespace {

constexpr const char* kJpegFault = "decode_jpeg: ";
constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr char kExifHead[] = {'E', 'x', 'i', 'f', 0, 0};

uint8_t without_black(int color, int black) {
  const int product = black * (255 - color) + 128;
  return static_cast<uint8_t>(std::clamp(black - ((product + (product >> 8)) >> 8), 0, 255));
}

uint8_t luma(int red, int green, int blue) {
  return static_cast<uint8_t>((red * 19595 + green * 38470 + blue * 7471 + 32768) >> 16);
}

// Converts CMYK, stored inverted as Adobe does, to `channels`.
void convert_inks(const uint8_t* inks, uint8_t* out, size_t width, int channels) {
  for (size_t x = 0; x < width; ++x, inks += 4, out += channels) {
    const uint8_t red = without_black(inks[0], inks[3]);
    const uint8_t green = without_black(inks[1], inks[3]);
    const uint8_t blue = without_black(inks[2], inks[3]);
    if (channels == 1) {
      out[0] = luma(red, green, blue);
    } else {
      out[0] = red;
      out[1] = green;
      out[2] = blue;
    }
  }
}

void fail_at_the_end(j_decompress_ptr info);

class JpegDecoder {
 public:
  JpegDecoder(Bytes bytes, ReadMode mode) : mode_(mode) {
    errors_.watch(reinterpret_cast<jpeg_common_struct&>(info_));
    source_.init_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = [](j_decompress_ptr info) -> boolean {
      fail_at_the_end(info);
      return FALSE;
    };
    source_.skip_input_data = [](j_decompress_ptr info, long count) {
      if (count > 0 && static_cast<size_t>(count) > info->src->bytes_in_buffer) {
        fail_at_the_end(info);
      }
      info->src->next_input_byte += std::max(count, 0L);
      info->src->bytes_in_buffer -= static_cast<size_t>(std::max(count, 0L));
    };
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.term_source = [](j_decompress_ptr) {};
    source_.next_input_byte = bytes.data;
    source_.bytes_in_buffer = bytes.size;
    guarded_jpeg(errors_, kJpegFault, [&] { jpeg_create_decompress(&info_); });
    info_.src = &source_;
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&info_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  void read_header(size_t file_size) {
    guarded_jpeg(errors_, kJpegFault, [&] {
      jpeg_save_markers(&info_, kExifMarker, 0xFFFF);
      jpeg_read_header(&info_, TRUE);
    });
    check_pixel_count(file_size);
    choose_color_space();
  }

  // [height, width, channels]
  at::Tensor pixels() {
    guarded_jpeg(errors_, kJpegFault, [&] { jpeg_start_decompress(&info_); });
    const int channels = from_inks_ ? (mode_ == ReadMode::kGray ? 1 : 3) : info_.output_components;
    at::Tensor all = at::empty({info_.output_height, info_.output_width, channels}, at::kByte);
    at::Tensor inks = from_inks_ ? at::empty({info_.output_width, 4}, at::kByte) : at::Tensor();
    uint8_t* const line_of_inks = from_inks_ ? inks.mutable_data_ptr<uint8_t>() : nullptr;
    uint8_t* const first = all.mutable_data_ptr<uint8_t>();
    guarded_jpeg(errors_, kJpegFault, [&] { read_lines(first, line_of_inks, channels); });
    return all;
  }

  int orientation() const {
    for (auto* marker = info_.marker_list; marker != nullptr; marker = marker->next) {
      if (marker->marker == kExifMarker && marker->data_length > sizeof(kExifHead) &&
          std::memcmp(marker->data, kExifHead, sizeof(kExifHead)) == 0) {
        return orientation_in(marker->data + sizeof(kExifHead), marker->data_length - sizeof(kExifHead));
      }
    }
    return 0;
  }

 private:
  // 8 x 8 pixels need at least one bit. Arithmetic coding has no such bound.
  void check_pixel_count(size_t file_size) const {
    const uint64_t pixels_a_byte = info_.arith_code ? 1U << 16 : 64 * 8 * 4;
    const uint64_t pixels = uint64_t{info_.image_width} * info_.image_height;
    if (pixels > pixels_a_byte * file_size) {
      throw Error(ErrorKind::kIo, kJpegFault + std::to_string(info_.image_width) + " x " +
                                      std::to_string(info_.image_height) +
                                      " pixels do not fit into a file of " + std::to_string(file_size) +
                                      " bytes");
    }
  }

  void choose_color_space() {
    const bool inks = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    switch (mode_) {
      case ReadMode::kUnchanged:
        break;
      case ReadMode::kGray:
        info_.out_color_space = inks ? JCS_CMYK : JCS_GRAYSCALE;
        from_inks_ = inks;
        break;
      case ReadMode::kRgb:
        info_.out_color_space = inks ? JCS_CMYK : JCS_RGB;
        from_inks_ = inks;
        break;
      default:
        throw Error(ErrorKind::kInvalidArgument,
                    "The provided mode is not supported for JPEG files: they have no alpha channel");
    }
  }

  void read_lines(uint8_t* out, uint8_t* line_of_inks, int channels) {
    const size_t stride = size_t{info_.output_width} * static_cast<size_t>(channels);
    for (; info_.output_scanline < info_.output_height; out += stride) {
      uint8_t* line = from_inks_ ? line_of_inks : out;
      jpeg_read_scanlines(&info_, &line, 1);
      if (from_inks_) {
        convert_inks(line_of_inks, out, info_.output_width, channels);
      }
    }
    jpeg_finish_decompress(&info_);
  }

  ReadMode mode_;
  bool from_inks_ = false;
  jpeg_decompress_struct info_{};
  jpeg_source_mgr source_{};
  JpegErrors errors_{};
};

void fail_at_the_end(j_decompress_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  std::strcpy(errors->message, "the file is truncated");
  std::longjmp(errors->back, 1);
}

}  // namespace

at::Tensor decode_jpeg(Bytes bytes, ReadMode mode, bool oriented) {
  JpegDecoder decoder(bytes, mode);
  decoder.read_header(bytes.size);
  const int orientation = oriented ? decoder.orientation() : 0;
  return apply_orientation(decoder.pixels().permute({2, 0, 1}), orientation);
}

}  // namespace simple_torch::core::images
