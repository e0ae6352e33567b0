// Finds and opens libpython and the bridge for the Python of the environment and the torch of this backend.
#pragma once

#include <string>

#include "bridge/bridge_api.h"

namespace simple_torch::abi {

/// The shared library of a Python, "" if there is none. Looks at files only.
///
/// `python` is the executable, also of a virtual environment, whose pyvenv.cfg names the base installation;
/// `minor` is "3.11". Search order: lib, lib64 and Debian's lib/<arch>-linux-gnu of the base installation,
/// then the configured folder (LIBDIR).
std::string find_libpython(const std::string& python, const std::string& minor);

/// The services that this backend provides to bridges.
extern const bridge::BackendServices kBackendServices;

/// Opens the bridge at first use and starts Python. Throws Error(kUnavailable) with a message that names what
/// is missing; a later call tries again. Returns 0, or the kind of the error that the start of Python has
/// recorded.
[[gnu::noinline]] int32_t start_python(const bridge::BridgeApi** out);

/// The bridge after the start of Python, else NULL. Functions of the bridge fail if Python has ended since.
const bridge::BridgeApi* running_python() noexcept;

/// Python was shut down: the next call asks the bridge again, which rejects it.
void forget_running_python() noexcept;

/// The immortal handle of an immortal object; 0 for any other object.
int64_t immortal_handle(const bridge::Object* object) noexcept;

/// The bridge if it is open, else NULL.
const bridge::BridgeApi* opened_python() noexcept;

/// The opened libpython; "" in a process that already had Python.
std::string opened_libpython();

}  // namespace simple_torch::abi
