// Options of a session by their names in Python.
#pragma once

#include "core_libtorch/onnxruntime/session.h"

namespace simple_torch::core::onnxruntime {

using OptionsPtr =
    std::unique_ptr<OrtSessionOptions, Releaser<OrtSessionOptions, &OrtFunctions::release_session_options>>;

/// Throws Error: InvalidArgument for an unknown name or a wrong value, Unavailable for an unknown provider.
OptionsPtr make_options(const Options& options);

}  // namespace simple_torch::core::onnxruntime
