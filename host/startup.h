// Connects the components of the host with each other.
#pragma once

namespace spl {

/// Fills the tables of hooks and the built-in names. Call it once, before the first module is loaded.
void install_components();

}  // namespace spl
