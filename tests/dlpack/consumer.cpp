// A library in C++ that knows only DLPack: it reads, writes and exports tensors.
#include "consumer.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

namespace {

// ---- elements: types with `get` and `put`

template <class T>
T loaded(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
struct Plain {
  static constexpr int64_t size = sizeof(T);
  static double get(const std::byte* at) { return static_cast<double>(loaded<T>(at)); }
  static void put(std::byte* at, double value) {
    const auto stored = static_cast<T>(value);
    std::memcpy(at, &stored, sizeof stored);
  }
};

/// A float of `Bits` bits with `Exponent` exponent bits. The exponent is a double's, less 1023 plus `Bias`.
/// Only normal numbers with a mantissa that fits are written.
template <class Bits, int Exponent, int Bias, bool HasSign = true>
struct Shortened {
  static constexpr int64_t size = sizeof(Bits);
  static constexpr int kMantissa = static_cast<int>(8 * sizeof(Bits)) - Exponent - (HasSign ? 1 : 0);
  static constexpr uint64_t kExponents = (uint64_t{1} << Exponent) - 1;

  static double get(const std::byte* at) {
    const uint64_t bits = loaded<Bits>(at);
    const uint64_t sign = HasSign ? bits >> (kMantissa + Exponent) : 0;
    const uint64_t exponent = (bits >> kMantissa & kExponents) + 1023 - Bias;
    const uint64_t mantissa = bits & ((uint64_t{1} << kMantissa) - 1);
    return bits == 0 && HasSign
               ? 0.0
               : std::bit_cast<double>(sign << 63 | exponent << 52 | mantissa << (52 - kMantissa));
  }
  static void put(std::byte* at, double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    const uint64_t exponent = (bits >> 52 & 2047) + Bias - 1023;
    const auto stored = static_cast<Bits>((bits >> 63) << (kMantissa + Exponent) | exponent << kMantissa);
    std::memcpy(at, &stored, sizeof stored);
  }
};

using Half = Shortened<uint16_t, 5, 15>;

struct Element {
  uint8_t code;
  uint8_t bits;
  int64_t size;  // of the real part
  double (*get)(const std::byte*);
  void (*put)(std::byte*, double);
};

template <class Real>
constexpr Element element(DLDataTypeCode code) {
  const int parts = code == kDLComplex ? 2 : 1;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * Real::size * parts), Real::size, Real::get,
          Real::put};
}

constexpr Element kElements[] = {
    element<Plain<uint8_t>>(kDLUInt),
    element<Plain<uint16_t>>(kDLUInt),
    element<Plain<uint32_t>>(kDLUInt),
    element<Plain<uint64_t>>(kDLUInt),
    element<Plain<int8_t>>(kDLInt),
    element<Plain<int16_t>>(kDLInt),
    element<Plain<int32_t>>(kDLInt),
    element<Plain<int64_t>>(kDLInt),
    element<Half>(kDLFloat),
    element<Plain<float>>(kDLFloat),
    element<Plain<double>>(kDLFloat),
    element<Shortened<uint16_t, 8, 127>>(kDLBfloat),
    element<Half>(kDLComplex),
    element<Plain<float>>(kDLComplex),
    element<Plain<double>>(kDLComplex),
    element<Plain<bool>>(kDLBool),
    element<Shortened<uint8_t, 4, 7>>(kDLFloat8_e4m3fn),
    element<Shortened<uint8_t, 4, 8>>(kDLFloat8_e4m3fnuz),
    element<Shortened<uint8_t, 5, 15>>(kDLFloat8_e5m2),
    element<Shortened<uint8_t, 5, 16>>(kDLFloat8_e5m2fnuz),
    element<Shortened<uint8_t, 8, 127, false>>(kDLFloat8_e8m0fnu),
};

const Element* element_of(DLDataType dtype) {
  const auto* found = std::find_if(std::begin(kElements), std::end(kElements), [&](const Element& each) {
    return each.code == dtype.code && each.bits == dtype.bits;
  });
  return found != std::end(kElements) ? found : nullptr;
}

void put(const Element& element, std::byte* at, double value) {
  element.put(at, value);
  if (element.code == kDLComplex) {
    element.put(at + element.size, -value);
  }
}

// ---- tensors

/// Visits the address of each element, in the order of indices, without multiplying indices.
void walk(const DLTensor& tensor, int32_t dim, std::byte* at, const std::function<void(std::byte*)>& visit) {
  if (dim == tensor.ndim) {
    visit(at);
    return;
  }
  int64_t stride =
      std::accumulate(tensor.shape + dim + 1, tensor.shape + tensor.ndim, int64_t{1}, std::multiplies());
  if (tensor.strides != nullptr) {
    stride = tensor.strides[dim];
  }
  for (int64_t i = 0; i < tensor.shape[dim]; ++i) {
    walk(tensor, dim + 1, at + i * stride * (tensor.dtype.bits / 8), visit);
  }
}

std::byte* first(const DLTensor& tensor) { return static_cast<std::byte*>(tensor.data) + tensor.byte_offset; }

int64_t read(const DLTensor* tensor, double* parts, int64_t capacity) {
  const Element* element = element_of(tensor->dtype);
  int64_t used = 0;
  if (element != nullptr) {
    walk(*tensor, 0, first(*tensor), [&](const std::byte* at) {
      if (used + 2 <= capacity) {
        parts[used] = element->get(at);
        parts[used + 1] = element->code == kDLComplex ? element->get(at + element->size) : 0;
      }
      used += 2;
    });
  }
  return element == nullptr || used > capacity ? -1 : used / 2;
}

int32_t fill(const DLTensor* tensor, double value) {
  const Element* element = element_of(tensor->dtype);
  if (element == nullptr) {
    return -1;
  }
  walk(*tensor, 0, first(*tensor), [&](std::byte* at) { put(*element, at, value); });
  return 0;
}

/// Memory from `new` or mmap.
class Memory {
 public:
  Memory(size_t bytes, bool is_mapped) : bytes_(bytes), is_mapped_(is_mapped && bytes > 0) {
    start_ = is_mapped_ ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
                        : ::operator new(bytes);
  }
  Memory(const Memory&) = delete;
  ~Memory() {
    if (is_mapped_) {
      munmap(start_, bytes_);
    } else {
      ::operator delete(start_);
    }
  }
  std::byte* start() const { return static_cast<std::byte*>(start_); }
  void lock() const {
    if (is_mapped_) {
      mprotect(start_, bytes_, PROT_READ);
    }
  }

 private:
  size_t bytes_;
  bool is_mapped_;
  void* start_;
};

/// The owner of an exported tensor; counts its deletion.
template <class Structure>
struct ExportedTensor {
  ExportedTensor(const ConsumerOrder& given, size_t bytes)
      : order(given), memory(bytes, given.memory != CONSUMER_HEAP), structure{} {}
  ~ExportedTensor() { std::atomic_ref(*order.deletions).fetch_add(1); }

  ConsumerOrder order;  // holds the shape and strides
  Memory memory;
  Structure structure;
};

int64_t slots_of(const ConsumerOrder& order) {
  const int64_t* end = order.shape + order.ndim;
  if (std::find(order.shape, end, 0) != end) {
    return 0;
  }
  return std::inner_product(order.shape, end, order.strides, order.offset + 1, std::plus(),
                            [](int64_t size, int64_t stride) { return (size - 1) * stride; });
}

template <class Structure>
ExportedTensor<Structure>* make_export(const ConsumerOrder& order) {
  const Element* element = element_of(order.dtype);
  if (element == nullptr) {
    return nullptr;
  }
  const int64_t item = order.dtype.bits / 8;
  const int64_t slots = slots_of(order);
  auto* exported = new ExportedTensor<Structure>(order, static_cast<size_t>(slots * item));
  for (int64_t i = 0; i < slots; ++i) {
    const int64_t value = order.dtype.code == kDLBool ? i % 2 : int64_t{1} << i % 6;
    put(*element, exported->memory.start() + i * item, static_cast<double>(value));
  }
  if (order.memory == CONSUMER_LOCKED_PAGES) {
    exported->memory.lock();
  }
  exported->structure.dl_tensor = {slots > 0 ? exported->memory.start() : nullptr,
                                   {kDLCPU, 0},
                                   order.ndim,
                                   order.dtype,
                                   exported->order.shape,
                                   order.bare_strides != 0 ? nullptr : exported->order.strides,
                                   static_cast<uint64_t>(order.offset * item)};
  exported->structure.manager_ctx = exported;
  exported->structure.deleter = [](Structure* self) {
    delete static_cast<ExportedTensor<Structure>*>(self->manager_ctx);
  };
  return exported;
}

DLManagedTensorVersioned* make(const ConsumerOrder* order) {
  auto* exported = make_export<DLManagedTensorVersioned>(*order);
  if (exported == nullptr) {
    return nullptr;
  }
  exported->structure.version = {1, order->minor};
  exported->structure.flags = order->flags;
  return &exported->structure;
}

DLManagedTensor* make_legacy(const ConsumerOrder* order) {
  auto* exported = make_export<DLManagedTensor>(*order);
  return exported != nullptr ? &exported->structure : nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Consumer* consumer_entry() {
  static constexpr Consumer consumer{read, fill, make, make_legacy};
  return &consumer;
}
