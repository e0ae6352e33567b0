// Compares a call through the C ABI with the same call of LibTorch's C++ interface, in one process, on one
// thread.
//
// Prints one row a line: name, nanoseconds in C++, nanoseconds through the ABI.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "benchmarks/measure.h"
#include "simple_torch/c_api.h"

namespace {

using simple_torch::benchmarks::compare;

void check(int32_t status) {
  if (status != SPT_OK) {
    std::fprintf(stderr, "%s\n", spt_last_error_message());
    std::exit(1);
  }
}

int64_t handle_of(const at::Tensor& like) {
  const std::vector<int64_t> sizes = like.sizes().vec();
  int64_t handle = 0;
  check(spt_ones(sizes.data(), static_cast<int64_t>(sizes.size()), &handle));
  return handle;
}

void release(int64_t handle) { check(spt_release(handle)); }

/// The same elements for both: for large tensors the location of the memory matters more than the call.
at::Tensor tensor_of(int64_t handle, const at::Tensor& like) {
  void* address = nullptr;
  check(spt_data_ptr(handle, &address));
  return at::from_blob(address, like.sizes());
}

void typed_add(const char* name, const at::Tensor& like, int rounds, int64_t calls) {
  const int64_t handle = handle_of(like);
  const at::Tensor a = tensor_of(handle, like);
  compare(
      name, rounds, calls, [&] { at::add(a, a); },
      [&] {
        int64_t out = 0;
        check(spt_add(handle, handle, &out));
        release(out);
      });
  release(handle);
}

void add_by_number(const char* name, const at::Tensor& like, int rounds, int64_t calls) {
  const int64_t handle = handle_of(like);
  const at::Tensor a = tensor_of(handle, like);
  int64_t op = 0;
  check(spt_op_find("add", "Tensor", &op));
  SplValue args[2];
  for (SplValue& arg : args) {
    arg.tag = SPT_TENSOR;
    arg.as_int = handle;
  }
  compare(
      name, rounds, calls, [&] { at::add(a, a); },
      [&] {
        SplValue result;
        int64_t count = 0;
        check(spt_op_call(op, args, 2, &result, 1, &count));
        release(result.as_int);
      });
  release(handle);
}

}  // namespace

int main() {
  at::set_num_threads(1);
  bool available = false;
  check(spt_available(&available));
  if (!available) {
    return 1;
  }
  check(spt_set_num_threads(1));
  typed_add("typed-2x2", at::ones({2, 2}), 400, 2000);
  add_by_number("numbered-2x2", at::ones({2, 2}), 400, 2000);
  typed_add("typed-1000000", at::ones({1000000}), 1000, 5);
}
