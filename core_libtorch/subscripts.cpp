#include "core_libtorch/subscripts.h"

#include <ATen/TensorIndexing.h>
#include <c10/util/SmallVector.h>

#include "core_libtorch/error_context.h"

namespace simple_torch::core {
namespace {

namespace indexing = at::indexing;

std::optional<c10::SymInt> part(const std::optional<int64_t>& value) {
  return value ? std::optional<c10::SymInt>(*value) : std::nullopt;
}

struct ToIndex {
  indexing::TensorIndex operator()(int64_t index) const { return index; }
  indexing::TensorIndex operator()(bool index) const { return index; }
  indexing::TensorIndex operator()(NewDimension /*unused*/) const { return indexing::None; }
  indexing::TensorIndex operator()(Ellipsis /*unused*/) const { return indexing::Ellipsis; }
  indexing::TensorIndex operator()(const Slice& slice) const {
    return indexing::Slice(part(slice.start), part(slice.stop), part(slice.step));
  }
  indexing::TensorIndex operator()(const at::Tensor& index) const { return index; }
};

using Indices = c10::SmallVector<indexing::TensorIndex, 4>;

Indices indices(c10::ArrayRef<Subscript> subscripts) {
  Indices all;
  all.reserve(subscripts.size());
  for (const Subscript& subscript : subscripts) {
    all.push_back(std::visit(ToIndex{}, subscript));
  }
  return all;
}

}  // namespace

at::Tensor get_item(const at::Tensor& tensor, c10::ArrayRef<Subscript> subscripts) {
  return with_error_context("get_item", {&tensor},
                            [&] { return indexing::get_item(tensor, indices(subscripts)); });
}

void set_item(const at::Tensor& tensor, c10::ArrayRef<Subscript> subscripts, const at::Tensor& value) {
  with_error_context("set_item", {&tensor, &value},
                     [&] { indexing::set_item(tensor, indices(subscripts), value); });
}

void set_item(const at::Tensor& tensor, c10::ArrayRef<Subscript> subscripts, const at::Scalar& value) {
  at::Tensor written = tensor;
  with_error_context("set_item", {&tensor}, [&] { written.index_put_(indices(subscripts), value); });
}

}  // namespace simple_torch::core
