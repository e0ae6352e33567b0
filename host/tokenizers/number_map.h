// A hash table from 64-bit keys to values, by open addressing. It is filled once and then only read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spl::tokenizers {

template <class Entry>
class NumberMap {
 public:
  static constexpr uint64_t kNoKey = UINT64_MAX;

  void reserve(size_t count) {
    size_t size = 16;
    while (size < count * 2) {
      size *= 2;
    }
    rehash(size);
  }
  /// Replaces an earlier value of the key.
  void set(uint64_t key, Entry value) {
    if ((count_ + 1) * 2 > slots_.size()) {
      rehash(slots_.empty() ? 16 : slots_.size() * 2);
    }
    Slot& slot = slots_[place_of(key)];
    count_ += slot.key == kNoKey ? 1 : 0;
    slot = {key, value};
  }
  /// Null if there is no such key.
  const Entry* find(uint64_t key) const {
    if (slots_.empty()) {
      return nullptr;
    }
    const Slot& slot = slots_[place_of(key)];
    return slot.key == key ? &slot.value : nullptr;
  }

 private:
  struct Slot {
    uint64_t key = kNoKey;
    Entry value{};
  };
  size_t place_of(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    uint64_t hash = (key ^ key >> 32U) * 0x9e3779b97f4a7c15U;
    size_t at = (hash ^ hash >> 29U) & mask;
    while (slots_[at].key != kNoKey && slots_[at].key != key) {
      at = (at + 1) & mask;
    }
    return at;
  }
  void rehash(size_t size) {
    std::vector<Slot> old(size);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != kNoKey) {
        slots_[place_of(slot.key)] = slot;
      }
    }
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace spl::tokenizers
