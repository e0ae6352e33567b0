// What is left to the host when a program has taken all memory.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace spl {

/// Frees memory kept for telling that there is no more of it, and for leaving the frames then; keeps as much
/// again afterwards.
class SpareMemory {
 public:
  SpareMemory() { kept().reset(); }
  ~SpareMemory() { kept() = made(); }
  SpareMemory(const SpareMemory&) = delete;
  SpareMemory& operator=(const SpareMemory&) = delete;

 private:
  static std::unique_ptr<std::byte[]> made() {
    return std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[size_t{1} << 20]);
  }
  static std::unique_ptr<std::byte[]>& kept() {
    static std::unique_ptr<std::byte[]> block = made();
    return block;
  }
  static inline const bool prepared_ = (kept(), true);  // while there is memory
};

}  // namespace spl
