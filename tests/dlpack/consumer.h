/* The interface of both consumers for test_consumers.cpp, as a third-party header. */
#ifndef SIMPLE_TORCH_TESTS_CONSUMER_H_
#define SIMPLE_TORCH_TESTS_CONSUMER_H_

#include <ATen/dlpack.h>

#define CONSUMER_MOST_DIMS 4

/* The memory of the tensor's elements. */
enum ConsumerMemory {
  CONSUMER_HEAP,
  CONSUMER_PAGES,
  CONSUMER_LOCKED_PAGES /* a write to them is a SIGSEGV */
};

/* A request for a tensor. Slot k of the memory, counted from its first element, holds 2^(k mod 6),
 * as bool k mod 2, as complex number that value minus i times that value. */
typedef struct ConsumerOrder {
  DLDataType dtype;
  int32_t ndim;
  int64_t shape[CONSUMER_MOST_DIMS];
  int64_t strides[CONSUMER_MOST_DIMS];
  int64_t offset;       /* in elements; goes into byte_offset */
  uint64_t flags;       /* not in a legacy structure */
  uint32_t minor;       /* of version 1.minor; not in a legacy structure */
  int32_t bare_strides; /* strides is NULL */
  int32_t memory;
  int32_t* deletions; /* grows at each call of the deleter */
} ConsumerOrder;

typedef struct Consumer {
  /* Reads the real and imaginary part of each element, in the order of indices. Returns the number of
   * elements; -1 for an unknown dtype, or if the buffer is too small. */
  int64_t (*read)(const DLTensor* tensor, double* parts, int64_t capacity);
  /* Writes `value`, a power of two (as complex number minus i times it), to each element; -1 as above. */
  int32_t (*fill)(const DLTensor* tensor, double value);
  /* The caller owns the result; NULL if the request cannot be satisfied. */
  DLManagedTensorVersioned* (*make)(const ConsumerOrder* order);
  DLManagedTensor* (*make_legacy)(const ConsumerOrder* order);
} Consumer;

/* The only exported symbol of each library. */
#define CONSUMER_ENTRY "consumer_entry"

#endif
