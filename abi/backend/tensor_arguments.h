// Conversions between the arguments of the C ABI and those of the core: handles and tensors, pointers with
// lengths and lists.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "abi/backend/arrays.h"
#include "abi/backend/guarded.h"
#include "abi/handles/handle_table.h"
#include "abi/utf8.h"
#include "simple_torch/spl_runtime.h"

namespace simple_torch::abi {

template <>
struct HandleKindOf<at::Tensor> {
  static constexpr HandleKind value = HandleKind::kTensor;
  /// The destruction of a tensor with a Python object may need the GIL; then the bridge releases the tensor.
  static void release(at::Tensor& tensor) noexcept;
};

inline HandleTable::Borrowed<at::Tensor> tensor_argument(int64_t handle) {
  return handles().get<at::Tensor>(handle);
}

/// nullopt for 0.
inline std::optional<at::Tensor> optional_tensor(int64_t handle) {
  return handle == 0 ? std::nullopt : std::optional<at::Tensor>(*tensor_argument(handle));
}

inline const at::Tensor* pointer_to(const std::optional<at::Tensor>& tensor) {
  return tensor ? &*tensor : nullptr;
}

/// Throws Error(kInvalidArgument) for a negative length, and for NULL with a positive length.
template <class T>
at::ArrayRef<T> list_argument(const T* items, int64_t size, const char* name) {
  if (size < 0) {
    throw Error(ErrorKind::kInvalidArgument,
                std::string(name) + ": length must be non-negative, got " + std::to_string(size));
  }
  if (size > 0) {
    require(items, name);
  }
  return {items, static_cast<size_t>(size)};
}

/// The number of values. Throws Error(kInvalidArgument) unless `kinds` has one letter for each.
inline size_t count_of_values(const char* kinds, const SplArray* values) {
  const size_t count = items_of(values).size();
  const size_t letters = kinds != nullptr ? std::strlen(kinds) : 0;
  if (letters != count) {
    throw Error(ErrorKind::kInvalidArgument,
                "kinds has " + std::to_string(letters) + " letters for " + std::to_string(count) + " values");
  }
  return count;
}

inline at::IntArrayRef dims_argument(const int64_t* items, int64_t size, const char* name) {
  return list_argument(items, size, name);
}

inline std::vector<std::string> string_list(const char* const* items, int64_t size, const char* name) {
  std::vector<std::string> texts;
  for (const char* item : list_argument(items, size, name)) {
    require(item, "a string");
    texts.emplace_back(item);
  }
  return texts;
}

inline std::vector<at::Tensor> tensor_list(const int64_t* items, int64_t size) {
  std::vector<at::Tensor> tensors;
  for (const int64_t handle : list_argument(items, size, "tensors")) {
    tensors.push_back(*tensor_argument(handle));
  }
  return tensors;
}

/// A new handle; 0 for an undefined tensor.
inline int64_t new_handle(at::Tensor tensor) {
  return tensor.defined() ? handles().insert(std::move(tensor)) : 0;
}

/// Stores new handles of all results.
template <class... Tensors, class... Outs>
void store_results(std::tuple<Tensors...>& results, Outs*... outs) {
  std::apply([&](auto&... tensor) { ((*outs = new_handle(std::move(tensor))), ...); }, results);
}

/// malloc'ed memory for `count` Ts, which spt_free frees; never NULL.
template <class T>
T* allocate(size_t count) {
  void* memory = std::malloc(count == 0 ? 1 : count * sizeof(T));
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return static_cast<T*>(memory);
}

template <class T>
void store_values(at::ArrayRef<T> values, T** out, int64_t* out_len) {
  *out = allocate<T>(values.size());
  std::copy(values.begin(), values.end(), *out);
  *out_len = static_cast<int64_t>(values.size());
}

inline void store_handles(std::vector<at::Tensor> tensors, int64_t** out, int64_t* out_len) {
  *out = allocate<int64_t>(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    (*out)[i] = new_handle(std::move(tensors[i]));
  }
  *out_len = static_cast<int64_t>(tensors.size());
}

/// A malloc'ed copy, which spt_free frees. Invalid UTF-8 is escaped.
inline char* to_malloc_string(const std::string& text) {
  std::string valid;
  assign_utf8(valid, text);
  char* copy = allocate<char>(valid.size() + 1);
  std::memcpy(copy, valid.c_str(), valid.size() + 1);
  return copy;
}

}  // namespace simple_torch::abi
