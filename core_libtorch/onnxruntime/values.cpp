#include "core_libtorch/onnxruntime/values.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <utility>

#include "core_libtorch/dtypes.h"

namespace simple_torch::core::onnxruntime {
namespace {

[[noreturn]] void reject(ErrorKind kind, const std::string& name, const std::string& why,
                         std::string expected = "", std::string got = "") {
  ErrorFields fields;
  fields.op = "run";
  fields.expected = std::move(expected);
  fields.got = std::move(got);
  throw Error(kind, "run: '" + name + "' " + why, std::move(fields));
}

std::string noun_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::kTensor:
      return "a tensor";
    case ValueKind::kStrings:
      return "strings";
    case ValueKind::kSequence:
      return "an array";
    case ValueKind::kMap:
      return "a dict";
    default:
      return "nil";
  }
}

void require_kind(const std::string& name, const Type& type, const Value& value, ValueKind expected) {
  if (value.kind != expected) {
    reject(ErrorKind::kInvalidArgument, name,
           "must be " + noun_of(expected) + " for " + type.text() + ", got " + noun_of(value.kind));
  }
}

c10::ScalarType dtype_for(const std::string& name, const Type& type) {
  const auto dtype = dtype_of(type.element);
  if (!dtype) {
    reject(ErrorKind::kNotImplemented, name, "has type " + type.text() + ", for which there is no dtype");
  }
  return *dtype;
}

void require_dtype(const std::string& name, const Type& type, const at::Tensor& tensor) {
  const std::string expected = dtype_name(dtype_for(name, type));
  const std::string got = dtype_name(tensor.scalar_type());
  if (expected != got) {
    reject(ErrorKind::kDtypeMismatch, name, "must have dtype " + expected + ", got " + got, expected, got);
  }
}

void require_plain_memory(const std::string& name, const at::Tensor& tensor) {
  if (!tensor.is_cpu()) {
    const std::string device = tensor.device().str();
    reject(ErrorKind::kDeviceMismatch, name, "must be on the CPU, got a tensor on " + device, "cpu", device);
  }
  if (tensor.layout() != at::kStrided) {
    reject(ErrorKind::kInvalidArgument, name, "must be a dense tensor");
  }
}

std::string text_of(at::IntArrayRef sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  }
  return text + "]";
}

// A type without sizes fits every shape: the library has the same form for no dimensions and an unknown rank.
void require_shape(const std::string& name, const Type& type, at::IntArrayRef sizes) {
  bool fits = type.sizes.empty() || type.sizes.size() == sizes.size();
  for (size_t i = 0; fits && i < type.sizes.size(); ++i) {
    fits = type.sizes[i] < 0 || type.sizes[i] == sizes[i];
  }
  if (!fits) {
    const std::string expected = type.shape_text();
    const std::string got = text_of(sizes);
    reject(ErrorKind::kShapeMismatch, name, "must have shape " + expected + ", got " + got, expected, got);
  }
}

ValuePtr tensor_from_memory(void* data, size_t nbytes, at::IntArrayRef sizes, OrtElement element) {
  static char nothing;  // the library rejects NULL for no elements
  OrtValue* made = nullptr;
  check(functions().create_tensor_with_data(library().cpu, data == nullptr ? &nothing : data, nbytes,
                                            sizes.data(), sizes.size(), static_cast<int32_t>(element),
                                            &made));
  return ValuePtr(made);
}

ValuePtr string_tensor(const std::string& name, const Type& type, const Value& value) {
  require_kind(name, type, value, ValueKind::kStrings);
  require_shape(name, type, value.sizes);
  OrtValue* made = nullptr;
  check(functions().create_tensor(library().allocator, value.sizes.data(), value.sizes.size(),
                                  static_cast<int32_t>(OrtElement::kString), &made));
  ValuePtr owned(made);
  std::vector<const char*> texts;
  texts.reserve(value.strings.size());
  for (const std::string& text : value.strings) {
    texts.push_back(text.c_str());
  }
  check(functions().fill_strings(made, texts.data(), texts.size()));
  return owned;
}

ValuePtr collection(const std::vector<ValuePtr>& items, OrtKind kind) {
  std::vector<const OrtValue*> pointers;
  pointers.reserve(items.size());
  for (const ValuePtr& item : items) {
    pointers.push_back(item.get());
  }
  OrtValue* made = nullptr;
  check(functions().create_value(pointers.data(), pointers.size(), static_cast<int32_t>(kind), &made));
  return ValuePtr(made);
}

Type tensor_type(OrtElement element) {
  Type type;
  type.kind = OrtKind::kTensor;
  type.element = element;
  return type;
}

// ---- outputs

Type type_of_tensor(const OrtValue* value) {
  OrtTensorInfo* info = nullptr;
  check(functions().tensor_info(value, &info));
  const TensorInfoPtr owned(info);
  Type type;
  type.kind = OrtKind::kTensor;
  read_tensor_type(*info, type);
  return type;
}

std::string string_at(const OrtValue* value, size_t index) {
  size_t length = 0;
  check(functions().string_length(value, index, &length));
  std::string text(length, '\0');
  check(functions().string_content(value, length, index, text.data()));
  if (text.find('\0') != std::string::npos) {
    throw Error(ErrorKind::kNotImplemented, "run: an output has a string with a NUL character");
  }
  return text;
}

Value strings_of(const OrtValue* value, const Type& type) {
  Value result;
  result.kind = ValueKind::kStrings;
  result.sizes = type.sizes;
  const int64_t count = c10::multiply_integers(type.sizes);
  for (int64_t i = 0; i < count; ++i) {
    result.strings.push_back(string_at(value, static_cast<size_t>(i)));
  }
  return result;
}

Value tensor_of(ValuePtr value, const Inputs& inputs) {
  const Type type = type_of_tensor(value.get());
  if (type.element == OrtElement::kString) {
    return strings_of(value.get(), type);
  }
  const auto dtype = dtype_of(type.element);
  if (!dtype) {
    throw Error(ErrorKind::kNotImplemented,
                "run: an output has type " + type.text() + ", for which there is no dtype");
  }
  Value result;
  result.kind = ValueKind::kTensor;
  const auto options = at::TensorOptions().dtype(*dtype);
  void* data = nullptr;
  check(functions().tensor_data(value.get(), &data));
  if (c10::multiply_integers(type.sizes) == 0) {
    result.tensor = at::empty(type.sizes, options);
  } else if (inputs.has_memory(data)) {
    result.tensor = at::from_blob(data, type.sizes, options).clone();
  } else {
    OrtValue* const released = value.release();
    result.tensor = at::from_blob(
        data, type.sizes, [released](void*) { functions().release_value(released); }, options);
  }
  return result;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the type
void read_items(const OrtValue* value, const Inputs& inputs, Value& result) {
  size_t count = 0;
  check(functions().item_count(value, &count));
  for (size_t i = 0; i < count; ++i) {
    OrtValue* item = nullptr;
    check(functions().item(value, static_cast<int>(i), library().allocator, &item));
    result.items.push_back(from_ort(ValuePtr(item), inputs));
  }
}

}  // namespace

void Inputs::add(const std::string& name, const Type& type, const Value& value) {
  owned_.push_back(make(name, type, value));
  pointers_.push_back(owned_.back().get());
  names_.push_back(name.c_str());
}

bool Inputs::has_memory(const void* data) const {
  return std::any_of(tensors_.begin(), tensors_.end(), [&](const at::Tensor& tensor) {
    const auto* begin = static_cast<const char*>(tensor.const_data_ptr());
    return data >= begin && data < begin + tensor.nbytes();
  });
}

// NOLINTNEXTLINE(misc-no-recursion)
ValuePtr Inputs::make(const std::string& name, const Type& type, const Value& value) {
  std::vector<ValuePtr> items;
  switch (type.kind) {
    case OrtKind::kTensor:
      return type.element == OrtElement::kString ? string_tensor(name, type, value)
                                                 : make_tensor(name, type, value);
    case OrtKind::kSequence:
      require_kind(name, type, value, ValueKind::kSequence);
      for (const Value& item : value.items) {
        items.push_back(make(name, type.items.at(0), item));
      }
      return collection(items, OrtKind::kSequence);
    case OrtKind::kMap:
      require_kind(name, type, value, ValueKind::kMap);
      items.push_back(make(name, tensor_type(type.element), value.items.at(0)));
      items.push_back(make(name, tensor_type(type.items.at(0).element), value.items.at(1)));
      return collection(items, OrtKind::kMap);
    case OrtKind::kOptional:
      if (value.kind != ValueKind::kNone) {
        return make(name, type.items.at(0), value);
      }
      [[fallthrough]];
    default:
      reject(ErrorKind::kNotImplemented, name,
             "has type " + type.text() + ", which cannot be passed as " + noun_of(value.kind));
  }
}

ValuePtr Inputs::make_tensor(const std::string& name, const Type& type, const Value& value) {
  require_kind(name, type, value, ValueKind::kTensor);
  require_plain_memory(name, value.tensor);
  require_dtype(name, type, value.tensor);
  require_shape(name, type, value.tensor.sizes());
  const at::Tensor& plain = tensors_.emplace_back(value.tensor.resolve_conj().resolve_neg().contiguous());
  // The library reads inputs only.
  void* const data = const_cast<void*>(plain.const_data_ptr());
  return tensor_from_memory(data, plain.nbytes(), plain.sizes(), type.element);
}

ValuePtr output_in(const std::string& name, const Type& type, const at::Tensor& tensor) {
  if (type.kind != OrtKind::kTensor) {
    reject(ErrorKind::kInvalidArgument, name, "must be nil, since the output is " + type.text());
  }
  require_plain_memory(name, tensor);
  require_dtype(name, type, tensor);
  if (!tensor.is_contiguous() || tensor.is_conj() || tensor.is_neg() || tensor.requires_grad()) {
    reject(ErrorKind::kInvalidArgument, name, "must be a contiguous tensor without gradients");
  }
  return tensor_from_memory(tensor.mutable_data_ptr(), tensor.nbytes(), tensor.sizes(), type.element);
}

// NOLINTNEXTLINE(misc-no-recursion)
Value from_ort(ValuePtr value, const Inputs& inputs) {
  int has_value = 0;
  check(functions().has_value(value.get(), &has_value));
  Value result;
  if (has_value == 0) {
    return result;
  }
  int32_t kind = 0;
  check(functions().value_kind(value.get(), &kind));
  switch (static_cast<OrtKind>(kind)) {
    case OrtKind::kTensor:
      return tensor_of(std::move(value), inputs);
    case OrtKind::kSequence:
      result.kind = ValueKind::kSequence;
      break;
    case OrtKind::kMap:
      result.kind = ValueKind::kMap;
      break;
    default:
      throw Error(ErrorKind::kNotImplemented, "run: an output is neither a tensor, a sequence nor a map");
  }
  read_items(value.get(), inputs, result);
  return result;
}

}  // namespace simple_torch::core::onnxruntime
