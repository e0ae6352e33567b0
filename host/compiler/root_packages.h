// `import torch.utils.data` of a program that comes from Python.
#pragma once

#include "host/values/module.h"

namespace spl {

/// Notes whether the module imports torch, or a part of it.
void note_torch(LoadedModule& module);

/// Imports `torch` and `os` where a program that imports torch names them after `import torch.utils.data` or
/// `import os.path`, which binds the first name in Python. Call it before the module's imports.
void bind_root_packages(LoadedModule& module);

}  // namespace spl
