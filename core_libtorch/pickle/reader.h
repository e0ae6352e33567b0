// Reads pickles as torch.load(weights_only=True): runs no code and makes only known objects.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

class Bytes;

/// Makes the tensors and storages of a pickle.
struct Makers {
  /// A storage from the persistent id's parts: the storage class ("torch FloatStorage"), key, location and
  /// element count.
  std::function<ValuePtr(const std::string& storage_class, const std::string& key,
                         const std::string& location, int64_t numel)>
      storage;
  /// A tensor on a storage that the function above returned; `dtype` is empty if the storage has it.
  std::function<at::Tensor(const Value& storage, const std::string& dtype, int64_t offset,
                           const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                           bool requires_grad)>
      tensor;
};

/// Reads None, bools, 64-bit integers, floats, complex numbers, strings, bytes, lists, tuples, sets, dicts,
/// dtypes, devices, tensors, parameters, and NumPy arrays as tensors. Sets keep the file's items in its
/// order. Throws Error(kIo) for anything else and for a corrupt pickle.
ValuePtr unpickled(std::string_view bytes, const Makers& makers);

/// The same for a pickle that more bytes follow; takes its bytes.
ValuePtr next_unpickled(Bytes& bytes, const Makers& makers);

}  // namespace simple_torch::core::pickle
