#include "core_libtorch/onnx/tensor_proto.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/util/safe_numerics.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "core_libtorch/error.h"
#include "core_libtorch/onnxruntime/types.h"

namespace simple_torch::core::onnx {
namespace {

// Field numbers of TensorProto.
enum TensorField : uint32_t {
  kDims = 1,
  kDataType = 2,
  kFloatData = 4,
  kInt32Data = 5,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUInt64Data = 11,
  kExternalData = 13,
  kDataLocation = 14
};

constexpr uint64_t kIsExternal = 1;

/// A TensorProto whose data is not converted yet.
struct TensorMessage {
  std::string name;
  std::vector<int64_t> sizes;
  uint64_t data_type = 0;
  std::optional<std::string_view> raw;
  std::vector<Field> numbers;  // of the typed fields, each one number or packed ones
  std::map<std::string, std::string> external;
  bool is_external = false;
};

[[noreturn]] void fail(const std::string& name, const std::string& why, ErrorKind kind = ErrorKind::kIo) {
  throw Error(kind, "tensor '" + name + "' " + why);
}

void read_sizes(const Field& field, std::vector<int64_t>& sizes) {
  if (field.wire != Wire::kBytes) {
    sizes.push_back(static_cast<int64_t>(field.value));
    return;
  }
  for (std::string_view rest = field.bytes; !rest.empty();) {
    sizes.push_back(static_cast<int64_t>(take_number(rest, Wire::kVarint)));
  }
}

void read_external_entry(std::string_view message, TensorMessage& tensor) {
  std::string key;
  std::string value;
  Field field;
  for (Fields fields(message); fields.next(field);) {
    (field.number == 1 ? key : value) = field.bytes;
  }
  tensor.external[key] = value;
}

TensorMessage parse(std::string_view message) {
  TensorMessage tensor;
  Field field;
  for (Fields fields(message); fields.next(field);) {
    switch (field.number) {
      case kDims:
        read_sizes(field, tensor.sizes);
        break;
      case kDataType:
        tensor.data_type = field.value;
        break;
      case kName:
        tensor.name = field.bytes;
        break;
      case kRawData:
        tensor.raw = field.bytes;
        break;
      case kFloatData:
      case kInt32Data:
      case kInt64Data:
      case kDoubleData:
      case kUInt64Data:
        tensor.numbers.push_back(field);
        break;
      case kExternalData:
        read_external_entry(field.bytes, tensor);
        break;
      case kDataLocation:
        tensor.is_external = field.value == kIsExternal;
        break;
      default:
        break;
    }
  }
  return tensor;
}

uint64_t number_of(const TensorMessage& tensor, const char* key, uint64_t absent) {
  const auto found = tensor.external.find(key);
  if (found == tensor.external.end()) {
    return absent;
  }
  uint64_t value = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > INT64_MAX) {
    fail(tensor.name, std::string("has an external ") + key + " of '" + text + "', expected a number");
  }
  return value;
}

std::string_view external_bytes(const TensorMessage& tensor, ExternalFiles& files) {
  const auto location = tensor.external.find("location");
  if (location == tensor.external.end()) {
    fail(tensor.name, "has external data without a location");
  }
  const auto size = static_cast<int64_t>(number_of(tensor, "length", UINT64_MAX));
  return files.bytes(location->second, number_of(tensor, "offset", 0), size);
}

at::Tensor empty_of(const TensorMessage& tensor) {
  const auto element = static_cast<onnxruntime::OrtElement>(tensor.data_type);
  const auto dtype = onnxruntime::dtype_of(element);
  if (!dtype) {
    fail(tensor.name, "has type " + onnxruntime::element_name(element) + ", for which there is no dtype",
         ErrorKind::kNotImplemented);
  }
  uint64_t count = c10::elementSize(*dtype);
  for (const int64_t size : tensor.sizes) {
    if (size < 0 || c10::mul_overflows(count, static_cast<uint64_t>(size), &count) || count > INT64_MAX) {
      fail(tensor.name, "is corrupt: its sizes are negative or too large");
    }
  }
  return at::empty({0}, at::TensorOptions().dtype(*dtype));
}

[[noreturn]] void fail_size(const TensorMessage& tensor, size_t expected, size_t got) {
  fail(tensor.name, "must have " + std::to_string(expected) + " bytes of data, got " + std::to_string(got));
}

// Before memory is allocated: a corrupt file can state any size.
void require_size(const TensorMessage& tensor, const at::Tensor& empty, size_t got) {
  const auto expected = static_cast<size_t>(c10::multiply_integers(tensor.sizes)) * empty.dtype().itemsize();
  if (got != expected) {
    fail_size(tensor, expected, got);
  }
}

/// Appends numbers of the typed fields to the memory of a tensor.
class NumberWriter {
 public:
  NumberWriter(const TensorMessage& tensor, at::Tensor& result)
      : tensor_(tensor),
        at_(static_cast<char*>(result.mutable_data_ptr())),
        left_(result.nbytes()),
        nbytes_(result.nbytes()),
        // A complex number is two numbers, and each has its place.
        width_(result.is_complex() ? result.dtype().itemsize() / 2 : result.dtype().itemsize()) {}

  void add(const Field& field) {
    if (field.wire != Wire::kBytes) {
      write(field.value);
      return;
    }
    for (std::string_view rest = field.bytes; !rest.empty();) {
      write(take_number(rest, packed_wire(field.number)));
    }
  }

  void finish() const {
    if (left_ != 0) {
      fail_size(tensor_, nbytes_, nbytes_ - left_);
    }
  }

 private:
  static Wire packed_wire(uint32_t field) {
    return field == kFloatData ? Wire::kFixed32 : field == kDoubleData ? Wire::kFixed64 : Wire::kVarint;
  }

  // The low bytes of the number, as the machine stores it.
  void write(uint64_t bits) {
    if (left_ < width_) {
      fail(tensor_.name, "has more data than its sizes state");
    }
    std::memcpy(at_, &bits, width_);
    at_ += width_;
    left_ -= width_;
  }

  const TensorMessage& tensor_;
  char* at_;
  size_t left_, nbytes_, width_;
};

// The bytes that the typed fields have at least: what a claim of a corrupt file is compared to.
size_t bytes_of_numbers(const TensorMessage& tensor) {
  size_t bytes = 0;
  for (const Field& field : tensor.numbers) {
    bytes += field.wire == Wire::kBytes ? field.bytes.size() : 1;
  }
  return bytes;
}

// The field that has numbers of this type.
uint32_t field_for(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Float:
    case c10::ScalarType::ComplexFloat:
      return kFloatData;
    case c10::ScalarType::Double:
    case c10::ScalarType::ComplexDouble:
      return kDoubleData;
    case c10::ScalarType::Long:
      return kInt64Data;
    case c10::ScalarType::UInt32:
    case c10::ScalarType::UInt64:
      return kUInt64Data;
    default:
      return kInt32Data;
  }
}

at::Tensor from_numbers(const TensorMessage& tensor, const at::Tensor& empty) {
  // Each number has at least one byte, and becomes at most 8.
  const auto count = static_cast<size_t>(c10::multiply_integers(tensor.sizes));
  if (count > bytes_of_numbers(tensor)) {
    fail(tensor.name, "must have " + std::to_string(count) + " numbers, got fewer");
  }
  at::Tensor result = at::empty(tensor.sizes, empty.options());
  NumberWriter writer(tensor, result);
  for (const Field& field : tensor.numbers) {
    if (field.number == field_for(result.scalar_type())) {
      writer.add(field);
    }
  }
  writer.finish();
  return result;
}

at::Tensor from_bytes(const TensorMessage& tensor, const at::Tensor& empty, std::string_view bytes) {
  require_size(tensor, empty, bytes.size());
  at::Tensor result = at::empty(tensor.sizes, empty.options());
  if (!bytes.empty()) {
    std::memcpy(result.mutable_data_ptr(), bytes.data(), bytes.size());
  }
  return result;
}

}  // namespace

std::string_view ExternalFiles::bytes(const std::string& location, uint64_t offset, int64_t size) {
  if (location.empty() || location.front() == '/' ||
      ("/" + location + "/").find("/../") != std::string::npos) {
    throw Error(ErrorKind::kIo, "external data at '" + location + "' is not in the folder of the model");
  }
  std::unique_ptr<MappedFile>& file = files_[location];
  if (file == nullptr) {
    file = std::make_unique<MappedFile>(folder_ + location);
  }
  const std::string_view all = file->bytes();
  if (offset > all.size() || (size >= 0 && static_cast<uint64_t>(size) > all.size() - offset)) {
    throw Error(ErrorKind::kIo, "external data '" + location + "' has " + std::to_string(all.size()) +
                                    " bytes, fewer than a tensor needs");
  }
  return all.substr(offset, size < 0 ? std::string_view::npos : static_cast<size_t>(size));
}

NamedTensor read_tensor(std::string_view message, ExternalFiles& files) {
  const TensorMessage tensor = parse(message);
  const at::Tensor empty = empty_of(tensor);
  if (tensor.is_external) {
    return {tensor.name, from_bytes(tensor, empty, external_bytes(tensor, files))};
  }
  if (tensor.raw) {
    return {tensor.name, from_bytes(tensor, empty, *tensor.raw)};
  }
  return {tensor.name, from_numbers(tensor, empty)};
}

NamedTensor read_sparse_tensor(std::string_view message, ExternalFiles& files) {
  NamedTensor values;
  NamedTensor indices;
  std::vector<int64_t> sizes;
  Field field;
  for (Fields fields(message); fields.next(field);) {
    if (field.number == 1) {
      values = read_tensor(field.bytes, files);
    } else if (field.number == 2) {
      indices = read_tensor(field.bytes, files);
    } else if (field.number == 3) {
      read_sizes(field, sizes);
    }
  }
  if (!values.tensor.defined() || !indices.tensor.defined() || indices.tensor.scalar_type() != at::kLong) {
    fail(values.name, "is corrupt: a sparse tensor needs values and int64 indices");
  }
  try {
    const at::Tensor dense = at::zeros(sizes, values.tensor.options());
    // Indices are positions in the flat tensor, or one row of coordinates for each value.
    const bool is_flat = indices.tensor.dim() == 1;
    c10::List<std::optional<at::Tensor>> places;
    for (const at::Tensor& place :
         is_flat ? std::vector<at::Tensor>{indices.tensor} : indices.tensor.unbind(1)) {
      places.push_back(place);
    }
    (is_flat ? dense.view(-1) : dense).index_put_(places, values.tensor);
    return {values.name, dense};
  } catch (const c10::Error& error) {
    fail(values.name, std::string("is corrupt: ") + error.what_without_backtrace());
  }
}

}  // namespace simple_torch::core::onnx
