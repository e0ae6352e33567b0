// Reads and writes files of torch.save: a zip archive of a pickle and the tensors' bytes.
// Format: docs/source/notes/serialization.rst of PyTorch, "Serialized file format for torch.save".
#pragma once

#include <optional>
#include <string>

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// Python's torch.load reads the file, also with weights_only=True. The file is replaced atomically, even if
/// the process is killed. Tensors that share memory share it in the file. Throws Error(kIo) if it cannot be
/// written, Error(kInvalidArgument) for tensors without plain memory.
void save(const Value& value, const std::string& path);

/// Reads a file of Python's torch.save or ours; see unpickled().
/// Tensors are loaded to the device `map_location`, else to the device that they had. Throws Error(kIo) for
/// another kind of file, a corrupt one or unsupported contents; Error(kUnavailable) for a device that does
/// not exist.
ValuePtr load(const std::string& path, const std::optional<std::string>& map_location);

/// Whether the file is an archive of LibTorch's torch::save, whose format differs from Python's.
bool is_libtorch_archive(const std::string& path);

}  // namespace simple_torch::core::pickle
