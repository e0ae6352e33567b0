// The fixture of the C ABI tests: tensors by value, and a check for leaked handles.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simple_torch/c_api.h"

inline constexpr int64_t kUntouched = -77;  // the value of an out parameter before a call that must not write

/// Copies and frees a string that a function returned.
inline std::string take_string(char* text) {
  std::string copy = text == nullptr ? "" : text;
  spt_free(text);
  return copy;
}

/// An owned handle.
class Handle {
 public:
  Handle() = default;
  explicit Handle(int64_t handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() {
    if (handle_ != 0) {
      spt_release(handle_);
    }
  }
  operator int64_t() const { return handle_; }  // NOLINT(google-explicit-constructor): implicit by intention
  int64_t release() { return std::exchange(handle_, 0); }

 private:
  int64_t handle_ = 0;
};

class CApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    bool available = false;
    ASSERT_EQ(spt_available(&available), SPT_OK);
    char* why = nullptr;
    ASSERT_EQ(spt_why_unavailable(&why), SPT_OK);
    ASSERT_TRUE(available) << why;
    spt_free(why);
    ASSERT_EQ(live(), 0);
  }
  void TearDown() override { EXPECT_EQ(live(), 0) << "the test leaked handles"; }

  static int64_t live() {
    int64_t count = -1;
    spt_live_handles(0, &count);
    return count;
  }

  /// Calls a function whose last parameter is one out handle.
  template <class Function, class... Arguments>
  static Handle create(Function* function, Arguments... arguments) {
    int64_t out = 0;
    EXPECT_EQ(function(arguments..., &out), SPT_OK) << spt_last_error_message();
    return Handle(out);
  }

  static Handle tensor(const std::vector<double>& values, const std::vector<int64_t>& dims) {
    return create(spt_from_data_as, values.data(), size(values), dims.data(), size(dims), int64_t{6});
  }
  static Handle integers(const std::vector<int64_t>& values, const std::vector<int64_t>& dims) {
    return create(spt_from_i64_data, values.data(), size(values), dims.data(), size(dims));
  }
  static Handle zeros(const std::vector<int64_t>& dims) { return create(spt_zeros, dims.data(), size(dims)); }
  static Handle ones(const std::vector<int64_t>& dims) { return create(spt_ones, dims.data(), size(dims)); }
  static Handle parameter(const std::vector<double>& values, const std::vector<int64_t>& dims) {
    Handle parameter = tensor(values, dims);
    EXPECT_EQ(spt_set_requires_grad(parameter, true), SPT_OK);
    return parameter;
  }

  static std::vector<double> values(int64_t handle) {
    double* items = nullptr;
    int64_t count = 0;
    EXPECT_EQ(spt_to_list(handle, &items, &count), SPT_OK) << spt_last_error_message();
    std::vector<double> copy(items, items + count);
    spt_free(items);
    return copy;
  }
  static std::vector<int64_t> shape(int64_t handle) {
    int64_t* items = nullptr;
    int64_t count = 0;
    EXPECT_EQ(spt_shape(handle, &items, &count), SPT_OK) << spt_last_error_message();
    std::vector<int64_t> copy(items, items + count);
    spt_free(items);
    return copy;
  }
  static std::string text(int64_t handle) {
    char* out = nullptr;
    EXPECT_EQ(spt_tensor_text(handle, &out), SPT_OK) << spt_last_error_message();
    return take_string(out);
  }
  static std::string dtype(int64_t handle) {
    int64_t code = 0;
    char* name = nullptr;
    EXPECT_EQ(spt_dtype(handle, &code), SPT_OK);
    EXPECT_EQ(spt_dtype_name(code, &name), SPT_OK);
    return take_string(name);
  }
  static void* data_ptr(int64_t handle) {
    void* address = nullptr;
    EXPECT_EQ(spt_data_ptr(handle, &address), SPT_OK);
    return address;
  }
  static std::string field(const char* name) { return spt_last_error_field(name); }

  template <class Vector>
  static int64_t size(const Vector& vector) {
    return static_cast<int64_t>(vector.size());
  }
};
