#include "core_libtorch/images/decode.h"

#include <algorithm>
#include <array>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"

namespace simple_torch::core::images {
namespace {

Bytes bytes_of(const at::Tensor& data) {
  if (!data.is_cpu() || data.scalar_type() != at::kByte || data.dim() != 1) {
    throw Error(ErrorKind::kInvalidArgument,
                "decode_image: data must be a 1-D uint8 tensor on the CPU, got a " +
                    std::to_string(data.dim()) + "-D " + dtype_name(data.scalar_type()) + " tensor on " +
                    data.device().str());
  }
  return {data.const_data_ptr<uint8_t>(), static_cast<size_t>(data.numel())};
}

ReadMode mode_of(int64_t mode) {
  if (mode < 0 || mode > 4) {
    throw Error(ErrorKind::kInvalidArgument, "unknown ImageReadMode " + std::to_string(mode));
  }
  return static_cast<ReadMode>(mode);
}

}  // namespace

bool is_jpeg(Bytes bytes) {
  return bytes.size >= 3 && bytes.data[0] == 0xFF && bytes.data[1] == 0xD8 && bytes.data[2] == 0xFF;
}

bool is_png(Bytes bytes) {
  static constexpr std::array<uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  return bytes.size >= kSignature.size() && std::equal(kSignature.begin(), kSignature.end(), bytes.data);
}

at::Tensor decode(const at::Tensor& data, const std::string& format, int64_t mode, bool oriented) {
  const at::Tensor held = data.contiguous();
  const Bytes bytes = bytes_of(held);
  const ReadMode read_mode = mode_of(mode);
  if (format != "png" && is_jpeg(bytes)) {
    return decode_jpeg(bytes, read_mode, oriented);
  }
  if (format != "jpeg" && is_png(bytes)) {
    return decode_png(bytes, read_mode, oriented);
  }
  const std::string what = format == "jpeg" ? "JPEG" : format == "png" ? "PNG" : "JPEG or PNG";
  throw Error(ErrorKind::kIo, "decode_image: " + (bytes.size == 0 ? std::string("the data is empty")
                                                                  : "the data is not " + what));
}

}  // namespace simple_torch::core::images
