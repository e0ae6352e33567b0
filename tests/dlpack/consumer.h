/* What the two consumers offer to test_consumers.cpp: a library's own header, as any third party would have
 * it. */
#ifndef SIMPLE_TORCH_TESTS_CONSUMER_H_
#define SIMPLE_TORCH_TESTS_CONSUMER_H_

#include <ATen/dlpack.h>

#define CONSUMER_MOST_DIMS 4

/* Where the elements of a made tensor lie. */
enum ConsumerMemory {
  CONSUMER_HEAP,
  CONSUMER_PAGES,
  CONSUMER_LOCKED_PAGES /* a write to them is a SIGSEGV */
};

/* A tensor to be made. The memory's slot k, counted from the first element of the memory, holds 2^(k mod 6),
 * as bool k mod 2, as complex number that minus i times that. */
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
  /* Real and imaginary part of each element, in the order of indices. The number of elements; -1 for a dtype
   * that it does not know, or where there is no room for all parts. */
  int64_t (*read)(const DLTensor* tensor, double* parts, int64_t room);
  /* Writes `value`, a power of two (as complex number minus i times that), to each element; -1 as above. */
  int32_t (*fill)(const DLTensor* tensor, double value);
  /* The caller owns the result; NULL where the order cannot be met. */
  DLManagedTensorVersioned* (*make)(const ConsumerOrder* order);
  DLManagedTensor* (*make_legacy)(const ConsumerOrder* order);
} Consumer;

/* The one symbol that each of the libraries exports. */
#define CONSUMER_ENTRY "consumer_entry"

#endif
