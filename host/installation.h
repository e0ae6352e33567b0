// The installation folder, and whether the host is embedded.
#pragma once

#include <string>

namespace spl {

/// The folder that contains bin/, lib/ and share/simple.
const std::string& installation_folder();

/// Whether the host runs in another program's process. Then it never exits the process and writes only
/// through the program's writer.
bool is_embedded();

/// Marks the host as embedded. `library` is the path of libsimple_host.so. Must be called first.
void set_embedded(const std::string& library);

}  // namespace spl
