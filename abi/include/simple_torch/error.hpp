// The error of a function of the C ABI as a C++ exception. Requires C++17 and the C ABI, not LibTorch.
#ifndef SIMPLE_TORCH_ERROR_HPP_
#define SIMPLE_TORCH_ERROR_HPP_

#include <simple_torch/c_api.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace simple_torch {

/// An error of the library: the copy of a thread's error record. what() is PyTorch's message where it has
/// one.
class TorchError : public std::runtime_error {
 public:
  TorchError(SptStatus kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  /// The error of the calling thread's latest call. Needs a call that failed.
  static TorchError of_latest_call() {
    TorchError error(static_cast<SptStatus>(spt_last_error_kind()), spt_last_error_message());
    error.op_ = spt_last_error_field("op");
    error.expected_ = spt_last_error_field("expected");
    error.got_ = spt_last_error_field("got");
    error.type_ = spt_last_error_field("type");
    error.traceback_ = spt_last_error_field("traceback");
    return error;
  }

  /// What a program branches on: SPT_SHAPE_MISMATCH, SPT_OUT_OF_MEMORY, …
  SptStatus kind() const noexcept { return kind_; }
  /// The operation, and the shapes, dtypes or devices that it expected and got; "" where they do not apply.
  const std::string& op() const noexcept { return op_; }
  const std::string& expected() const noexcept { return expected_; }
  const std::string& got() const noexcept { return got_; }
  /// Of an exception of Python: its type and traceback.
  const std::string& type() const noexcept { return type_; }
  const std::string& traceback() const noexcept { return traceback_; }

 private:
  SptStatus kind_;
  std::string op_, expected_, got_, type_, traceback_;
};

/// Throws TorchError unless `status` is SPT_OK.
inline void check(int32_t status) {
  if (status != SPT_OK) {
    throw TorchError::of_latest_call();
  }
}

}  // namespace simple_torch

#endif  // SIMPLE_TORCH_ERROR_HPP_
