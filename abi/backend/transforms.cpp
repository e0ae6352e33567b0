// Bodies of function transforms.
#include "core_libtorch/autograd/transforms.h"

#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/error_context.h"

namespace simple_torch::abi::body {

int32_t transform_begin(const char* kind, int64_t batch_size, const char* randomness, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(kind, "kind");
    require(randomness, "randomness");
    *out = core::with_error_context("transform_begin", core::kNoOperands,
                                    [&] { return core::begin_transform(kind, batch_size, randomness); });
  });
}

int32_t transform_end() {
  return guarded(
      [] { core::with_error_context("transform_end", core::kNoOperands, [] { core::end_transform(); }); });
}

int32_t transform_wrap(int64_t a, int64_t level, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    const auto tensor = tensor_argument(a);
    *out = new_handle(core::with_error_context("transform_wrap", {&*tensor},
                                               [&] { return core::wrapped_for(*tensor, level); }));
  });
}

int32_t transform_unwrap(int64_t a, int64_t level, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    const auto tensor = tensor_argument(a);
    *out = new_handle(core::with_error_context("transform_unwrap", {&*tensor},
                                               [&] { return core::unwrapped_from(*tensor, level); }));
  });
}

int32_t transform_batch(int64_t a, int64_t dim, int64_t level, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    const auto tensor = tensor_argument(a);
    *out = new_handle(core::with_error_context("transform_batch", {&*tensor},
                                               [&] { return core::batched(*tensor, dim, level); }));
  });
}

int32_t transform_unbatch(int64_t a, int64_t level, int64_t batch_size, int64_t dim, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    const auto tensor = tensor_argument(a);
    *out = new_handle(core::with_error_context(
        "transform_unbatch", {&*tensor}, [&] { return core::unbatched(*tensor, level, batch_size, dim); }));
  });
}

int32_t forward_ad_begin(int64_t* out) {
  return guarded([&] {
    require(out, "out");
    *out = core::with_error_context("forward_ad_begin", core::kNoOperands,
                                    [] { return core::begin_forward_ad(); });
  });
}

int32_t forward_ad_end(int64_t level) {
  return guarded([&] {
    core::with_error_context("forward_ad_end", core::kNoOperands, [&] { core::end_forward_ad(level); });
  });
}

}  // namespace simple_torch::abi::body
