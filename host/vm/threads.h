// thread.spawn and join.
#pragma once

namespace spl {

/// The namespace `thread` and the methods of what spawn() gives.
void install_thread_methods();

}  // namespace spl
