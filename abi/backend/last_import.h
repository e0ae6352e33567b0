// How tensors came in by DLPack, for those who ask.
#pragma once

namespace simple_torch::abi {

/// Of the calling thread's last import; texts that live for ever, "" where there is nothing to tell.
struct LastImport {
  const char* way = "";
  const char* why_copied = "";
};

LastImport& last_import() noexcept;

}  // namespace simple_torch::abi
