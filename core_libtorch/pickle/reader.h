// Reads pickles as torch.load(weights_only=True) does: nothing is run, and only known things are made.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// Makes a tensor or storage of what the pickle says.
struct Makers {
  /// From the persistent id's parts: the storage class ("torch FloatStorage"), key, location and element
  /// count.
  std::function<ValuePtr(const std::string& storage_class, const std::string& key,
                         const std::string& location, int64_t numel)>
      storage;
  /// Of a storage that the function above gave; `dtype` is empty where the storage says it.
  std::function<at::Tensor(const Value& storage, const std::string& dtype, int64_t offset,
                           const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                           bool requires_grad)>
      tensor;
};

/// Throws Error(kIo) with the fault for a broken pickle, and for one of anything else than None, bools,
/// integers of 64 bits, floats, complex numbers, texts, bytes, lists, tuples, sets, dicts, dtypes, devices,
/// tensors, parameters and arrays of NumPy's, which become tensors. Sets hold what the file says, in its
/// order.
ValuePtr unpickled(std::string_view bytes, const Makers& makers);

}  // namespace simple_torch::core::pickle
