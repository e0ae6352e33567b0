// The list of objects that can be part of a reference cycle, which the cycle collector walks.
//
// Every cycle contains an instance of a class, a cell, a generator or an iterator: all other kinds are copied
// when they are changed while shared. These four kinds are allocated with list links in front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "host/values/value.h"

namespace spl {

struct Links {
  Links* previous;
  Links* next;

  Object* object() { return reinterpret_cast<Object*>(this + 1); }
};
static_assert(sizeof(Links) % alignof(Value) == 0);

/// Guarded by the host lock.
struct Tracked {
  Links all{&all, &all};
  int64_t count = 0;
  int64_t collect_above = kInitialThreshold;  // more objects than this request a collection

  static constexpr int64_t kInitialThreshold = 20000;
};
inline Tracked& tracked() {
  static constinit Tracked list;
  return list;
}

/// Asks the running thread to collect cycles at its next safepoint.
void request_collection();

/// Memory for an object of `bytes` that can be part of a cycle.
inline void* allocate_tracked(size_t bytes) {
  auto* links = static_cast<Links*>(::operator new(sizeof(Links) + bytes));
  Tracked& list = tracked();
  links->previous = &list.all;
  links->next = list.all.next;
  list.all.next->previous = links;
  list.all.next = links;
  if (++list.count > list.collect_above) [[unlikely]] {
    request_collection();
  }
  return links + 1;
}

inline void free_tracked(void* object) {
  auto* links = static_cast<Links*>(object) - 1;
  links->previous->next = links->next;
  links->next->previous = links->previous;
  --tracked().count;
  ::operator delete(links);
}

}  // namespace spl
