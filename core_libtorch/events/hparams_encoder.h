// What the hparams plugin of TensorBoard wants to know of a run.
#pragma once

#include <string>

#include "core_libtorch/events/encoder_api.h"

namespace simple_torch::core::events {

/// The tag that the plugin looks for.
Text tag_of(HParamsPart part);

/// The content of the plugin's metadata.
std::string plugin_data(HParamsPart part, const HParams& hparams);

}  // namespace simple_torch::core::events
