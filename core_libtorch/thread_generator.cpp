#include "core_libtorch/thread_generator.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/rand_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>

#include <utility>

#include "core_libtorch/counted_lock.h"
#include "core_libtorch/error.h"
#include "core_libtorch/ops.h"

// OpenMP's function sets the number for the calling thread only; at::set_num_threads() also sets it for new
// threads.
extern "C" __attribute__((weak)) void omp_set_num_threads(int count);

namespace simple_torch::core {
namespace {

thread_local at::Generator own;
thread_local int threads_before = 0;

void use_threads(int count) {
  if (omp_set_num_threads != nullptr) {
    omp_set_num_threads(count);
  }
}

bool uses_own_generator(const at::Tensor& tensor) { return own.defined() && tensor.is_cpu(); }

}  // namespace

void use_generator(std::optional<at::Generator> generator) {
  if (generator && !generator->device().is_cpu()) {
    throw Error(
        ErrorKind::kInvalidArgument,
        "the default generator of a thread must be a CPU generator, got " + generator->device().str());
  }
  if (generator && !own.defined()) {
    threads_before = at::get_num_threads();  // also initializes OpenMP's state of this thread
    use_threads(1);
  } else if (!generator && own.defined()) {
    use_threads(threads_before);
  }
  own = generator ? std::move(*generator) : at::Generator();
}

const at::Generator& thread_generator() noexcept { return own; }

at::Generator default_generator(c10::Device device) {
  return own.defined() && device.is_cpu() ? own : at::globalContext().defaultGenerator(device);
}

// A worker of a data loader seeds its own generator only, as a worker process of Python does.
void manual_seed(int64_t seed) {
  if (!own.defined()) {
    at::manual_seed(static_cast<uint64_t>(seed));
    return;
  }
  const CountedLockGuard guard(own.mutex());
  own.set_current_seed(static_cast<uint64_t>(seed));
}

at::Tensor rand(at::IntArrayRef sizes) {
  return own.defined() ? at::rand(sizes, own, at::TensorOptions()) : at::rand(sizes);
}

at::Tensor randn(at::IntArrayRef sizes) {
  return own.defined() ? at::randn(sizes, own, at::TensorOptions()) : at::randn(sizes);
}

at::Tensor rand_like(const at::Tensor& tensor) {
  return uses_own_generator(tensor) ? at::rand(tensor.sizes(), own, tensor.options()) : at::rand_like(tensor);
}

at::Tensor randn_like(const at::Tensor& tensor) {
  return uses_own_generator(tensor) ? at::randn(tensor.sizes(), own, tensor.options())
                                    : at::randn_like(tensor);
}

}  // namespace simple_torch::core
