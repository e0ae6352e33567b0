// Where the host lies on disk, and whose process it runs in.
#pragma once

#include <string>

namespace spl {

/// The folder above bin/, or above lib/ for the host as a library: share/simple and lib/ lie in it.
const std::string& installation_folder();

/// In a process that is another program's the host neither ends it nor writes past its streams.
bool is_embedded();

/// Makes it one, before anything else is asked: `library` is the host's own file there.
void set_embedded(const std::string& library);

}  // namespace spl
