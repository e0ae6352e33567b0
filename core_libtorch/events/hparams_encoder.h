// Encodes a run's data for TensorBoard's hparams plugin.
#pragma once

#include <string>

#include "core_libtorch/events/encoder_api.h"

namespace simple_torch::core::events {

/// The tag that the plugin searches for.
Text tag_of(HParamsPart part);

/// The content of the plugin's metadata.
std::string plugin_data(HParamsPart part, const HParams& hparams);

}  // namespace simple_torch::core::events
