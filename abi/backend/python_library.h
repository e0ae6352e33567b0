// Finds and opens the libpython of the chosen Python, and the bridge that fits it and this backend's torch.
#pragma once

#include <string>

#include "bridge/bridge_api.h"

namespace simple_torch::abi {

/// The shared library of a Python, found by looking at files only, or "" where it has none.
///
/// `python` is the executable, perhaps in a virtual environment, whose pyvenv.cfg then names the base
/// installation; `minor` is "3.11". Looked at, in this order: lib, lib64 and Debian's lib/<arch>-linux-gnu
/// of the base installation, then the folder that it was configured with (LIBDIR).
std::string find_libpython(const std::string& python, const std::string& minor);

/// What bridges are given to use.
extern const bridge::BackendServices kBackendServices;

/// Opens the bridge at first use, and starts Python in it. Throws Error(kUnavailable) saying what is missing
/// and how to mend it; a call after the mending tries again. 0, or the number of the kind of the error that
/// Python's start has recorded.
int32_t start_python(const bridge::BridgeApi** out);

/// The bridge once Python was started; else NULL. Python may have ended since, which each function says.
const bridge::BridgeApi* running_python() noexcept;

/// Python was shut down: the next call asks the bridge again, which refuses it.
void forget_running_python() noexcept;

/// Python's constant, of which there is one handle for the whole process; 0 for any other object.
int64_t lasting_handle(const bridge::Object* object) noexcept;

/// The bridge if it was opened, else NULL. Opens nothing, never throws.
const bridge::BridgeApi* opened_python() noexcept;

/// The file of the libpython that was opened; "" in a process that had Python already.
std::string opened_libpython();

}  // namespace simple_torch::abi
