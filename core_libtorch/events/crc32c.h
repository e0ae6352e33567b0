// The checksum of TensorFlow's record files.
#pragma once

#include <cstdint>
#include <string_view>

namespace simple_torch::core::events {

/// CRC-32C (Castagnoli's polynomial, reflected) of the bytes.
uint32_t crc32c(std::string_view bytes) noexcept;

/// The masked checksum of record files: rotated, plus a constant, so that the CRC of data that contains CRCs
/// stays strong.
uint32_t masked_crc32c(std::string_view bytes) noexcept;

}  // namespace simple_torch::core::events
