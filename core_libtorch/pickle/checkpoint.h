// Files of torch.save and torch.load: a zip archive of a pickle and the bytes of the tensors.
// Format: docs/source/notes/serialization.rst of PyTorch, "Serialized file format for torch.save".
#pragma once

#include <optional>
#include <string>

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// Python's torch.load reads the file, with weights_only=True too. It appears whole or not at all, also when
/// the process is killed. Tensors that share memory share it in the file. Throws Error(kIo) where it cannot
/// be written, Error(kInvalidArgument) for tensors without plain memory.
void save(const Value& value, const std::string& path);

/// What Python's torch.save, or ours, wrote: see unpickled().
/// Tensors come to the device `map_location`, else to where they were. Throws Error(kIo) where the file is
/// none such, or is broken, or holds something else; Error(kUnavailable) for a device that is not there.
ValuePtr load(const std::string& path, const std::optional<std::string>& map_location);

/// Whether the file is an archive of LibTorch's torch::save, which is none of Python's.
bool is_libtorch_archive(const std::string& path);

}  // namespace simple_torch::core::pickle
