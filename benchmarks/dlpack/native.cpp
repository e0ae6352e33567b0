// Compares export and import by DLPack in C++ with ATen's functions, in one process, on one thread.
//
// Prints one row a line: name, nanoseconds by ATen, nanoseconds by our functions.
#include <ATen/DLConvertor.h>
#include <ATen/ops/ones.h>

#include "benchmarks/measure.h"
#include "core_libtorch/small_blocks.h"
#include "dlpack_interop/interop.h"

namespace {

using namespace simple_torch;

void export_and_release(const at::Tensor& tensor) {
  benchmarks::compare(
      "export", 400, 2000,
      [&] {
        DLManagedTensorVersioned* out = at::toDLPackVersioned(tensor);
        out->deleter(out);
      },
      [&] { dlpack::export_tensor(tensor); });
}

void round_trip(const at::Tensor& tensor) {
  benchmarks::compare(
      "round-trip", 400, 2000, [&] { at::fromDLPackVersioned(at::toDLPackVersioned(tensor)); },
      [&] { dlpack::import_tensor(dlpack::export_tensor(tensor)); });
}

}  // namespace

int main() {
  core::use_small_blocks();
  const at::Tensor tensor = at::ones({2, 3});
  export_and_release(tensor);
  round_trip(tensor);
}
