// Opens libsimple_torch_events.so, which encodes TensorBoard's messages, at the first use.
#pragma once

#include "core_libtorch/events/encoder_api.h"

namespace simple_torch::core::events {

/// Opens the library in this library's folder, with a libprotobuf that only it uses. Throws
/// Error(kUnavailable) with the reason if it cannot be opened.
const EncoderApi& encoder();

}  // namespace simple_torch::core::events
