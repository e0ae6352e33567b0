/* A library in C99 that knows DLPack and nothing else: it reads, writes and lends tensors. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS is not of C99 */
#include "consumer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- one element --- */

/* Floats that C has no type for; `exponent` and `mantissa` are numbers of bits. */
struct Small {
  uint8_t code;
  uint8_t bits;
  int exponent;
  int mantissa;
  int bias;
};

static const struct Small kSmalls[] = {
    {kDLFloat, 16, 5, 10, 15},         {kDLBfloat, 16, 8, 7, 127},    {kDLFloat8_e4m3fn, 8, 4, 3, 7},
    {kDLFloat8_e4m3fnuz, 8, 4, 3, 8},  {kDLFloat8_e5m2, 8, 5, 2, 15}, {kDLFloat8_e5m2fnuz, 8, 5, 2, 16},
    {kDLFloat8_e8m0fnu, 8, 8, 0, 127},
};

static const struct Small* small_of(uint8_t code, uint8_t bits) {
  size_t i;
  for (i = 0; i < sizeof kSmalls / sizeof kSmalls[0]; ++i) {
    if (kSmalls[i].code == code && kSmalls[i].bits == bits) {
      return &kSmalls[i];
    }
  }
  return NULL;
}

/* Finite values only. */
static double decoded(uint32_t bits, const struct Small* kind) {
  const uint32_t mantissa = bits & ((1U << kind->mantissa) - 1U);
  const uint32_t exponent = (bits >> kind->mantissa) & ((1U << kind->exponent) - 1U);
  const int is_negative = (int)(bits >> (kind->mantissa + kind->exponent)) & 1;
  const double fraction = ldexp((double)mantissa, -kind->mantissa);
  const int is_subnormal = exponent == 0 && kind->mantissa > 0;
  const double size =
      is_subnormal ? ldexp(fraction, 1 - kind->bias) : ldexp(1.0 + fraction, (int)exponent - kind->bias);
  return is_negative ? -size : size;
}

/* Of a power of two, or minus one. */
static uint32_t encoded(double value, const struct Small* kind) {
  int exponent = 0;
  frexp(value, &exponent);
  return ((value < 0 ? 1U : 0U) << (kind->mantissa + kind->exponent)) |
         ((uint32_t)(exponent - 1 + kind->bias) << kind->mantissa);
}

#define READ_AS(type)                  \
  {                                    \
    type value;                        \
    memcpy(&value, at, sizeof(value)); \
    *out = (double)value;              \
    return 0;                          \
  }

#define WRITE_AS(type)                  \
  {                                     \
    const type stored = (type)value;    \
    memcpy(at, &stored, sizeof stored); \
    return 0;                           \
  }

/* `action` with each type that C has for a code and a number of bits. */
#define FOR_TYPE_OF(code, bits, action)               \
  switch ((unsigned)(code) << 8 | (unsigned)(bits)) { \
    case kDLUInt << 8 | 8:                            \
    case kDLBool << 8 | 8:                            \
      action(uint8_t);                                \
    case kDLUInt << 8 | 16:                           \
      action(uint16_t);                               \
    case kDLUInt << 8 | 32:                           \
      action(uint32_t);                               \
    case kDLUInt << 8 | 64:                           \
      action(uint64_t);                               \
    case kDLInt << 8 | 8:                             \
      action(int8_t);                                 \
    case kDLInt << 8 | 16:                            \
      action(int16_t);                                \
    case kDLInt << 8 | 32:                            \
      action(int32_t);                                \
    case kDLInt << 8 | 64:                            \
      action(int64_t);                                \
    case kDLFloat << 8 | 32:                          \
      action(float);                                  \
    case kDLFloat << 8 | 64:                          \
      action(double);                                 \
    default:                                          \
      break;                                          \
  }

static int read_real(const void* at, uint8_t code, uint8_t bits, double* out) {
  const struct Small* kind = small_of(code, bits);
  if (kind != NULL) {
    uint16_t stored = 0;
    memcpy(&stored, at, bits / 8U);
    *out = decoded(stored, kind);
    return 0;
  }
  FOR_TYPE_OF(code, bits, READ_AS)
  return -1;
}

static int write_real(void* at, uint8_t code, uint8_t bits, double value) {
  const struct Small* kind = small_of(code, bits);
  if (kind != NULL) {
    const uint16_t stored = (uint16_t)encoded(value, kind);
    memcpy(at, &stored, bits / 8U);
    return 0;
  }
  FOR_TYPE_OF(code, bits, WRITE_AS)
  return -1;
}

static int read_element(const char* at, DLDataType dtype, double parts[2]) {
  const uint8_t half = (uint8_t)(dtype.bits / 2);
  parts[1] = 0;
  if (dtype.code != kDLComplex) {
    return read_real(at, dtype.code, dtype.bits, &parts[0]);
  }
  return read_real(at, kDLFloat, half, &parts[0]) | read_real(at + half / 8, kDLFloat, half, &parts[1]);
}

static int write_element(char* at, DLDataType dtype, double value) {
  const uint8_t half = (uint8_t)(dtype.bits / 2);
  if (dtype.code != kDLComplex) {
    return write_real(at, dtype.code, dtype.bits, value);
  }
  return write_real(at, kDLFloat, half, value) | write_real(at + half / 8, kDLFloat, half, -value);
}

/* --- all elements --- */

static int64_t count_of(const DLTensor* tensor) {
  int64_t count = 1;
  int32_t dim;
  for (dim = 0; dim < tensor->ndim; ++dim) {
    count *= tensor->shape[dim];
  }
  return count;
}

/* The place of the element that is number `index` in the order of indices. */
static char* place(const DLTensor* tensor, int64_t index) {
  int64_t elements = 0;
  int64_t step = 1; /* of rows without gaps, where the strides are left out */
  int32_t dim;
  for (dim = tensor->ndim - 1; dim >= 0; --dim) {
    const int64_t stride = tensor->strides != NULL ? tensor->strides[dim] : step;
    elements += index % tensor->shape[dim] * stride;
    index /= tensor->shape[dim];
    step *= tensor->shape[dim];
  }
  return (char*)tensor->data + tensor->byte_offset + elements * (tensor->dtype.bits / 8);
}

static int64_t read_all(const DLTensor* tensor, double* parts, int64_t room) {
  const int64_t count = count_of(tensor);
  int64_t i;
  if (2 * count > room) {
    return -1;
  }
  for (i = 0; i < count; ++i) {
    if (read_element(place(tensor, i), tensor->dtype, parts + 2 * i) != 0) {
      return -1;
    }
  }
  return count;
}

static int32_t fill(const DLTensor* tensor, double value) {
  const int64_t count = count_of(tensor);
  int64_t i;
  for (i = 0; i < count; ++i) {
    if (write_element(place(tensor, i), tensor->dtype, value) != 0) {
      return -1;
    }
  }
  return 0;
}

/* --- making --- */

/* What stands behind a lent tensor: one of the two structures is the one that was lent. */
struct Lent {
  DLManagedTensorVersioned versioned;
  DLManagedTensor legacy;
  int64_t shape[CONSUMER_MOST_DIMS];
  int64_t strides[CONSUMER_MOST_DIMS];
  void* memory;
  size_t bytes;
  int is_mapped;
  int32_t* deletions;
};

static void end(struct Lent* lent) {
  __sync_fetch_and_add(lent->deletions, 1);
  if (lent->is_mapped) {
    munmap(lent->memory, lent->bytes);
  } else {
    free(lent->memory);
  }
  free(lent);
}

static void end_versioned(DLManagedTensorVersioned* self) { end((struct Lent*)self->manager_ctx); }
static void end_legacy(DLManagedTensor* self) { end((struct Lent*)self->manager_ctx); }

static int64_t slots_of(const ConsumerOrder* order) {
  int64_t last = order->offset;
  int32_t dim;
  for (dim = 0; dim < order->ndim; ++dim) {
    if (order->shape[dim] == 0) {
      return 0;
    }
    last += (order->shape[dim] - 1) * order->strides[dim];
  }
  return last + 1;
}

static int allocate(struct Lent* lent, const ConsumerOrder* order) {
  const int64_t slots = slots_of(order);
  const int64_t item = order->dtype.bits / 8;
  int64_t i;
  lent->bytes = (size_t)(slots * item);
  lent->is_mapped = order->memory != CONSUMER_HEAP && slots > 0;
  lent->memory = lent->is_mapped
                     ? mmap(NULL, lent->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                     : calloc(lent->bytes + 1, 1);
  for (i = 0; i < slots; ++i) {
    const double value = order->dtype.code == kDLBool ? (double)(i % 2) : ldexp(1.0, (int)(i % 6));
    if (write_element((char*)lent->memory + i * item, order->dtype, value) != 0) {
      return -1;
    }
  }
  if (lent->is_mapped && order->memory == CONSUMER_LOCKED_PAGES) {
    return mprotect(lent->memory, lent->bytes, PROT_READ);
  }
  return 0;
}

static struct Lent* lend(const ConsumerOrder* order, DLTensor* out) {
  struct Lent* lent = (struct Lent*)calloc(1, sizeof *lent);
  if (lent == NULL || allocate(lent, order) != 0) {
    return NULL;
  }
  memcpy(lent->shape, order->shape, sizeof lent->shape);
  memcpy(lent->strides, order->strides, sizeof lent->strides);
  lent->deletions = order->deletions;
  out->data = lent->bytes > 0 ? lent->memory : NULL;
  out->device.device_type = kDLCPU;
  out->device.device_id = 0;
  out->ndim = order->ndim;
  out->dtype = order->dtype;
  out->shape = order->ndim > 0 ? lent->shape : NULL;
  out->strides = order->ndim > 0 && !order->bare_strides ? lent->strides : NULL;
  out->byte_offset = (uint64_t)order->offset * (order->dtype.bits / 8U);
  return lent;
}

static DLManagedTensorVersioned* make(const ConsumerOrder* order) {
  DLTensor tensor;
  struct Lent* lent = lend(order, &tensor);
  if (lent == NULL) {
    return NULL;
  }
  lent->versioned.version.major = 1;
  lent->versioned.version.minor = order->minor;
  lent->versioned.flags = order->flags;
  lent->versioned.dl_tensor = tensor;
  lent->versioned.manager_ctx = lent;
  lent->versioned.deleter = end_versioned;
  return &lent->versioned;
}

static DLManagedTensor* make_legacy(const ConsumerOrder* order) {
  DLTensor tensor;
  struct Lent* lent = lend(order, &tensor);
  if (lent == NULL) {
    return NULL;
  }
  lent->legacy.dl_tensor = tensor;
  lent->legacy.manager_ctx = lent;
  lent->legacy.deleter = end_legacy;
  return &lent->legacy;
}

__attribute__((visibility("default"))) const Consumer* consumer_entry(void);
const Consumer* consumer_entry(void) {
  static const Consumer consumer = {read_all, fill, make, make_legacy};
  return &consumer;
}
