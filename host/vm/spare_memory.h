// A memory reserve for the error report after the program has exhausted memory.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace spl {

/// Frees the reserve for its lifetime, so that the host can build the error and unwind. The destructor
/// allocates it again.
class SpareMemory {
 public:
  SpareMemory() { reserve().reset(); }
  ~SpareMemory() { reserve() = allocated(); }
  SpareMemory(const SpareMemory&) = delete;
  SpareMemory& operator=(const SpareMemory&) = delete;

 private:
  static std::unique_ptr<std::byte[]> allocated() {
    return std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[size_t{1} << 20]);
  }
  static std::unique_ptr<std::byte[]>& reserve() {
    static std::unique_ptr<std::byte[]> block = allocated();
    return block;
  }
  static inline const bool prepared_ = (reserve(), true);  // allocates the reserve at startup
};

}  // namespace spl
