// Nested values of programs as flat lists: each value precedes its items (functions_files.toml, values_save).
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "simple_torch/spl_runtime.h"

namespace simple_torch::abi {

/// The top-level values of a flat list. Lists, dicts and tuples have items of any type; a dtype is its
/// number. Throws Error(kInvalidArgument) for an invalid list, and for bytes and sets.
std::vector<c10::IValue> values_of_flat(const char* kinds, const SplArray* values);

/// A new array: the kinds and the values, as spt_values_load returns them. A named tuple is a `u`. Throws
/// Error(kNotImplemented) for a type that Simple lacks; the message names it.
SplArray* flat_of_values(const std::vector<c10::IValue>& values);

}  // namespace simple_torch::abi
