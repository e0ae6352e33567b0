// Conversions between Simple's arrays and strings and the pointers and lengths of the canonical functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "simple_torch/spl_runtime.h"

namespace simple_torch::abi {

/// A Simple array as consecutive Ts; NULL is the empty list. If an item has another type, the error is
/// recorded and ok() is false. Short lists, such as shapes, need no allocation.
template <class T>
class ListArgument {
 public:
  ListArgument(const SplArray* array, const char* name) {
    if (array != nullptr && array->len != 0) {
      read(*array, name);
    }
  }

  bool ok() const noexcept { return ok_; }
  const T* data() const noexcept { return large_.empty() ? small_.data() : large_.data(); }
  int64_t size() const noexcept { return size_; }

 private:
  void read(const SplArray& array, const char* name);

  std::array<T, 8> small_{};
  std::vector<T> large_;
  int64_t size_ = 0;
  bool ok_ = true;
};

using IntList = ListArgument<int64_t>;       // values of tag INT
using FloatList = ListArgument<double>;      // FLOAT or INT
using TextList = ListArgument<const char*>;  // STRING; the array owns the strings

/// A list that the caller passed as single arguments.
template <size_t N>
struct FlatList {
  std::array<int64_t, N> items;
  static constexpr bool ok() noexcept { return true; }
  const int64_t* data() const noexcept { return items.data(); }
  static constexpr int64_t size() noexcept { return N; }
};

/// A new Simple array with the items; frees `items`. Never NULL.
SplArray* to_spl_array(int64_t* items, int64_t size);
SplArray* to_spl_array(double* items, int64_t size);

/// A new Simple array of the results of a call; empty if the call failed.
SplArray* array_of_results(std::initializer_list<int64_t> handles);

/// A string that the Simple runtime allocates; frees `text`. "" for NULL.
char* to_spl_string(char* text);

}  // namespace simple_torch::abi
