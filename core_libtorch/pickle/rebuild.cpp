#include "core_libtorch/pickle/rebuild.h"

#include <ATen/ops/_sparse_compressed_tensor_unsafe.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/_validate_sparse_compressed_tensor_args.h>
#include <ATen/ops/_validate_sparse_coo_tensor_args.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core_libtorch/pickle/bytes.h"
#include "core_libtorch/pickle/parts.h"
#include "core_libtorch/pickle/sparse_layouts.h"

namespace simple_torch::core::pickle {
namespace {

constexpr std::string_view kOfType = "torch._tensor _rebuild_from_type_v2";

ValuePtr made_tensor(Kind kind, at::Tensor tensor) {
  ValuePtr made = make_value(kind);
  made->tensor = std::move(tensor);
  return made;
}

bool flag_of(const Value& arguments, size_t index) {
  return part_of(arguments, index, Kind::kBool, "flag").number != 0;
}

std::vector<int64_t> sizes_of(const Value& arguments, size_t index) {
  return integers_of(part_of(arguments, index, Kind::kTuple, "shape"), "size");
}

at::Tensor on_storage(const Value& arguments, const std::string& dtype, bool requires_grad,
                      const Makers& makers) {
  return makers.tensor(part_of(arguments, 0, Kind::kStorage, "storage"), dtype,
                       part_of(arguments, 1, Kind::kInt, "offset").number, sizes_of(arguments, 2),
                       sizes_of(arguments, 3), requires_grad);
}

/// Sets the bits of lazy conjugation and negation: {"conj": true, "neg": true}.
void set_math_bits(const at::Tensor& tensor, const Value& bits) {
  for (size_t i = 0; bits.is_dict() && i + 1 < bits.items.size(); i += 2) {
    const std::string& name = part_of(bits, i, Kind::kText, "name of a bit").text;
    const bool value = flag_of(bits, i + 1);
    if (name == "conj" && (tensor.is_complex() || !value)) {
      tensor._set_conj(value);
    } else if (name == "neg") {
      tensor._set_neg(value);
    } else {
      fail("it contains a tensor with unknown metadata " + name);
    }
  }
}

/// _rebuild_tensor_v2, and v3, which names the dtype.
ValuePtr dense(const Value& arguments, bool names_dtype, const Makers& makers) {
  const std::string dtype = names_dtype ? part_of(arguments, 6, Kind::kDtype, "dtype").text : "";
  at::Tensor tensor = on_storage(arguments, dtype, flag_of(arguments, 4), makers);
  const size_t metadata = names_dtype ? 7 : 6;
  if (metadata < arguments.items.size()) {
    set_math_bits(tensor, *arguments.items[metadata]);
  }
  return made_tensor(Kind::kTensor, std::move(tensor));
}

ValuePtr parameter(const Value& arguments) {
  const at::Tensor& tensor = part_of(arguments, 0, Kind::kTensor, "tensor").tensor;
  return made_tensor(Kind::kParameter, tensor.requires_grad_(flag_of(arguments, 1)));
}

const at::Tensor& dense_part(const Value& parts, size_t index) {
  const at::Tensor& tensor = part_of(parts, index, Kind::kTensor, "tensor").tensor;
  if (tensor.layout() != at::kStrided) {
    fail_broken("a part of a sparse tensor is not dense");
  }
  return tensor;
}

/// Indices, values, sizes, and whether it is coalesced; files of PyTorch before 2.1 lack that.
at::Tensor sparse_coo(const Value& parts) {
  const at::Tensor& indices = dense_part(parts, 0);
  const at::Tensor& values = dense_part(parts, 1);
  const std::vector<int64_t> sizes = sizes_of(parts, 2);
  std::optional<bool> is_coalesced;
  if (parts.items.size() > 3) {
    is_coalesced = flag_of(parts, 3);
  }
  at::_validate_sparse_coo_tensor_args(indices, values, sizes, is_coalesced);
  return at::_sparse_coo_tensor_unsafe(indices, values, sizes, values.options().layout(at::kSparse),
                                       is_coalesced);
}

at::Tensor sparse_compressed(const Value& parts, at::Layout layout) {
  const at::Tensor& compressed = dense_part(parts, 0);
  const at::Tensor& plain = dense_part(parts, 1);
  const at::Tensor& values = dense_part(parts, 2);
  const std::vector<int64_t> sizes = sizes_of(parts, 3);
  at::_validate_sparse_compressed_tensor_args(compressed, plain, values, sizes, layout);
  return at::_sparse_compressed_tensor_unsafe(compressed, plain, values, sizes,
                                              values.options().layout(layout));
}

ValuePtr sparse(const Value& arguments) {
  const std::string& name = part_of(arguments, 0, Kind::kLayout, "layout").text;
  const auto layout = sparse_layout_of(name);
  if (!layout) {
    fail("it contains a tensor of unknown layout " + name);
  }
  const Value& parts = part_of(arguments, 1, Kind::kTuple, "parts of a sparse tensor");
  return made_tensor(Kind::kTensor,
                     *layout == at::kSparse ? sparse_coo(parts) : sparse_compressed(parts, *layout));
}

/// A tensor with Python attributes, which Simple's tensors do not have, or a module's buffer.
ValuePtr of_type(const Value& arguments, const Makers& makers) {
  const std::string& function = part_of(arguments, 0, Kind::kGlobal, "function").text;
  const std::string& type = part_of(arguments, 1, Kind::kGlobal, "class").text;
  constexpr std::array kPlain{"torch Tensor", "torch.nn.parameter Parameter", "torch.nn.parameter Buffer"};
  if (std::find(kPlain.begin(), kPlain.end(), type) == kPlain.end()) {
    fail("it contains a tensor of class " + type.substr(0, type.find(' ')) + "." +
         type.substr(type.find(' ') + 1) +
         "; only torch.Tensor, Parameter and Buffer are supported; save its "
         "as_subclass(torch.Tensor)");
  }
  const Value& inner = part_of(arguments, 2, Kind::kTuple, "arguments of a tensor");
  ValuePtr made = function == kOfType ? nullptr : rebuilt(function, inner, makers);
  if (!made) {
    fail_broken("a tensor subclass is not made by a tensor function");
  }
  return made;
}

}  // namespace

ValuePtr rebuilt(const std::string& function, const Value& arguments, const Makers& makers) {
  if (function == "torch._utils _rebuild_tensor_v2" || function == "torch._utils _rebuild_tensor_v3") {
    return dense(arguments, function.ends_with("3"), makers);
  }
  if (function == "torch._utils _rebuild_tensor") {
    return made_tensor(Kind::kTensor, on_storage(arguments, "", false, makers));
  }
  if (function == "torch._utils _rebuild_parameter" ||
      function == "torch._utils _rebuild_parameter_with_state") {
    return parameter(arguments);
  }
  if (function == "torch._utils _rebuild_sparse_tensor") {
    return sparse(arguments);
  }
  return function == kOfType ? of_type(arguments, makers) : nullptr;
}

ValuePtr layout_of(const Value& arguments) {
  ValuePtr made = make_value(Kind::kLayout);
  made->text = part_of(arguments, 0, Kind::kText, "layout").text;
  return made;
}

}  // namespace simple_torch::core::pickle
