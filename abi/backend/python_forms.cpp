#include "abi/backend/python_forms.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "abi/backend/arrays.h"
#include "core_libtorch/dtypes.h"

namespace simple_torch::abi {
namespace {

using c10::IValue;

constexpr std::array<std::string_view, 11> kOtherFunctions = {"norm",
                                                              "tensordot",
                                                              "cdist",
                                                              "sparse_coo_tensor",
                                                              "sparse_compressed_tensor",
                                                              "sparse_csr_tensor",
                                                              "sparse_csc_tensor",
                                                              "sparse_bsr_tensor",
                                                              "sparse_bsc_tensor",
                                                              "device",
                                                              "dtype"};

constexpr std::array<std::pair<std::string_view, const char*>, 12> kConversions = {{
    {"float", "float32"},
    {"double", "float64"},
    {"half", "float16"},
    {"bfloat16", "bfloat16"},
    {"long", "int64"},
    {"int", "int32"},
    {"short", "int16"},
    {"char", "int8"},
    {"byte", "uint8"},
    {"bool", "bool"},
    {"cfloat", "complex64"},
    {"cdouble", "complex128"},
}};

// x.float() is x.to(torch.float32).
std::optional<PythonForm> conversion_form(const std::string& name, const DirectCall& call) {
  const auto found = std::find_if(kConversions.begin(), kConversions.end(),
                                  [&](const auto& each) { return each.first == name; });
  if (found == kConversions.end() || call.values.size() != 1 || call.kinds[0] != 't') {
    return std::nullopt;
  }
  PythonForm form;
  form.name = "to";
  form.add(general_value('t', call.values[0]), 0);
  form.add(IValue(std::string(found->second)), std::nullopt);
  return form;
}

bool is_device(const SplValue& value) {
  if (value.tag != SPL_STRING) {
    return false;
  }
  const std::string name = value.as_string;
  return name == "cpu" || name == "cuda" || name.starts_with("cuda:");
}

// x.to("cpu"): the operator takes the device by name.
std::optional<PythonForm> device_form(const std::string& name, const DirectCall& call) {
  const bool is_form = name == "to" && call.values.size() == 2 && call.names.empty() &&
                       call.kinds[0] == 't' && call.kinds[1] == 'v' && is_device(call.values[1]);
  if (!is_form) {
    return std::nullopt;
  }
  PythonForm form;
  form.name = "to";
  form.add(general_value('t', call.values[0]), 0);
  form.add("device", general_value('v', call.values[1]), 1);
  return form;
}

/// The values of a call by the names of Python's parameters.
class Bound {
 public:
  Bound(const DirectCall& call, std::vector<std::string> names) : call_(call), names_(std::move(names)) {}

  /// False for surplus or unknown arguments.
  bool bind() {
    indices_.resize(names_.size());
    if (call_.positional() > names_.size()) {
      return false;
    }
    for (size_t i = 0; i < call_.positional(); ++i) {
      indices_[i] = i;
    }
    for (size_t i = 0; i < call_.names.size(); ++i) {
      const auto found = std::find(names_.begin(), names_.end(), call_.names[i].as_string);
      const auto at = static_cast<size_t>(found - names_.begin());
      if (found == names_.end() || indices_[at]) {
        return false;
      }
      indices_[at] = call_.positional() + i;
    }
    return true;
  }
  /// Nothing if the argument is absent or nil.
  std::optional<size_t> at(size_t parameter) const {
    const std::optional<size_t> index = indices_[parameter];
    return index && call_.values[*index].tag == SPL_NIL ? std::nullopt : index;
  }
  bool has(size_t parameter) const { return indices_[parameter].has_value(); }
  IValue value(size_t index) const { return general_value(call_.kinds[index], call_.values[index]); }
  char kind(size_t index) const { return call_.kinds[index]; }
  SplTag tag(size_t index) const { return static_cast<SplTag>(call_.values[index].tag); }

 private:
  const DirectCall& call_;
  std::vector<std::string> names_;
  std::vector<std::optional<size_t>> indices_;
};

bool is_number(const Bound& bound, size_t index) {
  return bound.kind(index) == 'v' && (bound.tag(index) == SPL_INT || bound.tag(index) == SPL_FLOAT);
}

// norm() of a vector: of order 2 by default, and over one dimension or all. Over a list of dimensions the
// default depends on their number.
std::optional<PythonForm> norm_form(const std::string& name, const DirectCall& call) {
  enum Parameter : size_t { kInput, kOrder, kDim, kKeepdim, kDtype };
  Bound bound(call, {"input", "p", "dim", "keepdim", "dtype"});
  if (name != "norm" || !bound.bind() || !bound.at(kInput) || bound.kind(*bound.at(kInput)) != 't') {
    return std::nullopt;
  }
  const std::optional<size_t> order = bound.at(kOrder), dim = bound.at(kDim);
  const bool has_order = order && is_number(bound, *order);
  const bool is_plain = !dim || (bound.kind(*dim) == 'v' && bound.tag(*dim) == SPL_INT);
  if ((order && !has_order) || (!has_order && !bound.has(kOrder) && !is_plain)) {
    return std::nullopt;
  }
  PythonForm form;
  form.name = "linalg_vector_norm";
  form.add(bound.value(*bound.at(kInput)), bound.at(kInput));
  form.add(has_order ? bound.value(*order) : IValue(2), order);
  for (const auto& [parameter, keyword] :
       {std::pair(kDim, "dim"), std::pair(kKeepdim, "keepdim"), std::pair(kDtype, "dtype")}) {
    if (const std::optional<size_t> index = bound.at(parameter)) {
      form.add(keyword, bound.value(*index), index);
    }
  }
  return form;
}

}  // namespace

void PythonForm::add(IValue value, std::optional<size_t> source) {
  values.positional.push_back(std::move(value));
  sources.push_back(source);
}

void PythonForm::add(const std::string& keyword, IValue value, std::optional<size_t> source) {
  values.named.emplace_back(keyword, std::move(value));
  sources.push_back(source);
}

bool is_other_function(const std::string& name) {
  return std::find(kOtherFunctions.begin(), kOtherFunctions.end(), name) != kOtherFunctions.end();
}

std::optional<PythonForm> python_form(const std::string& name, const DirectCall& call) {
  for (const auto form_of : {conversion_form, device_form, norm_form}) {
    if (auto form = form_of(name, call)) {
      return form;
    }
  }
  return std::nullopt;
}

IValue general_value(char letter, const SplValue& value) {
  return letter == 'd' ? IValue(core::dtype_name(core::dtype_of_code(value.as_int)))
                       : value_by_letter(letter, value);
}

}  // namespace simple_torch::abi
