// How the latest tensor was imported.
#pragma once

namespace simple_torch::abi {

/// The calling thread's latest import; string literals, "" if not applicable.
struct LastImport {
  const char* path = "";
  const char* why_copied = "";
};

LastImport& last_import() noexcept;

}  // namespace simple_torch::abi
