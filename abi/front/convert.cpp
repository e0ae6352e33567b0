// Conversions of Simple arrays.
#include "abi/front/convert.h"

#include <cstdlib>
#include <string>

#include "abi/front/errors.h"

namespace simple_torch::abi {
namespace {

bool read_value(const SplValue& value, int64_t& out) {
  out = value.as_int;
  return value.tag == SPL_INT;
}

bool read_value(const SplValue& value, double& out) {
  out = spl_as_float(value);
  return value.tag == SPL_FLOAT || value.tag == SPL_INT;
}

bool read_value(const SplValue& value, const char*& out) {
  out = value.as_string;
  return value.tag == SPL_STRING && value.as_string != nullptr;
}

template <class T>
constexpr const char* kExpected = "an integer";
template <>
constexpr const char* kExpected<double> = "a number";
template <>
constexpr const char* kExpected<const char*> = "a string";

const char* name_of_tag(int32_t tag) {
  static constexpr const char* kNames[] = {"nil",      "a bool",   "an integer", "a float",
                                           "a string", "an array", "a dict"};
  return tag >= 0 && tag < 7 ? kNames[tag] : "a value of unknown kind";
}

struct FreeDeleter {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

}  // namespace

template <class T>
void ListArgument<T>::read(const SplArray& array, const char* name) {
  size_ = array.len;
  if (size_ < 0 || array.items == nullptr) {
    record_error(ErrorKind::kInvalidArgument,
                 std::string(name) +
                     (size_ < 0 ? ": length must be non-negative, got " : ": items is NULL, and length is ") +
                     std::to_string(size_));
    ok_ = false;
    return;
  }
  T* out = small_.data();
  if (static_cast<size_t>(size_) > small_.size()) {
    large_.resize(static_cast<size_t>(size_));
    out = large_.data();
  }
  for (int64_t i = 0; i < size_; ++i) {
    const SplValue& value = array.items[i];
    if (!read_value(value, out[i])) {
      const bool is_null = value.tag == SPL_STRING && value.as_string == nullptr;
      record_error(ErrorKind::kInvalidArgument, std::string(name) + "[" + std::to_string(i) + "]: expected " +
                                                    kExpected<T> + ", got " +
                                                    (is_null ? "NULL" : name_of_tag(value.tag)));
      ok_ = false;
      return;
    }
  }
}

template class ListArgument<int64_t>;
template class ListArgument<double>;
template class ListArgument<const char*>;

SplArray* to_spl_array(int64_t* items, int64_t size) {
  const std::unique_ptr<int64_t, FreeDeleter> owner(items);
  SplArray* array = spl_array_new_i64();
  for (int64_t i = 0; i < size; ++i) {
    spl_array_push_i64(array, items[i]);
  }
  return array;
}

SplArray* to_spl_array(double* items, int64_t size) {
  const std::unique_ptr<double, FreeDeleter> owner(items);
  SplArray* array = spl_array_new();
  for (int64_t i = 0; i < size; ++i) {
    SplValue value{};
    value.tag = SPL_FLOAT;
    value.as_float = items[i];
    spl_array_push(array, value);
  }
  return array;
}

SplArray* array_of_results(std::initializer_list<int64_t> handles) {
  SplArray* array = spl_array_new_i64();
  for (const int64_t handle : handles) {
    if (handle != 0) {
      spl_array_push_i64(array, handle);
    }
  }
  return array;
}

char* to_spl_string(char* text) {
  const std::unique_ptr<char, FreeDeleter> owner(text);
  return spl_str_new(text == nullptr ? "" : text);
}

}  // namespace simple_torch::abi
