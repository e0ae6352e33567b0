// The fixture of the bridge's tests: calls Python through the C ABI, as a C program does.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "simple_torch/c_api.h"

/// An owned handle.
class Held {
 public:
  Held() = default;
  explicit Held(int64_t handle) : handle_(handle) {}
  Held(Held&& other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
  Held& operator=(Held&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Held() { release(); }

  int64_t get() const { return handle_; }
  int64_t detach() { return std::exchange(handle_, 0); }
  void release() {
    if (handle_ != 0) {
      spt_release(std::exchange(handle_, 0));
    }
  }

 private:
  int64_t handle_ = 0;
};

/// The arguments of a call with their kind letters.
class Args {
 public:
  Args() = default;
  Args(Args&& other) noexcept
      : kinds_(std::move(other.kinds_)),
        array_(std::exchange(other.array_, nullptr)),
        names_(std::move(other.names_)) {}
  ~Args() { spl_array_free(array_); }

  Args& nil() { return add('v', {SPL_NIL, {}}); }
  Args& truth(bool value) {
    SplValue item{SPL_BOOL, {}};
    item.as_bool = value;
    return add('v', item);
  }
  Args& number(int64_t value) { return add('v', integer(value)); }
  Args& real(double value) {
    SplValue item{SPL_FLOAT, {}};
    item.as_float = value;
    return add('v', item);
  }
  Args& text(const char* value) {
    SplValue item{SPL_STRING, {}};
    item.as_string = spl_str_new(value);
    return add('v', item);
  }
  Args& numbers(std::initializer_list<int64_t> values) {
    SplValue item{SPL_ARRAY, {}};
    item.as_array = spl_array_new();
    for (const int64_t value : values) {
      spl_array_push_i64(item.as_array, value);
    }
    return add('v', item);
  }
  Args& object(const Held& handle) { return add('o', integer(handle.get())); }
  Args& tensor(const Held& handle) { return add('t', integer(handle.get())); }
  Args& dlpack(int64_t handle) { return add('d', integer(handle)); }
  /// Names the last argument.
  Args& as(const char* name) {
    names_.push_back(name);
    return *this;
  }

  const char* kinds() const { return kinds_.c_str(); }
  const SplArray* values() const { return array_; }
  const char* const* names() const { return names_.data(); }
  int64_t name_count() const { return static_cast<int64_t>(names_.size()); }

 private:
  static SplValue integer(int64_t value) {
    SplValue item{SPL_INT, {}};
    item.as_int = value;
    return item;
  }
  Args& add(char kind, SplValue item) {
    kinds_ += kind;
    spl_array_push(array_, item);
    return *this;
  }

  std::string kinds_;
  SplArray* array_ = spl_array_new();
  std::vector<const char*> names_;
};

inline std::string last_message() { return spt_last_error_message(); }
inline std::string last_field(const char* name) { return spt_last_error_field(name); }

class PythonTest : public testing::Test {
 protected:
  /// A shell starts background processes with SIGINT ignored. Only once: later Python owns the signal.
  static void SetUpTestSuite() { [[maybe_unused]] static const auto before = std::signal(SIGINT, SIG_DFL); }

  void TearDown() override { EXPECT_EQ(live_handles(), 0) << "a test must release every handle"; }

  static int64_t live_handles() {
    int64_t total = 0;
    for (const int32_t kind : {SPT_HANDLE_TENSOR, SPT_HANDLE_OBJECT, SPT_HANDLE_DLPACK}) {
      int64_t live = 0;
      EXPECT_EQ(spt_live_handles(kind, &live), SPT_OK);
      total += live;
    }
    return total;
  }

  // Each of these expects success and returns the result.
  static Held import(const char* name) {
    return made([&](int64_t* out) { return spt_py_import(name, out); });
  }
  static Held get(const Held& object, const char* name) {
    return made([&](int64_t* out) { return spt_py_getattr(object.get(), name, out); });
  }
  static Held call(const Held& callable, const Args& args = {}) {
    return made([&](int64_t* out) { return try_call(callable, args, out); });
  }
  static Held invoke(const Held& object, const char* name, const Args& args = {}) {
    return made([&](int64_t* out) {
      return spt_py_call_method(object.get(), name, args.kinds(), args.values(), args.names(),
                                args.name_count(), out);
    });
  }
  static Held eval(const char* code, const Args& args = {}) {
    return made([&](int64_t* out) { return try_eval(code, args, out); });
  }
  static void exec(const char* code, const Args& args = {}) { expect_ok(try_exec(code, args)); }

  static int32_t try_call(const Held& callable, const Args& args, int64_t* out) {
    return spt_py_call(callable.get(), args.kinds(), args.values(), args.names(), args.name_count(), out);
  }
  static int32_t try_eval(const char* code, const Args& args, int64_t* out) {
    return spt_py_eval(code, args.kinds(), args.values(), args.names(), args.name_count(), out);
  }
  static int32_t try_exec(const char* code, const Args& args = {}) {
    return spt_py_exec(code, args.kinds(), args.values(), args.names(), args.name_count());
  }

  static int64_t number(const Held& object) {
    int64_t value = 0;
    expect_ok(spt_py_to_int(object.get(), &value));
    return value;
  }
  static double real(const Held& object) {
    double value = 0;
    expect_ok(spt_py_to_float(object.get(), &value));
    return value;
  }
  static bool truth(const Held& object) {
    bool value = false;
    expect_ok(spt_py_to_bool(object.get(), &value));
    return value;
  }
  static std::string text(const Held& object) {
    char* value = nullptr;
    expect_ok(spt_py_str(object.get(), &value));
    return take_string(value);
  }
  static std::string repr(const Held& object) {
    char* value = nullptr;
    expect_ok(spt_py_repr(object.get(), &value));
    return take_string(value);
  }

  static Held tensor(std::vector<double> values, std::vector<int64_t> dims) {
    return made([&](int64_t* out) {
      return spt_from_data(values.data(), static_cast<int64_t>(values.size()), dims.data(),
                           static_cast<int64_t>(dims.size()), out);
    });
  }
  static std::vector<double> values(const Held& tensor) {
    double* items = nullptr;
    int64_t count = 0;
    expect_ok(spt_to_list(tensor.get(), &items, &count));
    std::vector<double> result(items, items + count);
    spt_free(items);
    return result;
  }
  static int64_t address(const Held& tensor) {
    void* pointer = nullptr;
    expect_ok(spt_data_ptr(tensor.get(), &pointer));
    return reinterpret_cast<int64_t>(pointer);
  }
  static Held to_python(const Held& tensor) {
    return made([&](int64_t* out) { return spt_py_from_tensor(tensor.get(), out); });
  }
  static Held to_tensor(const Held& object) {
    return made([&](int64_t* out) { return spt_py_to_tensor(object.get(), out); });
  }

  static void expect_ok(int32_t status) {
    EXPECT_EQ(status, SPT_OK) << last_message() << last_field("traceback");
  }

  template <class Make>
  static Held made(Make&& make) {
    int64_t handle = 0;
    expect_ok(make(&handle));
    EXPECT_NE(handle, 0);
    return Held(handle);
  }

  static std::string take_string(char* text) {
    std::string copy = text != nullptr ? text : "";
    spt_free(text);
    return copy;
  }
};
