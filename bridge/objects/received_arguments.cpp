#include "bridge/objects/received_arguments.h"

#include <ATen/core/Tensor.h>

#include "bridge/objects/plain_values.h"
#include "bridge/objects/references.h"
#include "bridge/objects/simple_functions.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {

ReceivedValues::~ReceivedValues() {
  if (is_taken_) {
    return;
  }
  for (const Value& value : values_) {
    if (value.type == Value::Type::kObject) {
      Py_DECREF(from_external(value.object));
    }
  }
}

bool ReceivedValues::convert(PyObject* const* values, Py_ssize_t count, PyObject* names) {
  const auto named = names == nullptr ? 0 : static_cast<size_t>(PyTuple_GET_SIZE(names));
  const size_t total = static_cast<size_t>(count) + named;
  values_.resize(total, Value{.type = Value::Type::kNil, .integer = 0});
  functions_.resize(total, nullptr);
  for (size_t i = 0; i < total; ++i) {
    convert_value(values[i], values_[i], functions_[i]);
  }
  return named == 0 || convert_names(names);
}

void ReceivedValues::convert_value(PyObject* object, Value& out, const SimpleFunction*& function) {
  if (!to_scalar(object, out)) {
    convert_object(object, out, function);
  }
}

void ReceivedValues::convert_object(PyObject* object, Value& out, const SimpleFunction*& function) {
  const SimpleFunction* const found = simple_function_in(object);
  if (found != nullptr && found->program == program_) {
    function = found;
    return;
  }
  if (is_torch_tensor(object) && !is_of_program_class(object)) {
    out.tensor = &tensors_.emplace_back(torch_tensor_in(object));
    out.type = Value::Type::kTensor;
    return;
  }
  out.object = to_external(Ref::borrowed(object).release());
  out.type = Value::Type::kObject;
}

bool ReceivedValues::convert_names(PyObject* names) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    Value name{};
    if (!to_scalar(PyTuple_GET_ITEM(names, i), name)) {
      PyErr_SetString(PyExc_TypeError, "a keyword with a NUL or a surrogate cannot be passed to Simple");
      return false;
    }
    names_.push_back(name.text);
  }
  return true;
}

ReceivedArguments ReceivedValues::take() noexcept {
  is_taken_ = true;
  return {values_.data(), functions_.data(), values_.size(), names_.data(), names_.size()};
}

}  // namespace simple_torch::bridge
