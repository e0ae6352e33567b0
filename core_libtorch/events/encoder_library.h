// The library that makes TensorBoard's messages, libsimple_torch_events.so, opened at the first use.
#pragma once

#include "core_libtorch/events/encoder_api.h"

namespace simple_torch::core::events {

/// Opens it beside this library, so that its libprotobuf is used by it alone, whichever else the process has.
/// Throws Error(kUnavailable), which says why it cannot be opened.
const EncoderApi& encoder();

}  // namespace simple_torch::core::events
