/* A library in C99 that knows only DLPack: it reads, writes and exports tensors. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS is not of C99 */
#include "consumer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- one element --- */

/* Floating-point formats without a C type; `exponent` and `mantissa` are numbers of bits. */
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

/* A power of two, or minus one. */
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

/* Calls `action` with the C type of each code and number of bits. */
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

/* The address of element number `index`, in the order of indices. */
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

static int64_t read_all(const DLTensor* tensor, double* parts, int64_t capacity) {
  const int64_t count = count_of(tensor);
  int64_t i;
  if (2 * count > capacity) {
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

/* --- creation --- */

/* The owner of an exported tensor; one of the two structures is the exported one. */
struct ExportedTensor {
  DLManagedTensorVersioned versioned;
  DLManagedTensor legacy;
  int64_t shape[CONSUMER_MOST_DIMS];
  int64_t strides[CONSUMER_MOST_DIMS];
  void* memory;
  size_t bytes;
  int is_mapped;
  int32_t* deletions;
};

static void end(struct ExportedTensor* exported) {
  __sync_fetch_and_add(exported->deletions, 1);
  if (exported->is_mapped) {
    munmap(exported->memory, exported->bytes);
  } else {
    free(exported->memory);
  }
  free(exported);
}

static void end_versioned(DLManagedTensorVersioned* self) { end((struct ExportedTensor*)self->manager_ctx); }
static void end_legacy(DLManagedTensor* self) { end((struct ExportedTensor*)self->manager_ctx); }

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

static int allocate(struct ExportedTensor* exported, const ConsumerOrder* order) {
  const int64_t slots = slots_of(order);
  const int64_t item = order->dtype.bits / 8;
  int64_t i;
  exported->bytes = (size_t)(slots * item);
  exported->is_mapped = order->memory != CONSUMER_HEAP && slots > 0;
  exported->memory = exported->is_mapped ? mmap(NULL, exported->bytes, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                         : calloc(exported->bytes + 1, 1);
  for (i = 0; i < slots; ++i) {
    const double value = order->dtype.code == kDLBool ? (double)(i % 2) : ldexp(1.0, (int)(i % 6));
    if (write_element((char*)exported->memory + i * item, order->dtype, value) != 0) {
      return -1;
    }
  }
  if (exported->is_mapped && order->memory == CONSUMER_LOCKED_PAGES) {
    return mprotect(exported->memory, exported->bytes, PROT_READ);
  }
  return 0;
}

static struct ExportedTensor* make_export(const ConsumerOrder* order, DLTensor* out) {
  struct ExportedTensor* exported = (struct ExportedTensor*)calloc(1, sizeof *exported);
  if (exported == NULL || allocate(exported, order) != 0) {
    return NULL;
  }
  memcpy(exported->shape, order->shape, sizeof exported->shape);
  memcpy(exported->strides, order->strides, sizeof exported->strides);
  exported->deletions = order->deletions;
  out->data = exported->bytes > 0 ? exported->memory : NULL;
  out->device.device_type = kDLCPU;
  out->device.device_id = 0;
  out->ndim = order->ndim;
  out->dtype = order->dtype;
  out->shape = order->ndim > 0 ? exported->shape : NULL;
  out->strides = order->ndim > 0 && !order->bare_strides ? exported->strides : NULL;
  out->byte_offset = (uint64_t)order->offset * (order->dtype.bits / 8U);
  return exported;
}

static DLManagedTensorVersioned* make(const ConsumerOrder* order) {
  DLTensor tensor;
  struct ExportedTensor* exported = make_export(order, &tensor);
  if (exported == NULL) {
    return NULL;
  }
  exported->versioned.version.major = 1;
  exported->versioned.version.minor = order->minor;
  exported->versioned.flags = order->flags;
  exported->versioned.dl_tensor = tensor;
  exported->versioned.manager_ctx = exported;
  exported->versioned.deleter = end_versioned;
  return &exported->versioned;
}

static DLManagedTensor* make_legacy(const ConsumerOrder* order) {
  DLTensor tensor;
  struct ExportedTensor* exported = make_export(order, &tensor);
  if (exported == NULL) {
    return NULL;
  }
  exported->legacy.dl_tensor = tensor;
  exported->legacy.manager_ctx = exported;
  exported->legacy.deleter = end_legacy;
  return &exported->legacy;
}

__attribute__((visibility("default"))) const Consumer* consumer_entry(void);
const Consumer* consumer_entry(void) {
  static const Consumer consumer = {read_all, fill, make, make_legacy};
  return &consumer;
}
