// Between Simple's arrays and text and the canonical form's pointers and lengths.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "simple_torch/spl_runtime.h"

namespace simple_torch::abi {

/// A Simple array as consecutive Ts; NULL is the empty list. When a value does not fit, the error is
/// recorded and ok() is false. Short lists, which shapes are, need no allocation.
template <class T>
class ListArgument {
 public:
  ListArgument(const SplArray* array, const char* name);

  bool ok() const noexcept { return ok_; }
  const T* data() const noexcept { return large_.empty() ? small_.data() : large_.data(); }
  int64_t size() const noexcept { return size_; }

 private:
  std::array<T, 8> small_{};
  std::vector<T> large_;
  int64_t size_ = 0;
  bool ok_ = true;
};

using IntList = ListArgument<int64_t>;       // values of tag INT
using FloatList = ListArgument<double>;      // FLOAT or INT
using TextList = ListArgument<const char*>;  // STRING; the array keeps the texts

/// The items of a list that the caller passed as single arguments.
template <size_t N>
struct FlatList {
  std::array<int64_t, N> items;
  static constexpr bool ok() noexcept { return true; }
  const int64_t* data() const noexcept { return items.data(); }
  static constexpr int64_t size() noexcept { return N; }
};

/// A new Simple array with the items, which are freed. Never NULL.
SplArray* array_taking(int64_t* items, int64_t size);
SplArray* array_taking(double* items, int64_t size);

/// A new Simple array of several results; empty when the call failed.
SplArray* array_of_results(std::initializer_list<int64_t> handles);

/// The text as the Simple runtime allocates it, from one that is freed. "" for NULL.
char* text_taking(char* text);

}  // namespace simple_torch::abi
